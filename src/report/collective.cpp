#include "report/collective.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/statistics.h"

namespace fabricast::report {
namespace {

using collective::Op;

// nccl-tests' default type.
constexpr std::int64_t kFloat = 4;

std::string_view redop_of(Op op) {
  return op == Op::kAllReduce || op == Op::kReduceScatter ? "sum" : "none";
}

/// Elements that one call names: of the whole buffer, or of one rank's part of it.
std::int64_t count_of(const CollectiveResult& result, base::Bytes size) {
  const bool parts =
      result.op == Op::kAllGather || result.op == Op::kReduceScatter || result.op == Op::kAllToAll;
  return size.count() / kFloat / (parts ? result.gpus : 1);
}

// As nccl-tests prints them.
std::string time_text(double us) {
  return us < 1000 ? fmt::format("{:7.2f}", us) : fmt::format("{:7.{}f}", us, us < 100'000 ? 1 : 0);
}

}  // namespace

double algbw_gb_per_s(const CollectiveRow& row) {
  return row.time_us > 0 ? static_cast<double>(row.size.count()) / row.time_us / 1e3 : 0;
}

double busbw_gb_per_s(const CollectiveResult& result, const CollectiveRow& row) {
  return algbw_gb_per_s(row) * collective::busbw_factor(result.op, result.gpus);
}

std::string collective_table(const CollectiveResult& result) {
  std::string text = fmt::format("# {} of {} x {}, {} node{}, {}; forecast, not measured\n#\n",
                                 collective::name_of(result.op), result.gpus, result.gpu,
                                 result.nodes, result.nodes == 1 ? "" : "s", result.fabric);
  text += fmt::format("#{:>65}{:>35}\n", "out-of-place", "in-place");
  text +=
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
      "time   algbw   busbw  #wrong  algorithm       proto  ch  level\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
      "(us)  (GB/s)  (GB/s)\n";
  double sum = 0;
  double error = 0;
  for (const CollectiveRow& row : result.rows) {
    const double busbw = busbw_gb_per_s(result, row);
    const std::string half = fmt::format("{}  {:6.2f}  {:6.2f}  {:>6}", time_text(row.time_us),
                                         algbw_gb_per_s(row), busbw, "N/A");
    text += fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:6}  {}  {}  {:<14}  {:<6} {:3}  {}\n",
                        row.size.count(), count_of(result, row.size), "float", redop_of(result.op),
                        result.op == Op::kBroadcast ? 0 : -1, half, half,
                        collective::name_of(row.algorithm), collective::name_of(row.protocol),
                        row.channels, row.flow ? "flow" : "packet");
    sum += busbw;
    error = std::max(error, row.extrapolation_error);
  }
  text += "# Out of bounds values : N/A\n";
  text += fmt::format("# Avg bus bandwidth    : {:g}\n",
                      result.rows.empty() ? 0 : sum / static_cast<double>(result.rows.size()));
  if (error > 0) {
    text +=
        fmt::format("# Large sizes are extrapolated once their rate is steady, within {:.2g} %.\n",
                    100 * error);
  }
  return text;
}

std::string collective_json(const CollectiveResult& result) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const CollectiveRow& row : result.rows) {
    rows.push_back({{"op", collective::name_of(result.op)},
                    {"ranks", result.gpus},
                    {"bytes", row.size.count()},
                    {"time_us", row.time_us},
                    {"algbw_GBps", algbw_gb_per_s(row)},
                    {"busbw_GBps", busbw_gb_per_s(result, row)},
                    {"algorithm", collective::name_of(row.algorithm)},
                    {"protocol", collective::name_of(row.protocol)},
                    {"channels", row.channels},
                    {"level", row.flow ? "flow" : "packet"},
                    {"extrapolation_error_pct", 100 * row.extrapolation_error}});
  }
  const nlohmann::ordered_json json = {{"fabricast", FABRICAST_VERSION},
                                       {"system", result.system},
                                       {"fabric", result.fabric},
                                       {"gpus", result.gpus},
                                       {"nodes", result.nodes},
                                       {"seed", result.seed},
                                       {"collectives", rows}};
  return json.dump(2) + "\n";
}

}  // namespace fabricast::report
