#include "cost/cost.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "cost/prices.h"

namespace fabricast::cost {
namespace {

using namespace base::literals;
namespace fs = std::filesystem;

constexpr const char* kCatalogue = FABRICAST_SOURCE_DIR "/catalog";

/// A catalogue with the project's devices, and cables and prices of the test.
class Cost : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) /
                 (std::string("fabricast-cost-") +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory_);
    fs::copy(kCatalogue, directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  struct CableRow {
    std::string id;
    std::string layer;
    double gbps, max_m, power_w;
  };
  struct PriceRow {
    double likely;
    std::string currency;
  };

  catalog::Catalog load() {
    std::ofstream cables(directory_ / "cables.yaml");
    cables << "sources: { test: a number of the test }\nentries:\n";
    for (const CableRow& row : cables_) {
      const auto value = [&](const char* key, const auto& v) {
        cables << "    " << key << ": { value: " << v << ", kind: assumed, source: test }\n";
      };
      cables << "  " << row.id << ":\n    name: cable\n";
      value("medium", "active-optical");
      value("link_layer", row.layer);
      value("gbps", row.gbps);
      value("max_m", row.max_m);
      value("delay_ns_per_m", 5);
      value("power_w_per_end", row.power_w);
    }
    cables.close();
    std::ofstream prices(directory_ / "prices.yaml");
    prices << "sources: { test: a number of the test }\nentries:\n";
    for (const auto& [id, row] : prices_) {
      prices << "  " << id << ":\n    name: price\n    kind: assumed\n    source: test\n"
             << "    low: " << row.likely << "\n    likely: " << row.likely
             << "\n    high: " << row.likely << "\n    currency: " << row.currency
             << "\n    date: \"2026-01-01\"\n    unit: each\n";
    }
    prices.close();
    return catalog::Catalog::load(directory_.string());
  }

  /// The article's 32-GPU job: 8 nodes of 4 GPUs and 4 adapters, two nodes to a leaf.
  static fabric::TopologySpec article() {
    fabric::TopologySpec spec;
    spec.kind = fabric::TopologyKind::kLeafSpine;
    spec.nodes = 8;
    spec.gpus_per_node = 4;
    spec.nics_per_node = 4;
    spec.nodes_per_leaf = 2;
    spec.nic_rate = 200_gbps;
    spec.switch_rate = 200_gbps;
    spec.switch_ports = 36;
    spec.cable_m = 10;
    return spec;
  }

  static BuildInputs inputs(const catalog::Catalog& known, const fabric::Fabric& fabric,
                            const char* network_switch = "article-ib-36x200g",
                            const char* adapter = "article-hca-200g") {
    BuildInputs result;
    result.fabric = &fabric;
    result.gpu = known.gpu("h100-sxm-80gb");
    result.adapter = known.adapter(adapter);
    result.network_switch = known.network_switch(network_switch);
    return result;
  }

  static std::string refusal(const catalog::Catalog& known, const BuildInputs& build) {
    try {
      bill_of_materials(known, build);
    } catch (const base::Error& error) {
      return error.kind() == base::ErrorKind::kInput ? error.what() : "not an input error";
    }
    return "accepted";
  }

  // Switch and adapter prices are the article's (seed article, 2026-03-19); the rest is round.
  std::vector<CableRow> cables_ = {
      {"ib-short", "infiniband", 200, 3, 0.1}, {"ib-long", "infiniband", 200, 100, 4},
      {"ib-dear", "infiniband", 200, 500, 5},  {"ib-slow", "infiniband", 100, 100, 1},
      {"ib-fast", "infiniband", 400, 100, 8},  {"eth-long", "ethernet", 200, 100, 4}};
  std::map<std::string, PriceRow> prices_ = {{"article-ib-36x200g", {80000, "CNY"}},
                                             {"article-hca-200g", {12000, "CNY"}},
                                             {"article-eth-36x200g", {30000, "CNY"}},
                                             {"article-rdma-nic-200g", {5000, "CNY"}},
                                             {"h100-sxm-80gb", {40000, "USD"}},
                                             {"ib-short", {100, "CNY"}},
                                             {"ib-long", {500, "USD"}},
                                             {"ib-dear", {600, "USD"}},
                                             {"ib-slow", {1, "USD"}},
                                             {"ib-fast", {2, "USD"}},
                                             {"eth-long", {400, "USD"}},
                                             {"usd-cny", {7, "CNY"}},
                                             {"electricity-kwh", {0.8, "CNY"}},
                                             {"pue", {1.25, "XXX"}},
                                             {"depreciation-years", {5, "XXX"}},
                                             {"operation-pct-per-year", {4, "XXX"}}};
  fs::path directory_;
};

// 8 adapters to each of 4 leaves, 8 uplinks each to one spine: 5 switches, 32 adapters, 64 cables.
// InfiniBand: 5 x 80,000 + 32 x 12,000 + 64 x 500 x 7 = 400,000 + 384,000 + 224,000 CNY.
TEST_F(Cost, TheArticlesInfiniBandClusterIsBilledToTheYuan) {
  const auto known = load();
  const auto fabric = fabric::build(article());
  const Bill bill = bill_of_materials(known, inputs(known, fabric));
  ASSERT_EQ(bill.lines.size(), 5U);
  EXPECT_EQ(bill.lines[0].item, "article-ib-36x200g");
  EXPECT_EQ(bill.lines[0].count, 5);
  EXPECT_EQ(bill.lines[1].item, "article-hca-200g");
  EXPECT_EQ(bill.lines[1].count, 32);
  EXPECT_EQ(bill.lines[2].item, "ib-long");
  EXPECT_EQ(bill.lines[2].count, 32);
  EXPECT_EQ(bill.lines[3].item, "ib-long");
  EXPECT_EQ(bill.lines[3].count, 32);
  EXPECT_EQ(bill.lines[4].item, "h100-sxm-80gb");
  EXPECT_EQ(bill.lines[4].count, 32);
  EXPECT_DOUBLE_EQ(bill.network_capex, 1'008'000);
  EXPECT_DOUBLE_EQ(bill.gpu_capex, 32 * 40000 * 7);
  EXPECT_DOUBLE_EQ(bill.capex, 1'008'000 + 8'960'000);
}

// 5 x 30,000 + 32 x 5,000 + 64 x 400 x 7 = 150,000 + 160,000 + 179,200 CNY.
TEST_F(Cost, TheArticlesEthernetClusterIsBilledToTheYuan) {
  const auto known = load();
  const auto fabric = fabric::build(article());
  const Bill bill = bill_of_materials(
      known, inputs(known, fabric, "article-eth-36x200g", "article-rdma-nic-200g"));
  EXPECT_DOUBLE_EQ(bill.network_capex, 489'200);
}

// Catalogue figures: switch 400 W, adapter 22 W, GPU 700 W; a cable has two ends of 4 W.
TEST_F(Cost, PowerIsThatOfBoxesCableEndsAndGpus) {
  const auto known = load();
  const auto fabric = fabric::build(article());
  BuildInputs build = inputs(known, fabric);
  build.network_switch.power_w = 400;
  build.adapter.power_w = 22;
  build.gpu.power_w = 700;
  const Bill bill = bill_of_materials(known, build);
  EXPECT_NEAR(bill.power_kw, (5 * 400 + 32 * 22 + 64 * 2 * 4 + 32 * 700) / 1000.0, 1e-9);
}

TEST_F(Cost, AStatedServerOverheadIsAddedToTheGpusPower) {
  prices_["server-overhead-pct"] = {50, "XXX"};
  const auto known = load();
  const auto fabric = fabric::build(article());
  BuildInputs build = inputs(known, fabric);
  build.gpu.power_w = 700;
  EXPECT_DOUBLE_EQ(bill_of_materials(known, build).lines.back().unit_power_w, 1050);
}

// 1,008,000 CNY at 7 CNY per USD.
TEST_F(Cost, ABillInDollarsIsTheBillInYuanConverted) {
  const auto known = load();
  const auto fabric = fabric::build(article());
  BuildInputs build = inputs(known, fabric);
  build.currency = "USD";
  const Bill bill = bill_of_materials(known, build);
  EXPECT_DOUBLE_EQ(bill.network_capex, 144'000);
  EXPECT_DOUBLE_EQ(bill.gpu_capex, 32 * 40000);
}

TEST_F(Cost, ACurrencyWithoutARateIsRefused) {
  const auto known = load();
  const auto fabric = fabric::build(article());
  BuildInputs build = inputs(known, fabric);
  build.currency = "EUR";
  // Cables are chosen by their prices, in dollars, before anything else is priced.
  EXPECT_NE(refusal(known, build).find("from USD to EUR"), std::string::npos)
      << refusal(known, build);
}

TEST_F(Cost, TheCheapestCableThatReachesIsTaken) {
  const auto known = load();
  fabric::TopologySpec spec = article();
  const auto item = [&](double metres) {
    spec.cable_m = metres;
    const auto fabric = fabric::build(spec);
    return bill_of_materials(known, inputs(known, fabric)).lines[2].item;
  };
  EXPECT_EQ(item(3), "ib-short");
  EXPECT_EQ(item(3.1), "ib-long");
  EXPECT_EQ(item(101), "ib-dear");
}

TEST_F(Cost, NoCableThatReachesIsRefusedWithTheNumbers) {
  const auto known = load();
  fabric::TopologySpec spec = article();
  spec.cable_m = 501;
  const auto fabric = fabric::build(spec);
  const std::string text = refusal(known, inputs(known, fabric));
  EXPECT_NE(text.find("501 m"), std::string::npos) << text;
  EXPECT_NE(text.find("500 m"), std::string::npos) << text;
}

TEST_F(Cost, ARateThatNoCableCarriesIsRefused) {
  const auto known = load();
  fabric::TopologySpec spec = article();
  spec.nic_rate = 800_gbps;
  spec.switch_rate = 800_gbps;
  const auto fabric = fabric::build(spec);
  EXPECT_NE(refusal(known, inputs(known, fabric)).find("800 Gb/s"), std::string::npos);
}

TEST_F(Cost, AnItemWithoutAPriceIsRefusedByName) {
  prices_.erase("article-hca-200g");
  const auto known = load();
  const auto fabric = fabric::build(article());
  EXPECT_NE(refusal(known, inputs(known, fabric)).find("`article-hca-200g`"), std::string::npos);
}

// 200G adapters on 400G ports: uplinks are whole 400G ports, half as many.
TEST_F(Cost, UplinksArePricedAtTheRateOfTheSwitchPort) {
  const auto known = load();
  fabric::TopologySpec spec = article();
  spec.switch_rate = 400_gbps;
  const auto fabric = fabric::build(spec);
  const Bill bill = bill_of_materials(known, inputs(known, fabric));
  EXPECT_EQ(bill.lines[2].item, "ib-long");
  EXPECT_EQ(bill.lines[3].item, "ib-fast");
  EXPECT_EQ(bill.lines[3].count, 16);
}

TEST_F(Cost, DirectCablesNeedNoSwitch) {
  const auto known = load();
  fabric::TopologySpec spec = article();
  spec.kind = fabric::TopologyKind::kDirect;
  spec.nodes = 2;
  const auto fabric = fabric::build(spec);
  const Bill bill = bill_of_materials(known, inputs(known, fabric));
  EXPECT_EQ(bill.lines[0].item, "article-hca-200g");
  EXPECT_EQ(bill.lines[0].count, 8);
  EXPECT_EQ(bill.lines[1].count, 4);
}

// 876,000 / 5 / 8,760 = 20, operation 876,000 x 4 % / 8,760 = 4, energy 10 kW x 1.25 x 0.8 = 10.
TEST_F(Cost, AnHourCostsDepreciationOperationAndEnergy) {
  Bill bill;
  bill.currency = "CNY";
  bill.capex = bill.network_capex = 876'000;
  bill.power_kw = 10;
  const Result result = cost_of(load(), bill, 100, 50e6);
  EXPECT_DOUBLE_EQ(result.per_hour, 34);
  EXPECT_DOUBLE_EQ(result.per_run, 3400);
  EXPECT_DOUBLE_EQ(result.per_million_tokens, 68);
}

// What does not depend on use, 24, is spread over half the hours.
TEST_F(Cost, IdleHoursAreBorneByTheUsedOnes) {
  prices_["utilisation-pct"] = {50, "XXX"};
  Bill bill;
  bill.currency = "CNY";
  bill.capex = bill.network_capex = 876'000;
  bill.power_kw = 10;
  EXPECT_DOUBLE_EQ(cost_of(load(), bill, 0, 0).per_hour, 58);
}

TEST_F(Cost, ARunOfUnknownLengthHasNoCost) {
  Bill bill;
  bill.currency = "CNY";
  bill.capex = bill.network_capex = 876'000;
  const Result result = cost_of(load(), bill, 0, 50e6);
  EXPECT_EQ(result.per_run, 0);
  EXPECT_EQ(result.per_million_tokens, 0);
}

TEST_F(Cost, ElectricityIsConvertedToTheBillsCurrency) {
  Bill bill;
  bill.currency = "USD";
  bill.power_kw = 7;
  EXPECT_NEAR(cost_of(load(), bill, 0, 0).per_hour, 7 * 1.25 * 0.8 / 7, 1e-12);
}

TEST_F(Cost, AMissingParameterIsRefusedByName) {
  prices_.erase("pue");
  const auto known = load();
  Bill bill;
  bill.currency = "CNY";
  EXPECT_THROW(cost_of(known, bill, 1, 1), base::Error);
}

TEST_F(Cost, ConversionGoesBothWays) {
  const auto known = load();
  EXPECT_DOUBLE_EQ(convert(known, 100, "USD", "CNY"), 700);
  EXPECT_DOUBLE_EQ(convert(known, 700, "CNY", "USD"), 100);
  EXPECT_DOUBLE_EQ(convert(known, 5, "EUR", "EUR"), 5);
}

// The catalogue's own rows must be enough for every fabric profile that it ships.
TEST(ShippedPrices, EveryFabricProfileCanBeBilledInYuanAndDollars) {
  const auto known = catalog::Catalog::load(kCatalogue);
  ASSERT_FALSE(known.fabrics().empty());
  for (const catalog::FabricProfile& profile : known.fabrics()) {
    SCOPED_TRACE(profile.id);
    BuildInputs build;
    build.gpu = known.gpu("h100-sxm-80gb");
    build.network_switch = known.network_switch(profile.switch_model);
    build.adapter = known.adapter(profile.adapter_model);
    fabric::TopologySpec spec;
    spec.nodes = 32;
    spec.gpus_per_node = spec.nics_per_node = 8;
    spec.nic_rate = base::Rate::gigabits_per_second(
        std::min(build.adapter.port_gbps, build.network_switch.port_gbps));
    spec.switch_rate = base::Rate::gigabits_per_second(build.network_switch.port_gbps);
    spec.switch_ports = build.network_switch.ports;
    const auto fabric = fabric::build(spec);
    build.fabric = &fabric;
    for (const char* currency : {"CNY", "USD"}) {
      build.currency = currency;
      const Bill bill = bill_of_materials(known, build);
      EXPECT_GT(bill.network_capex, 0);
      EXPECT_GT(cost_of(known, bill, 1, 1).per_hour, 0);
    }
  }
}

}  // namespace
}  // namespace fabricast::cost
