#pragma once
// What the columns of a table stand for, by their names and the units in them.

#include <cstdint>
#include <string>
#include <string_view>

namespace fabricast::calibrate {

enum class Quantity : std::uint8_t {
  kNone,
  kSize,
  kTime,
  kInPlaceTime,
  kAlgbw,
  kInPlaceAlgbw,
  kBusbw,
  kInPlaceBusbw,
  kWrong,
  kInPlaceWrong,
  kInPlace,
  kLatencyMin,
  kLatency,
  kLatencyAvg,
  kLatencyMax,
  kLatencyP99,
  kLatencyP999,
  kBandwidth,
  kPeak,
  kMessages,
  kCpu,
  // What tells runs apart.
  kOp,
  kLog,
  kRanks,
  kNodes,
  kDevice,
  kQps,
  kTxDepth,
  kMtu,
  kDirection,
};

/// A quantity, and what its cells are multiplied with to come to bytes, microseconds, GB/s or
/// messages per second.
struct CsvColumn {
  Quantity quantity = Quantity::kNone;
  double factor = 1;
  std::string op;  ///< of a test that a column is named after: "ib_write_bw_MBps"
};

/// `busbw_GBps`, `BW average[Gb/sec]`, `lat_us`, `size (KiB)`. Without a unit sizes are bytes,
/// times microseconds and bandwidths GB/s, as nccl-tests prints them; a small `gb_s` may be bits or
/// bytes and is not understood.
CsvColumn csv_column(std::string_view name);

/// A quantity without which a table would hold no measurement.
bool is_measurement(Quantity quantity);

/// In small letters.
std::string small(std::string_view text);

}  // namespace fabricast::calibrate
