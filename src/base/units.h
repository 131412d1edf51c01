#pragma once
// Strong units. A bare number never crosses a room: `Time` is picoseconds, `Bytes` is bytes, `Rate`
// is bits per second, all 64-bit integers. Time x Rate = Bytes, Bytes / Rate = Time; nothing else
// converts by itself. A picosecond is fine enough to be exact at every Ethernet and InfiniBand rate
// up to 800 Gb/s (10 ps per byte) and reaches 106 days.

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

namespace fabricast::base {

/// Wide enough for bits x picoseconds; a GCC and Clang extension.
__extension__ using Int128 = __int128;

/// A duration or an instant since the start of a simulation, in picoseconds.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time picoseconds(std::int64_t ps) { return Time(ps); }
  static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }
  /// Rounds to the nearest picosecond. Throws base::Error when the value is not finite or out of
  /// range (106 days).
  static Time seconds(double s);

  constexpr std::int64_t ps() const { return ps_; }
  constexpr double us() const { return static_cast<double>(ps_) * 1e-6; }
  constexpr double s() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Time o) { return ps_ += o.ps_, *this; }
  constexpr Time& operator-=(Time o) { return ps_ -= o.ps_, *this; }
  friend constexpr Time operator+(Time a, Time b) { return Time(a.ps_ + b.ps_); }
  friend constexpr Time operator-(Time a, Time b) { return Time(a.ps_ - b.ps_); }
  friend constexpr Time operator*(Time a, std::int64_t k) { return Time(a.ps_ * k); }
  friend constexpr Time operator*(std::int64_t k, Time a) { return a * k; }
  friend constexpr Time operator/(Time a, std::int64_t k) { return Time(a.ps_ / k); }
  friend constexpr double operator/(Time a, Time b) {
    return static_cast<double>(a.ps_) / static_cast<double>(b.ps_);
  }

 private:
  constexpr explicit Time(std::int64_t ps) : ps_(ps) {}
  std::int64_t ps_ = 0;
};

/// An amount of data in bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t n) : n_(n) {}
  /// Rounds to the nearest byte. Throws base::Error when not finite, negative or above 2^62.
  static Bytes from(double n);

  constexpr std::int64_t count() const { return n_; }
  constexpr double gb() const { return static_cast<double>(n_) * 1e-9; }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes o) { return n_ += o.n_, *this; }
  constexpr Bytes& operator-=(Bytes o) { return n_ -= o.n_, *this; }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.n_ + b.n_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.n_ - b.n_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t k) { return Bytes(a.n_ * k); }
  friend constexpr Bytes operator*(std::int64_t k, Bytes a) { return a * k; }
  friend constexpr Bytes operator/(Bytes a, std::int64_t k) { return Bytes(a.n_ / k); }
  friend constexpr double operator/(Bytes a, Bytes b) {
    return static_cast<double>(a.n_) / static_cast<double>(b.n_);
  }

 private:
  std::int64_t n_ = 0;
};

/// A data rate in bits per second.
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bits_per_second(std::int64_t bps) { return Rate(bps); }
  /// Rounds to the nearest bit per second. Throws base::Error when not finite, negative or above
  /// 9.2e18.
  static Rate gigabits_per_second(double gbps);

  constexpr std::int64_t bps() const { return bps_; }
  constexpr double gbps() const { return static_cast<double>(bps_) * 1e-9; }
  constexpr double gigabytes_per_second() const { return static_cast<double>(bps_) / 8e9; }

  constexpr auto operator<=>(const Rate&) const = default;
  friend constexpr Rate operator+(Rate a, Rate b) { return Rate(a.bps_ + b.bps_); }
  friend constexpr Rate operator-(Rate a, Rate b) { return Rate(a.bps_ - b.bps_); }
  friend constexpr Rate operator*(Rate a, std::int64_t k) { return Rate(a.bps_ * k); }
  friend constexpr Rate operator/(Rate a, std::int64_t k) { return Rate(a.bps_ / k); }
  friend constexpr double operator/(Rate a, Rate b) {
    return static_cast<double>(a.bps_) / static_cast<double>(b.bps_);
  }

 private:
  constexpr explicit Rate(std::int64_t bps) : bps_(bps) {}
  std::int64_t bps_ = 0;
};

/// Time to put `size` on a wire of `rate`, rounded up to the picosecond. PRECONDITION: rate > 0.
constexpr Time transmission_time(Bytes size, Rate rate) {
  const auto bits = static_cast<Int128>(size.count()) * 8 * 1'000'000'000'000;
  return Time::picoseconds(static_cast<std::int64_t>((bits + rate.bps() - 1) / rate.bps()));
}

/// Bytes that a wire of `rate` carries in `t`, rounded down.
constexpr Bytes bytes_in(Time t, Rate rate) {
  const auto bits = static_cast<Int128>(t.ps()) * rate.bps() / 1'000'000'000'000;
  return Bytes(static_cast<std::int64_t>(bits / 8));
}

/// Mean rate of `size` delivered in `t`. PRECONDITION: t > 0.
constexpr Rate rate_of(Bytes size, Time t) {
  const auto bits = static_cast<Int128>(size.count()) * 8 * 1'000'000'000'000;
  return Rate::bits_per_second(static_cast<std::int64_t>(bits / t.ps()));
}

inline namespace literals {
// NOLINTBEGIN(google-runtime-int)
constexpr Time operator""_ps(unsigned long long v) {
  return Time::picoseconds(static_cast<std::int64_t>(v));
}
constexpr Time operator""_ns(unsigned long long v) {
  return Time::picoseconds(static_cast<std::int64_t>(v) * 1'000);
}
constexpr Time operator""_us(unsigned long long v) {
  return Time::picoseconds(static_cast<std::int64_t>(v) * 1'000'000);
}
constexpr Time operator""_ms(unsigned long long v) {
  return Time::picoseconds(static_cast<std::int64_t>(v) * 1'000'000'000);
}
constexpr Time operator""_s(unsigned long long v) {
  return Time::picoseconds(static_cast<std::int64_t>(v) * 1'000'000'000'000);
}
constexpr Bytes operator""_B(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v));
}
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 10);
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 20);
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 30);
}
constexpr Rate operator""_mbps(unsigned long long v) {
  return Rate::bits_per_second(static_cast<std::int64_t>(v) * 1'000'000);
}
constexpr Rate operator""_gbps(unsigned long long v) {
  return Rate::bits_per_second(static_cast<std::int64_t>(v) * 1'000'000'000);
}
// NOLINTEND(google-runtime-int)
}  // namespace literals

/// "1.20 us", "3.5 ms", "12.4 days": three significant digits in the unit a reader expects.
std::string to_string(Time t);
/// Binary: "512 KiB", "16 MiB".
std::string to_string(Bytes b);
/// "200 Gb/s".
std::string to_string(Rate r);

}  // namespace fabricast::base
