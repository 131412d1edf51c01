#include "base/random.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace fabricast::base {

namespace {
__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15ULL;
}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  // Each mix is a bijection, so two indices of one name, or two names of one seed with different
  // hashes, never start SplitMix64 at the same point.
  const std::uint64_t start = mix64(mix64(mix64(seed) ^ hash_name(name)) + index);
  for (std::uint64_t i = 0; i < state_.size(); ++i) state_[i] = mix64(start + i * kSplitMixStep);
}

RandomStream RandomStream::from_state(const std::array<std::uint64_t, 4>& state) {
  RandomStream stream(0, {});
  stream.state_ = state;
  return stream;
}

std::uint64_t RandomStream::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double RandomStream::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::uint64_t RandomStream::below(std::uint64_t n) {
  // Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019, algorithm 5.
  Wide product = static_cast<Wide>(next()) * n;
  auto low = static_cast<std::uint64_t>(product);
  if (low < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (low < threshold) {
      product = static_cast<Wide>(next()) * n;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::exponential(double mean) {
  return -mean * std::log1p(-uniform());
}

std::uint64_t RandomStream::poisson(double mean) {
  std::uint64_t events = 0;
  double at = exponential(1);
  while (at <= mean) {
    ++events;
    at += exponential(1);
  }
  return events;
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

}  // namespace fabricast::base
