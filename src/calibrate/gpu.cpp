#include "calibrate/gpu.h"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "calibrate/sustained.h"

namespace fabricast::calibrate {

namespace {

using catalog::Gpu;
using catalog::Precision;

constexpr std::size_t kEveryHeldOut = 3;
// A kernel weighs by the logarithm of its time: a step is made of long ones, but there are more
// short ones in a table.
constexpr double kWeightUs = 5;

template <class Row>
void share_out(const std::vector<Row>& rows, std::vector<Row>& fitted, std::vector<Row>& held) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (i % kEveryHeldOut == 0 ? held : fitted).push_back(rows[i]);
  }
}

template <class Row>
std::vector<double> weights_of(const std::vector<Row>& rows) {
  std::vector<double> weights;
  for (const Row& row : rows) weights.push_back(std::log2(1 + row.s * 1e6 / kWeightUs));
  return weights;
}

/// What a search goes through: rows, and the predicted time of one under given coefficients.
template <class Row, class Predict>
std::vector<double> ratios_of(const std::vector<Row>& rows, const Predict& predict) {
  std::vector<double> ratios;
  ratios.reserve(rows.size());
  for (const Row& row : rows) ratios.push_back(predict(row.shape) / row.s);
  return ratios;
}

template <class Row, class Predict>
Errors errors_of(const std::vector<Row>& rows, const Predict& predict) {
  std::vector<Row> fitted;
  std::vector<Row> held;
  share_out(rows, fitted, held);
  return {error_of(ratios_of(fitted, predict)), error_of(ratios_of(held, predict))};
}

catalog::GemmCurve gemm_curve(const std::vector<double>& x) {
  return {.fixed_us = x[0],
          .efficiency = x[1],
          .edge = x[2],
          .depth = x[3],
          .waves = x[4],
          .memory_share = x[5],
          .split_us = x[6],
          .step_ns = x[7]};
}

/// Reads 2 bytes and writes 1 per element of the first operand.
double quantising_s(const Gpu& gpu, const model::GemmShape& shape, double fixed_us, double share) {
  return fixed_us * 1e-6 + 3 * shape.m * shape.k / (gpu.memory_gb_per_s * 1e9 * share);
}

std::string errors_text(const Errors& errors) {
  const auto text = [](const FitError& e) {
    return fmt::format("{} rows, median {:.1f} %, p90 {:.1f} %, bias {:+.1f} %", e.rows,
                       e.median_pct, e.p90_pct, e.bias_pct);
  };
  return fmt::format("in sample {}; held out {}", text(errors.in_sample), text(errors.held_out));
}

std::string gemm_yaml(std::string_view key, const GemmFit& fit) {
  const catalog::GemmCurve& c = fit.curve;
  return fmt::format(
      "# all: {}\n# m >= 512: {}\n# m <= 64: {}\n"
      "{}: {{ fixed_us: {:.3g}, efficiency: {:.3g}, edge: {:.3g}, depth: {:.3g}, waves: {:.2g}, "
      "memory_share: {:.3g}, split_us: {:.3g}, step_ns: {:.3g} }}\n",
      errors_text(fit.all), errors_text(fit.long_rows), errors_text(fit.short_rows), key,
      c.fixed_us, c.efficiency, c.edge, c.depth, c.waves, c.memory_share, c.split_us, c.step_ns);
}

std::string sustained_yaml(const catalog::Catalog& known, const std::string& architecture,
                           const TablePaths& paths) {
  std::vector<MeasuredRun> runs;
  if (!paths.foundry.empty()) runs = foundry_runs(Table(paths.foundry), known, architecture);
  if (!paths.megatron.empty()) {
    for (MeasuredRun& run : megatron_runs(Table(paths.megatron), known, architecture)) {
      runs.push_back(std::move(run));
    }
  }
  if (runs.empty()) return {};
  const SustainedFit fit = fit_sustained(runs);
  std::string text =
      fmt::format("# {} training runs of {}: median {:.1f} %, p90 {:.1f} %\n", runs.size(),
                  architecture, fit.error.median_pct, fit.error.p90_pct);
  for (const MeasuredRun& run : runs) {
    text += fmt::format("#   {:.3f} of the measured {:.2f} s: {}\n",
                        computing_s(run, fit.share) / run.step_s, run.step_s, run.label);
  }
  return text + fmt::format("sustained_share: {:.3g}\n", fit.share);
}

}  // namespace

GemmFit fit_gemms(const Gpu& gpu, Precision precision, const std::vector<MeasuredGemm>& rows,
                  bool quantised) {
  std::vector<MeasuredGemm> fitted;
  std::vector<MeasuredGemm> held;
  share_out(rows, fitted, held);
  std::vector<Unknown> unknowns = {{"fixed_us", 0.1, 20, 2}, {"efficiency", 0.3, 1, 0.9},
                                   {"edge", 0.1, 200, 15},   {"depth", 1, 2000, 100},
                                   {"waves", 0, 1, 0.3},     {"memory_share", 0.3, 1, 0.85},
                                   {"split_us", 0.1, 50, 2}, {"step_ns", 0.01, 20, 0.5}};
  if (quantised) {
    unknowns.push_back({"quantising_us", 0, 20, 2});
    unknowns.push_back({"quantising_share", 0.1, 1, 0.6});
  }
  const auto predict_with = [&](const std::vector<double>& x) {
    Gpu candidate = gpu;
    (precision == Precision::kFp8 ? candidate.gemm_fp8 : candidate.gemm_bf16) = gemm_curve(x);
    return [candidate, precision, quantised, x](const model::GemmShape& shape) {
      const double t = model::gemm_s(candidate, precision, shape);
      return quantised ? t + quantising_s(candidate, shape, x[8], x[9]) : t;
    };
  };
  const std::vector<double> x =
      fit(unknowns, weights_of(fitted),
          [&](const std::vector<double>& y) { return ratios_of(fitted, predict_with(y)); });
  const auto predict = predict_with(x);
  GemmFit result{gemm_curve(x), errors_of(rows, predict), {}, {}};
  const auto errors_where = [&](const auto& wanted) {
    const auto ratios = [&](const std::vector<MeasuredGemm>& all) {
      std::vector<MeasuredGemm> some;
      for (const MeasuredGemm& row : all) {
        if (wanted(row.shape.m)) some.push_back(row);
      }
      return error_of(ratios_of(some, predict));
    };
    return Errors{ratios(fitted), ratios(held)};
  };
  result.long_rows = errors_where([](double m) { return m >= 512; });
  result.short_rows = errors_where([](double m) { return m <= 64; });
  return result;
}

AttentionFit fit_attention(const Gpu& gpu, const std::vector<MeasuredAttention>& rows) {
  std::vector<MeasuredAttention> fitted;
  std::vector<MeasuredAttention> held;
  share_out(rows, fitted, held);
  const auto curve = [](const std::vector<double>& x) {
    return catalog::AttentionCurve{
        .fixed_us = x[0], .efficiency = x[1], .depth = x[2], .passes = x[3]};
  };
  const auto predict_with = [&](const std::vector<double>& x) {
    Gpu candidate = gpu;
    candidate.attention = curve(x);
    return [candidate](const model::AttentionShape& shape) {
      return model::attention_s(candidate, Precision::kBf16, shape);
    };
  };
  const std::vector<double> x = fit({{"fixed_us", 0.1, 50, 10},
                                     {"efficiency", 0.1, 1, 0.6},
                                     {"depth", 0, 2000, 100},
                                     {"passes", 0.1, 20, 2}},
                                    weights_of(fitted), [&](const std::vector<double>& y) {
                                      return ratios_of(fitted, predict_with(y));
                                    });
  return {curve(x), errors_of(rows, predict_with(x))};
}

DecodeFit fit_decode(const Gpu& gpu, const std::vector<MeasuredDecode>& rows) {
  std::vector<MeasuredDecode> fitted;
  std::vector<MeasuredDecode> held;
  share_out(rows, fitted, held);
  const auto curve = [](const std::vector<double>& x) {
    return catalog::DecodeCurve{
        .fixed_us = x[0], .unit_us = x[1], .memory_share = x[2], .stream_gb_per_s = x[3]};
  };
  const auto predict_with = [&](const std::vector<double>& x) {
    Gpu candidate = gpu;
    candidate.decode = curve(x);
    return [candidate](const model::DecodeShape& shape) {
      return model::decode_attention_s(candidate, shape);
    };
  };
  const std::vector<double> x = fit({{"fixed_us", 0.1, 50, 8},
                                     {"unit_us", 0.01, 20, 1},
                                     {"memory_share", 0.3, 1, 0.9},
                                     {"stream_gb_per_s", 1, 500, 30}},
                                    weights_of(fitted), [&](const std::vector<double>& y) {
                                      return ratios_of(fitted, predict_with(y));
                                    });
  return {curve(x), errors_of(rows, predict_with(x))};
}

TablePaths tables_for(const Gpu& gpu, const std::string& directory) {
  const std::string name = gpu.id.substr(0, gpu.id.find('-'));
  const auto existing = [&](const std::string& file, const std::string& folder) -> std::string {
    for (const std::string& path : {fmt::format("{}/{}", directory, file),
                                    fmt::format("{}/{}/{}", directory, folder, file)}) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(path, ignored)) return path;
    }
    return {};
  };
  const auto kernels = [&](std::string_view kind) {
    return existing(fmt::format("{}_{}.csv", kind, name), "compute");
  };
  TablePaths paths{kernels("gemm"), kernels("attention_context"), kernels("attention_generation"),
                   existing("llm_foundry_fsdp.csv", "training"),
                   existing("megatron_bridge.csv", "training")};
  if (paths.gemm.empty() && paths.context.empty() && paths.generation.empty() &&
      paths.foundry.empty() && paths.megatron.empty()) {
    throw base::input_error({directory, 0, 0, "--data"}, "no table for " + gpu.id,
                            fmt::format("gemm_{0}.csv, attention_context_{0}.csv, "
                                        "attention_generation_{0}.csv, llm_foundry_fsdp.csv or "
                                        "megatron_bridge.csv",
                                        name));
  }
  return paths;
}

std::string calibration_yaml(const catalog::Catalog& known, const Gpu& gpu,
                             const TablePaths& paths) {
  std::string text = fmt::format("# {}\n", gpu.id);
  if (!paths.gemm.empty()) {
    const auto bf16 = read_gemms(paths.gemm, "bfloat16");
    if (!bf16.empty())
      text += gemm_yaml("gemm_bf16", fit_gemms(gpu, Precision::kBf16, bf16, false));
    const auto fp8 = read_gemms(paths.gemm, "fp8");
    if (!fp8.empty()) text += gemm_yaml("gemm_fp8", fit_gemms(gpu, Precision::kFp8, fp8, true));
  }
  if (!paths.context.empty()) {
    const AttentionFit fit = fit_attention(gpu, read_attention(paths.context));
    const catalog::AttentionCurve& c = fit.curve;
    text += fmt::format(
        "# {}\nattention: {{ fixed_us: {:.3g}, efficiency: {:.3g}, depth: {:.3g}, "
        "passes: {:.3g} }}\n",
        errors_text(fit.all), c.fixed_us, c.efficiency, c.depth, c.passes);
  }
  if (!paths.generation.empty()) {
    const DecodeFit fit = fit_decode(gpu, read_decode(paths.generation, gpu.memory_gb_per_s));
    const catalog::DecodeCurve& c = fit.curve;
    text += fmt::format(
        "# {}\ndecode: {{ fixed_us: {:.3g}, unit_us: {:.3g}, memory_share: {:.3g}, "
        "stream_gb_per_s: {:.3g} }}\n",
        errors_text(fit.all), c.fixed_us, c.unit_us, c.memory_share, c.stream_gb_per_s);
  }
  return text + sustained_yaml(known, gpu.architecture, paths);
}

}  // namespace fabricast::calibrate
