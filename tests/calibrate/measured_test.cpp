// The catalogue's coefficients against the measured kernels they stand for. The tables are not part
// of the project: FABRICAST_DATA names their folder, and without it these tests are skipped by
// name, unless FABRICAST_REQUIRE_DATA says that they must not be.

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "calibrate/gpu.h"
#include "calibrate/sustained.h"

namespace fabricast::calibrate {
namespace {

using catalog::Precision;

const catalog::Catalog& known() {
  static const auto loaded = catalog::Catalog::load(std::string(FABRICAST_SOURCE_DIR) + "/catalog");
  return loaded;
}

class Measured : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("FABRICAST_DATA");
    if (data == nullptr || *data == '\0') {
      if (std::getenv("FABRICAST_REQUIRE_DATA") != nullptr) FAIL() << "FABRICAST_DATA is not set";
      GTEST_SKIP() << "FABRICAST_DATA is not set";
    }
    directory_ = data;
  }
  std::string compute(const std::string& file) const { return directory_ + "/compute/" + file; }
  Table training(const std::string& file) const { return Table(directory_ + "/training/" + file); }

  std::string directory_;
};

/// Predictions by the catalogue's curve are those by the fit's: rounded to three digits it may move
/// single rows where another tile wins.
template <class Row, class Predict>
void expect_same(const std::vector<Row>& rows, const catalog::Gpu& shipped,
                 const catalog::Gpu& fitted, const Predict& predict) {
  std::vector<double> away;
  for (const Row& row : rows) {
    away.push_back(std::abs(predict(shipped, row.shape) / predict(fitted, row.shape) - 1));
  }
  EXPECT_LT(base::percentile(away, 50), 0.01);
  EXPECT_LT(base::percentile(away, 95), 0.05);
}

void expect_gemm_curve(const catalog::Gpu& gpu, Precision precision,
                       const std::vector<MeasuredGemm>& rows, const GemmFit& fit) {
  catalog::Gpu fitted = gpu;
  (precision == Precision::kFp8 ? fitted.gemm_fp8 : fitted.gemm_bf16) = fit.curve;
  expect_same(rows, gpu, fitted, [&](const catalog::Gpu& g, const model::GemmShape& shape) {
    return model::gemm_s(g, precision, shape);
  });
}

void expect_within(const Errors& errors, double median_pct, double p90_pct) {
  EXPECT_LT(errors.in_sample.median_pct, median_pct);
  EXPECT_LT(errors.held_out.median_pct, median_pct);
  EXPECT_LT(errors.in_sample.p90_pct, p90_pct);
  EXPECT_LT(errors.held_out.p90_pct, p90_pct);
}

TEST_F(Measured, h100_bf16_gemms_are_met_within_8_pct_at_the_median) {
  const auto& gpu = known().gpu("h100-sxm-80gb");
  const auto rows = read_gemms(compute("gemm_h100.csv"), "bfloat16");
  const GemmFit fit = fit_gemms(gpu, Precision::kBf16, rows, false);
  expect_gemm_curve(gpu, Precision::kBf16, rows, fit);
  expect_within(fit.long_rows, 8, 25);
  expect_within(fit.short_rows, 5, 20);
}

TEST_F(Measured, h100_fp8_gemms_are_met_within_8_pct_at_the_median) {
  const auto& gpu = known().gpu("h100-sxm-80gb");
  const auto rows = read_gemms(compute("gemm_h100.csv"), "fp8");
  const GemmFit fit = fit_gemms(gpu, Precision::kFp8, rows, true);
  expect_gemm_curve(gpu, Precision::kFp8, rows, fit);
  expect_within(fit.long_rows, 8, 25);
  expect_within(fit.short_rows, 10, 20);
}

TEST_F(Measured, a100_bf16_gemms_are_met_within_8_pct_at_the_median) {
  const auto& gpu = known().gpu("a100-40gb-sxm");
  const auto rows = read_gemms(compute("gemm_a100.csv"), "bfloat16");
  const GemmFit fit = fit_gemms(gpu, Precision::kBf16, rows, false);
  expect_gemm_curve(gpu, Precision::kBf16, rows, fit);
  expect_within(fit.long_rows, 8, 25);
  expect_within(fit.short_rows, 8, 45);
}

TEST_F(Measured, context_attention_is_met_within_5_pct_at_the_median) {
  const auto& gpu = known().gpu("h100-sxm-80gb");
  const auto rows = read_attention(compute("attention_context_h100.csv"));
  const AttentionFit fit = fit_attention(gpu, rows);
  catalog::Gpu fitted = gpu;
  fitted.attention = fit.curve;
  expect_same(rows, gpu, fitted, [](const catalog::Gpu& g, const model::AttentionShape& shape) {
    return model::attention_s(g, Precision::kBf16, shape);
  });
  expect_within(fit.all, 5, 15);
}

TEST_F(Measured, generation_attention_is_met_within_8_pct_at_the_median) {
  const auto& gpu = known().gpu("h100-sxm-80gb");
  const auto rows = read_decode(compute("attention_generation_h100.csv"), gpu.memory_gb_per_s);
  const DecodeFit fit = fit_decode(gpu, rows);
  catalog::Gpu fitted = gpu;
  fitted.decode = fit.curve;
  expect_same(rows, gpu, fitted, [](const catalog::Gpu& g, const model::DecodeShape& shape) {
    return model::decode_attention_s(g, shape);
  });
  expect_within(fit.all, 8, 30);
}

TEST_F(Measured, training_runs_in_which_computing_decides_give_the_sustained_shares) {
  for (const auto& [gpu, median_pct] : std::vector<std::pair<const char*, double>>{
           {"h100-sxm-80gb", 5}, {"a100-sxm-80gb", 5}, {"gb300", 6}}) {
    const auto& g = known().gpu(gpu);
    std::vector<MeasuredRun> runs =
        foundry_runs(training("llm_foundry_fsdp.csv"), known(), g.architecture);
    for (auto& run : megatron_runs(training("megatron_bridge.csv"), known(), g.architecture)) {
      runs.push_back(std::move(run));
    }
    ASSERT_GE(runs.size(), 5U) << gpu;
    const SustainedFit fit = fit_sustained(runs);
    EXPECT_NEAR(fit.share, g.sustained_share, 0.01) << gpu;
    EXPECT_LT(fit.error.median_pct, median_pct) << gpu;
  }
}

/// GEMMs of a layer as vidur's profiler times them: whole operators, medians of a longer run,
/// rounded to microseconds. No row of it took part in a fit.
std::vector<double> vidur_ratios(const Table& table, const catalog::Gpu& gpu, double hidden,
                                 double qkv, double width, double least_m, double most_m) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const double tp = table.number(i, "tp", 1);
    const double m = table.number(i, "num_tokens", 1);
    if (m < least_m || m > most_m) continue;
    const auto add = [&](std::string_view column, double n, double k) {
      const double s = table.number(i, column, 1) * 1e-6;
      ratios.push_back(model::gemm_s(gpu, Precision::kBf16, m, n, k) / s);
    };
    add("attn_pre_proj_us", qkv / tp, hidden);
    add("attn_post_proj_us", hidden, hidden / tp);
    add("mlp_up_proj_us", 2 * width / tp, hidden);
    add("mlp_down_proj_us", hidden, width / tp);
  }
  return ratios;
}

// Long ones lie below by what the power limit takes from best-of-run times within milliseconds.
TEST_F(Measured, layers_of_llama_2_that_no_fit_has_seen_are_met) {
  const Table h100(compute("vidur_mlp_h100_llama_2_70b_hf.csv"));
  const auto& hopper = known().gpu("h100-sxm-80gb");
  const FitError short_rows = error_of(vidur_ratios(h100, hopper, 8192, 10240, 28672, 1, 63));
  EXPECT_LT(short_rows.median_pct, 8);
  EXPECT_LT(std::abs(short_rows.bias_pct), 5);
  const FitError long_rows = error_of(vidur_ratios(h100, hopper, 8192, 10240, 28672, 2048, 1e9));
  EXPECT_LT(long_rows.median_pct, 15);
  EXPECT_LT(long_rows.bias_pct, 0);

  const Table a100(compute("vidur_mlp_a100_llama_2_7b_hf.csv"));
  const auto& ampere = known().gpu("a100-sxm-80gb");
  EXPECT_LT(error_of(vidur_ratios(a100, ampere, 4096, 12288, 11008, 1, 63)).median_pct, 20);
  EXPECT_LT(error_of(vidur_ratios(a100, ampere, 4096, 12288, 11008, 2048, 1e9)).median_pct, 15);
}

}  // namespace
}  // namespace fabricast::calibrate
