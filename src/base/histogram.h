#pragma once
// A histogram of positive values whose buckets are all equally wide relative to their values, so
// that percentiles of any number of them need the same memory.

#include <cstdint>
#include <vector>

namespace fabricast::base {

class Histogram {
 public:
  /// Values from 1 ns to 10^9 s, if they are seconds; larger ones count as that, smaller ones as 0.
  /// A percentile is within 0.1 % of the value that it stands for.
  Histogram();

  void add(double value);
  std::uint64_t count() const { return count_; }
  double mean() const;
  /// Population sigma over mean; 0 of fewer than two values.
  double variation() const;
  /// Nearest rank, `percent` in (0, 100]. PRECONDITION: not empty.
  double percentile(double percent) const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double mean_ = 0;  ///< running, for the squares (Welford)
  double squares_ = 0;
};

}  // namespace fabricast::base
