// What must hold for any bytes: `parse_log` returns or refuses them as input, accounts for every
// line, and measurements are numbers that a measurement can have. libFuzzer calls this
// (FABRICAST_FUZZ), and corpus_test.cpp with the corpus and mutations of it.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <source_location>
#include <string_view>

#include "base/error.h"
#include "calibrate/log.h"

namespace {

using namespace fabricast;  // NOLINT(google-build-using-namespace)

void require(bool holds, std::source_location at = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u does not hold\n", at.file_name(), static_cast<unsigned>(at.line()));
  std::abort();
}

void require_positive(std::optional<double> value,
                      std::source_location at = std::source_location::current()) {
  require(!value || (std::isfinite(*value) && *value > 0), at);
}

void require_placement(const std::optional<calibrate::Placement>& half) {
  if (!half) return;
  require_positive(half->time_us);
  require(half->algbw_gb_per_s.value_or(0) >= 0 && std::isfinite(half->algbw_gb_per_s.value_or(0)));
  require(half->busbw_gb_per_s.value_or(0) >= 0 && std::isfinite(half->busbw_gb_per_s.value_or(0)));
  require(half->wrong.value_or(0) >= 0);
}

void require_row(const calibrate::LogRow& row, int lines) {
  require(row.line >= 1 && row.line <= lines);
  require(!row.size || row.size->count() >= 0);
  require_placement(row.out_of_place);
  require_placement(row.in_place);
  const calibrate::Latency& latency = row.latency;
  for (const auto& value : {latency.min_us, latency.typical_us, latency.avg_us, latency.max_us,
                            latency.p99_us, latency.p999_us, row.bandwidth_gb_per_s,
                            row.peak_gb_per_s, row.messages_per_s, row.cpu_pct}) {
    require_positive(value);
  }
}

void require_run(const calibrate::LogRun& run, int lines) {
  require(run.line >= 1 && run.line <= lines);
  for (const auto& count : {run.ranks, run.nodes, run.gpus_per_node, run.mtu_b, run.qps,
                            run.tx_depth, run.streams, run.nccl.ranks, run.nccl.nodes}) {
    require(count.value_or(1) >= 1);
  }
  for (const calibrate::LogRow& row : run.rows) require_row(row, lines);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer's signature
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const calibrate::Log log = calibrate::parse_log(text, "fuzz");
    require(log.noise >= 0 && log.unknown >= 0 && log.noise + log.unknown <= log.lines);
    require(log.first_unknown.size() <= static_cast<std::size_t>(log.unknown));
    for (const calibrate::LogRun& run : log.runs) require_run(run, log.lines);
  } catch (const base::Error& error) {
    require(error.kind() == base::ErrorKind::kInput);
  }
  return 0;
}
