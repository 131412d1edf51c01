#include "shipped.h"

#include <algorithm>
#include <set>

#include "base/yaml.h"

namespace fabricast::catalog {
namespace {

using testing::shipped;

TEST(ShippedCatalogue, states_kind_and_source_of_every_value) {
  for (const Entry& entry : shipped().entries()) {
    EXPECT_FALSE(entry.name.empty()) << entry.category << "/" << entry.id;
    EXPECT_FALSE(entry.values.empty()) << entry.category << "/" << entry.id;
    for (const Value& value : entry.values) {
      const std::string place = entry.category + "/" + entry.id + "." + value.key;
      EXPECT_FALSE(name_of(value.kind).empty()) << place;
      EXPECT_GE(value.source.size(), 10U) << place;
      EXPECT_NE(value.source.find(' '), std::string::npos) << place;
      EXPECT_FALSE(value.text.empty()) << place;
    }
  }
}

TEST(ShippedCatalogue, cites_no_source_that_nothing_uses) {
  for (const char* file : {"gpus", "adapters", "slots", "hosts", "switches", "cables", "models",
                           "prices", "reliability", "fabrics"}) {
    const base::yaml::Node document =
        base::yaml::parse_file(testing::shipped_directory() + "/" + file + ".yaml");
    std::set<std::string> cited;
    const auto visit = [&](const base::yaml::Node& node, const auto& self) -> void {
      for (const auto& [key, child] : node.entries) {
        if (key == "source") cited.insert(child.scalar);
        self(child, self);
      }
    };
    visit(*document.find("entries"), visit);
    for (const auto& [key, citation] : document.find("sources")->entries) {
      EXPECT_TRUE(cited.contains(key)) << file << ": " << key;
    }
  }
}

TEST(ShippedCatalogue, has_the_ids_that_scenarios_may_rely_on) {
  for (const char* id :
       {"h100-sxm-80gb", "h200-sxm", "h20", "gh200-96gb", "b200-sxm", "b300-sxm", "gb200", "gb300",
        "a100-40gb-sxm", "a100-sxm-80gb", "a10", "l40s", "rtx-4090", "rtx-pro-6000", "mi300x"}) {
    EXPECT_EQ(shipped().gpu(id).id, id);
  }
  for (const char* id : {"llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "llama3-70b",
                         "llama3-405b", "mixtral-8x7b", "deepseek-v3", "qwen2-72b"}) {
    EXPECT_EQ(shipped().model(id).id, id);
  }
  for (const char* id : {"infiniband", "infiniband-adaptive", "infiniband-cc", "roce-v2",
                         "roce-v2-hpcc", "roce-v2-untuned", "roce-v2-adaptive", "roce-v1", "tcp",
                         "article-infiniband", "article-roce-v2", "article-tcp"}) {
    EXPECT_EQ(shipped().fabric(id).id, id);
  }
}

// NVIDIA H100 Tensor Core GPU Architecture white paper, SXM5, dense: 989.4 and 1978.9 TFLOP/s.
TEST(ShippedCatalogue, h100_peaks_are_the_dense_ones_of_the_white_paper) {
  const Gpu& gpu = shipped().gpu("h100-sxm-80gb");
  EXPECT_DOUBLE_EQ(gpu.peak_tflops(Precision::kBf16), 989.4);
  EXPECT_DOUBLE_EQ(gpu.peak_tflops(Precision::kFp8), 1978.9);
  EXPECT_DOUBLE_EQ(gpu.peak_tflops(Precision::kFp4), 0);
  EXPECT_DOUBLE_EQ(gpu.memory_gb_per_s, 3350);
  EXPECT_DOUBLE_EQ(gpu.nvlink_gb_per_s, 450);
  EXPECT_DOUBLE_EQ(gpu.power_w, 700);
}

// NVIDIA A100 data sheet, dense: 312 TFLOP/s, no FP8; 2,039 GB/s; NVLink 600 GB/s both ways.
TEST(ShippedCatalogue, a100_has_no_fp8_and_the_peaks_of_its_data_sheet) {
  const Gpu& gpu = shipped().gpu("a100-sxm-80gb");
  EXPECT_DOUBLE_EQ(gpu.peak_tflops(Precision::kBf16), 312);
  EXPECT_DOUBLE_EQ(gpu.peak_tflops(Precision::kFp8), 0);
  EXPECT_DOUBLE_EQ(gpu.memory_gb_per_s, 2039);
  EXPECT_DOUBLE_EQ(gpu.nvlink_gb_per_s, 300);
}

// FP8 doubles the BF16 peak on every generation that has it (data sheets round), FP4 doubles FP8;
// Blackwell Ultra triples it (HGX B300 and GB300 NVL72 data sheets).
TEST(ShippedCatalogue, narrow_peaks_are_twice_the_wider_ones) {
  for (const Gpu& gpu : shipped().gpus()) {
    if (gpu.fp8_tflops > 0) {
      EXPECT_NEAR(gpu.fp8_tflops / gpu.bf16_tflops, 2, 0.03) << gpu.id;
    }
    if (gpu.fp4_tflops > 0) {
      const bool ultra = gpu.id == "b300-sxm" || gpu.id == "gb300";
      EXPECT_NEAR(gpu.fp4_tflops / gpu.fp8_tflops, ultra ? 3 : 2, 0.01) << gpu.id;
    }
  }
}

TEST(ShippedCatalogue, fp8_gemms_have_a_curve_of_their_own_where_it_is_known) {
  const Gpu& h100 = shipped().gpu("h100-sxm-80gb");
  EXPECT_EQ(&h100.gemm_curve(Precision::kBf16), &h100.gemm_bf16);
  EXPECT_EQ(&h100.gemm_curve(Precision::kFp8), &h100.gemm_fp8);
  EXPECT_EQ(&h100.gemm_curve(Precision::kFp4), &h100.gemm_fp8);
  const Gpu& a100 = shipped().gpu("a100-sxm-80gb");
  EXPECT_EQ(&a100.gemm_curve(Precision::kFp8), &a100.gemm_bf16);
}

// One architecture, one curve: only what was measured on the GPU itself is calibrated.
TEST(ShippedCatalogue, gpus_without_measured_kernels_say_that_their_curves_are_assumed) {
  for (const Entry& entry : shipped().entries()) {
    if (entry.category != "gpus") continue;
    const auto gemm = std::ranges::find(entry.values, "gemm_bf16", &Value::key);
    ASSERT_NE(gemm, entry.values.end()) << entry.id;
    const bool measured = entry.id == "h100-sxm-80gb" || entry.id == "a100-40gb-sxm";
    EXPECT_EQ(gemm->kind, measured ? ValueKind::kCalibrated : ValueKind::kAssumed) << entry.id;
  }
}

TEST(ShippedCatalogue, prices_every_gpu_adapter_switch_and_cable) {
  const auto priced = [](const std::string& id) {
    const auto& prices = shipped().prices();
    return std::any_of(prices.begin(), prices.end(), [&](const Price& p) { return p.id == id; });
  };
  for (const Gpu& g : shipped().gpus()) EXPECT_TRUE(priced(g.id)) << g.id;
  for (const Adapter& a : shipped().adapters()) EXPECT_TRUE(priced(a.id)) << a.id;
  for (const Switch& s : shipped().switches()) EXPECT_TRUE(priced(s.id)) << s.id;
  for (const Cable& c : shipped().cables()) EXPECT_TRUE(priced(c.id)) << c.id;
}

TEST(ShippedCatalogue, every_price_is_of_something_known) {
  std::set<std::string> known = {"electricity-kwh",
                                 "usd-cny",
                                 "pue",
                                 "operation-pct-per-year",
                                 "depreciation-years",
                                 "server-overhead-pct",
                                 "rental-h100-sxm-80gb",
                                 "management-switch",
                                 "management-switch-w",
                                 "management-cable",
                                 "management-server",
                                 "rack",
                                 "spare-switch-pct",
                                 "spare-adapter-pct",
                                 "spare-cable-pct"};
  for (const Entry& entry : shipped().entries()) {
    if (entry.category != "prices") known.insert(entry.id);
  }
  for (const Price& price : shipped().prices()) EXPECT_TRUE(known.contains(price.id)) << price.id;
}

// The article: 80,000 and 30,000 CNY for 36 ports of 200 Gb/s, 12,000 and 5,000 CNY for adapters.
TEST(ShippedCatalogue, the_articles_devices_have_the_articles_prices) {
  const auto yuan = [](const char* id) {
    EXPECT_EQ(shipped().price(id).currency, "CNY");
    return shipped().price(id).likely;
  };
  EXPECT_DOUBLE_EQ(yuan("article-ib-36x200g"), 80000);
  EXPECT_DOUBLE_EQ(yuan("article-eth-36x200g"), 30000);
  EXPECT_DOUBLE_EQ(yuan("article-hca-200g"), 12000);
  EXPECT_DOUBLE_EQ(yuan("article-rdma-nic-200g"), 5000);
  EXPECT_EQ(shipped().network_switch("article-ib-36x200g").ports, 36);
}

// Grattafiori et al. 2024, table 5: of 419 interruptions in 54 days on 16,384 GPUs 268 were GPUs,
// 46 hosts, 7 adapters, 63 software, and 35 the network; 0.057 % and 0.051 % a month are Alibaba's.
TEST(ShippedCatalogue, failure_rates_are_those_of_the_published_fleets) {
  const Reliability& r = testing::shipped().reliability("published-fleets");
  const double gpu_hours = 16384 * 54 * 24.0;
  EXPECT_NEAR(gpu_hours / r.gpu_mtbf_h, 268, 0.5);
  EXPECT_NEAR(gpu_hours / 8 / r.host_mtbf_h, 46, 0.5);
  EXPECT_NEAR(gpu_hours / r.adapter_mtbf_h, 7, 0.05);
  EXPECT_NEAR(gpu_hours / r.software_mtbf_gpu_h, 63, 0.5);
  const double month_h = 365.25 * 24 / 12;
  EXPECT_NEAR(month_h / r.link_mtbf_h, 0.057e-2, 0.001e-2);
  EXPECT_NEAR(month_h / r.switch_mtbf_h, 0.051e-2, 0.001e-2);
  EXPECT_EQ(268 + 46 + 7 + 63 + 35, 419);
}

TEST(ShippedCatalogue, some_cable_of_each_link_layer_reaches_ten_metres_at_every_rate) {
  for (const LinkLayer layer : {LinkLayer::kInfiniBand, LinkLayer::kEthernet}) {
    for (const double gbps : {100.0, 200.0, 400.0, 800.0}) {
      const auto& cables = shipped().cables();
      EXPECT_TRUE(std::any_of(
          cables.begin(), cables.end(),
          [&](const Cable& c) { return c.link_layer == layer && c.gbps == gbps && c.max_m >= 10; }))
          << name_of(layer) << " " << gbps;
    }
  }
}

}  // namespace
}  // namespace fabricast::catalog
