#include "base/units.h"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "base/error.h"

namespace fabricast::base {

namespace {

/// Three significant digits without an exponent. PRECONDITION: 0 <= value < 999.5.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

struct TimeUnit {
  double ps;
  double below;  ///< the largest count for which a reader expects this unit
  const char* name;
};

// 119 s but 2.00 min, 119 min but 2.00 h, 47.9 h but 2.00 days.
constexpr TimeUnit kTimeUnits[] = {
    {1e3, 999.5, "ns"},    {1e6, 999.5, "us"},    {1e9, 999.5, "ms"},       {1e12, 119.5, "s"},
    {60e12, 119.5, "min"}, {3600e12, 47.95, "h"}, {86400e12, 999.5, "days"}};

}  // namespace

Time Time::seconds(double s) {
  const double ps = std::round(s * 1e12);
  if (!std::isfinite(ps) || std::abs(ps) >= 0x1.0p63) {
    throw failure(fmt::format("a time of {} s is outside the 106 days that a simulation spans", s));
  }
  return picoseconds(static_cast<std::int64_t>(ps));
}

Bytes Bytes::from(double n) {
  if (!std::isfinite(n) || n < 0 || n > 0x1.0p62) {
    throw failure(fmt::format("{} is no amount of data between 0 and 2^62 bytes", n));
  }
  return Bytes(static_cast<std::int64_t>(std::round(n)));
}

Rate Rate::gigabits_per_second(double gbps) {
  const double bps = std::round(gbps * 1e9);
  if (!std::isfinite(bps) || bps < 0 || bps >= 9.2e18) {
    throw failure(fmt::format("{} Gb/s is no data rate between 0 and 9.2e9 Gb/s", gbps));
  }
  return bits_per_second(static_cast<std::int64_t>(bps));
}

std::string to_string(Time t) {
  const double ps = std::abs(static_cast<double>(t.ps()));
  const char* sign = t.ps() < 0 ? "-" : "";
  if (ps == 0) return "0 s";
  if (ps < 999.5) return fmt::format("{}{:.0f} ps", sign, ps);
  for (const TimeUnit& unit : kTimeUnits) {
    if (ps < unit.below * unit.ps) {
      return fmt::format("{}{} {}", sign, three_digits(ps / unit.ps), unit.name);
    }
  }
  return fmt::format("{}{:.0f} days", sign, ps / 86400e12);
}

std::string to_string(Bytes b) {
  static constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(b.count());
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < std::size(kNames)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kNames[unit]);
}

std::string to_string(Rate r) {
  const double bps = static_cast<double>(r.bps());
  if (std::abs(bps) >= 1e13) return fmt::format("{:.4g} Tb/s", bps * 1e-12);
  if (std::abs(bps) >= 1e9) return fmt::format("{:.4g} Gb/s", bps * 1e-9);
  if (std::abs(bps) >= 1e6) return fmt::format("{:.4g} Mb/s", bps * 1e-6);
  return fmt::format("{} b/s", r.bps());
}

}  // namespace fabricast::base
