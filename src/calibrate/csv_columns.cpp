#include "calibrate/csv_columns.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "calibrate/lines.h"

namespace fabricast::calibrate {
namespace {

enum class Kind : std::uint8_t { kPlain, kSize, kTime, kRate, kCount };

struct Unit {
  std::string_view suffix;  ///< after the name, with punctuation as one `_`
  Kind kind;
  double factor;  ///< to bytes, microseconds, GB/s or messages per second
};

// Longest first. Case tells bits from bytes; a small `gb_s` could be either and is none.
constexpr auto kUnits = std::to_array<Unit>({
    {"Gbits_sec", Kind::kRate, 1.0 / 8},
    {"Mbits_sec", Kind::kRate, 1e-3 / 8},
    {"bits_per_second", Kind::kRate, 1e-9 / 8},
    {"GB_per_s", Kind::kRate, 1},
    {"MB_per_s", Kind::kRate, 1e-3},
    {"Gbit_s", Kind::kRate, 1.0 / 8},
    {"Mbit_s", Kind::kRate, 1e-3 / 8},
    {"MiB_sec", Kind::kRate, kGbPerMib},
    {"Mbytes_sec", Kind::kRate, 1e-3},
    {"GB_sec", Kind::kRate, 1},
    {"MB_sec", Kind::kRate, 1e-3},
    {"Gb_sec", Kind::kRate, 1.0 / 8},
    {"Mb_sec", Kind::kRate, 1e-3 / 8},
    {"GiB_s", Kind::kRate, 1024 * kGbPerMib},
    {"MiB_s", Kind::kRate, kGbPerMib},
    {"GB_s", Kind::kRate, 1},
    {"MB_s", Kind::kRate, 1e-3},
    {"Gb_s", Kind::kRate, 1.0 / 8},
    {"Mb_s", Kind::kRate, 1e-3 / 8},
    {"GBps", Kind::kRate, 1},
    {"MBps", Kind::kRate, 1e-3},
    {"MiBps", Kind::kRate, kGbPerMib},
    {"GiBps", Kind::kRate, 1024 * kGbPerMib},
    {"Gbps", Kind::kRate, 1.0 / 8},
    {"gbps", Kind::kRate, 1.0 / 8},
    {"Mbps", Kind::kRate, 1e-3 / 8},
    {"mbps", Kind::kRate, 1e-3 / 8},
    {"bps", Kind::kRate, 1e-9 / 8},
    {"Mpps", Kind::kCount, 1e6},
    {"messages_s", Kind::kCount, 1},
    {"msg_s", Kind::kCount, 1},
    {"msgs_s", Kind::kCount, 1},
    {"usec", Kind::kTime, 1},
    {"msec", Kind::kTime, 1e3},
    {"nsec", Kind::kTime, 1e-3},
    {"us", Kind::kTime, 1},
    {"ms", Kind::kTime, 1e3},
    {"ns", Kind::kTime, 1e-3},
    {"seconds", Kind::kTime, 1e6},
    {"sec", Kind::kTime, 1e6},
    {"s", Kind::kTime, 1e6},
    {"bytes", Kind::kSize, 1},
    {"KiB", Kind::kSize, 1024},
    {"MiB", Kind::kSize, 1048576},
    {"GiB", Kind::kSize, 1073741824},
    {"KB", Kind::kSize, 1e3},
    {"MB", Kind::kSize, 1e6},
    {"GB", Kind::kSize, 1e9},
    {"B", Kind::kSize, 1},
    {"b", Kind::kSize, 1},
});

struct Name {
  std::string_view name;  ///< in small letters, without the unit
  Quantity quantity;
  Kind kind;
};

constexpr auto kColumns = std::to_array<Name>({
    {"size", Quantity::kSize, Kind::kSize},
    {"message_size", Quantity::kSize, Kind::kSize},
    {"msg_size", Quantity::kSize, Kind::kSize},
    {"msgsize", Quantity::kSize, Kind::kSize},
    {"bytes", Quantity::kSize, Kind::kSize},
    {"nbytes", Quantity::kSize, Kind::kSize},
    {"time", Quantity::kTime, Kind::kTime},
    {"oop_time", Quantity::kTime, Kind::kTime},
    {"out_of_place_time", Quantity::kTime, Kind::kTime},
    {"ip_time", Quantity::kInPlaceTime, Kind::kTime},
    {"in_place_time", Quantity::kInPlaceTime, Kind::kTime},
    {"algbw", Quantity::kAlgbw, Kind::kRate},
    {"oop_algbw", Quantity::kAlgbw, Kind::kRate},
    {"out_of_place_algbw", Quantity::kAlgbw, Kind::kRate},
    {"ip_algbw", Quantity::kInPlaceAlgbw, Kind::kRate},
    {"in_place_algbw", Quantity::kInPlaceAlgbw, Kind::kRate},
    {"busbw", Quantity::kBusbw, Kind::kRate},
    {"bus_bw", Quantity::kBusbw, Kind::kRate},
    {"alg_bw", Quantity::kAlgbw, Kind::kRate},
    {"oop_busbw", Quantity::kBusbw, Kind::kRate},
    {"out_of_place_busbw", Quantity::kBusbw, Kind::kRate},
    {"ip_busbw", Quantity::kInPlaceBusbw, Kind::kRate},
    {"in_place_busbw", Quantity::kInPlaceBusbw, Kind::kRate},
    {"wrong", Quantity::kWrong, Kind::kPlain},
    {"oop_wrong", Quantity::kWrong, Kind::kPlain},
    {"ip_wrong", Quantity::kInPlaceWrong, Kind::kPlain},
    {"inplace", Quantity::kInPlace, Kind::kPlain},
    {"in_place", Quantity::kInPlace, Kind::kPlain},
    {"lat", Quantity::kLatency, Kind::kTime},
    {"latency", Quantity::kLatency, Kind::kTime},
    {"median", Quantity::kLatency, Kind::kTime},
    {"p50", Quantity::kLatency, Kind::kTime},
    {"t_typical", Quantity::kLatency, Kind::kTime},
    {"t_avg", Quantity::kLatencyAvg, Kind::kTime},
    {"t_min", Quantity::kLatencyMin, Kind::kTime},
    {"t_max", Quantity::kLatencyMax, Kind::kTime},
    {"p99", Quantity::kLatencyP99, Kind::kTime},
    {"p99_9", Quantity::kLatencyP999, Kind::kTime},
    {"p999", Quantity::kLatencyP999, Kind::kTime},
    {"bandwidth", Quantity::kBandwidth, Kind::kRate},
    {"bw", Quantity::kBandwidth, Kind::kRate},
    {"throughput", Quantity::kBandwidth, Kind::kRate},
    {"bw_average", Quantity::kBandwidth, Kind::kRate},
    {"bw_avg", Quantity::kBandwidth, Kind::kRate},
    {"avg_bw", Quantity::kBandwidth, Kind::kRate},
    {"bw_peak", Quantity::kPeak, Kind::kRate},
    {"peak_bw", Quantity::kPeak, Kind::kRate},
    {"msgrate", Quantity::kMessages, Kind::kCount},
    {"msg_rate", Quantity::kMessages, Kind::kCount},
    {"message_rate", Quantity::kMessages, Kind::kCount},
    {"cpu_pct", Quantity::kCpu, Kind::kPlain},
    {"cpu_util", Quantity::kCpu, Kind::kPlain},
    {"op", Quantity::kOp, Kind::kPlain},
    {"collective", Quantity::kOp, Kind::kPlain},
    {"operation", Quantity::kOp, Kind::kPlain},
    {"test", Quantity::kOp, Kind::kPlain},
    {"benchmark", Quantity::kOp, Kind::kPlain},
    {"name", Quantity::kOp, Kind::kPlain},
    {"log", Quantity::kLog, Kind::kPlain},
    {"run", Quantity::kLog, Kind::kPlain},
    {"ranks", Quantity::kRanks, Kind::kPlain},
    {"nranks", Quantity::kRanks, Kind::kPlain},
    {"gpus", Quantity::kRanks, Kind::kPlain},
    {"num_gpus", Quantity::kRanks, Kind::kPlain},
    {"nodes", Quantity::kNodes, Kind::kPlain},
    {"num_nodes", Quantity::kNodes, Kind::kPlain},
    {"gpu", Quantity::kDevice, Kind::kPlain},
    {"device", Quantity::kDevice, Kind::kPlain},
    {"qps", Quantity::kQps, Kind::kPlain},
    {"num_qps", Quantity::kQps, Kind::kPlain},
    {"tx_depth", Quantity::kTxDepth, Kind::kPlain},
    {"mtu", Quantity::kMtu, Kind::kPlain},
    {"direction", Quantity::kDirection, Kind::kPlain},
    {"mode", Quantity::kDirection, Kind::kPlain},
});

/// "min", "avg_latency", "latency_p99", "lat_max": a statistic beside the word for latency.
constexpr auto kStatistics = std::to_array<Name>({
    {"min", Quantity::kLatencyMin, Kind::kTime},
    {"avg", Quantity::kLatencyAvg, Kind::kTime},
    {"mean", Quantity::kLatencyAvg, Kind::kTime},
    {"max", Quantity::kLatencyMax, Kind::kTime},
    {"median", Quantity::kLatency, Kind::kTime},
    {"typical", Quantity::kLatency, Kind::kTime},
    {"p50", Quantity::kLatency, Kind::kTime},
    {"p99", Quantity::kLatencyP99, Kind::kTime},
    {"p99_9", Quantity::kLatencyP999, Kind::kTime},
    {"p999", Quantity::kLatencyP999, Kind::kTime},
});

/// Letters and digits; anything else is one `_` between them.
std::string plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += c;
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  while (plain.ends_with('_')) plain.pop_back();
  return plain;
}

/// "latency_p99" and "p99_latency".
const Name* statistic(std::string_view name) {
  for (const std::string_view word : {"latency", "lat"}) {
    for (const Name& known : kStatistics) {
      const std::size_t size = word.size() + known.name.size() + 1;
      if (name.size() != size) continue;
      const bool first = name.starts_with(word) && name.ends_with(known.name);
      const bool last = name.starts_with(known.name) && name.ends_with(word);
      if ((first && name[word.size()] == '_') || (last && name[known.name.size()] == '_')) {
        return &known;
      }
    }
  }
  return nullptr;
}

/// What a name without a unit stands for.
CsvColumn named(std::string_view base, Kind kind, double factor) {
  const std::string name = small(base);
  const auto known = std::ranges::find(kColumns, name, &Name::name);
  const Name* found = known != kColumns.end() ? &*known : statistic(name);
  if (found != nullptr) {
    // Without a unit: bytes, microseconds, GB/s, as nccl-tests prints them.
    const bool fits = found->kind == kind || kind == Kind::kPlain;
    return fits ? CsvColumn{found->quantity, factor, ""} : CsvColumn{};
  }
  const bool bandwidth = name.ends_with("_bw") && kind == Kind::kRate;
  const bool latency = name.ends_with("_lat") && kind == Kind::kTime;
  const bool test =
      name.starts_with("ib_") || name.starts_with("raw_ethernet_") || name.starts_with("osu_");
  if (test && bandwidth) return {Quantity::kBandwidth, factor, name};
  if (test && latency) return {Quantity::kLatency, factor, name};
  return {};
}

}  // namespace

std::string small(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

CsvColumn csv_column(std::string_view name) {
  const std::string text = plain(name);
  CsvColumn whole = named(text, Kind::kPlain, 1);
  if (whole.quantity != Quantity::kNone) return whole;
  for (const Unit& unit : kUnits) {
    const std::size_t size = unit.suffix.size() + 1;
    if (text.size() <= size || !text.ends_with(unit.suffix) || text[text.size() - size] != '_') {
      continue;
    }
    return named(std::string_view(text).substr(0, text.size() - size), unit.kind, unit.factor);
  }
  return {};
}

bool is_measurement(Quantity quantity) {
  return quantity > Quantity::kSize && quantity < Quantity::kOp && quantity != Quantity::kInPlace &&
         quantity != Quantity::kCpu && quantity != Quantity::kWrong &&
         quantity != Quantity::kInPlaceWrong;
}

}  // namespace fabricast::calibrate
