#pragma once
// Deterministic random streams. Every consumer draws from a stream of its own, named by what it is
// for and an index, so that a new consumer never disturbs another: RandomStream(seed, "ecmp",
// flow). Generator: xoshiro256++ (Blackman and Vigna, 2019), seeded by SplitMix64 over an FNV-1a
// hash of the name. The distributions are our own, since the standard library's differ between
// vendors.

#include <array>
#include <cstdint>
#include <string_view>

namespace fabricast::base {

/// A stateless mix of 64 bits (the finaliser of SplitMix64); good enough for hashing flows to
/// paths.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// FNV-1a over the characters of a name.
constexpr std::uint64_t hash_name(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);
  /// A generator at a given state, to hold it against published outputs. PRECONDITION: not all 0.
  static RandomStream from_state(const std::array<std::uint64_t, 4>& state);

  std::uint64_t next();
  /// Uniform in [0, 1).
  double uniform();
  /// Uniform in [0, n). PRECONDITION: n > 0. Unbiased (Lemire's method).
  std::uint64_t below(std::uint64_t n);
  double exponential(double mean);
  /// How many events of this mean there are; takes as many draws and one more.
  std::uint64_t poisson(double mean);
  /// Standard normal (Box-Muller; both values are used).
  double normal();

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace fabricast::base
