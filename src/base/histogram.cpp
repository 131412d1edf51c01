#include "base/histogram.h"

#include <algorithm>
#include <cmath>

namespace fabricast::base {
namespace {

// An octave in so many buckets: the middle of one is at most 1/1024 from its ends.
constexpr int kPerOctave = 512;
constexpr int kLowest = -30;  // 2^-30 s = 0.93 ns
constexpr int kHighest = 30;
constexpr int kBuckets = (kHighest - kLowest) * kPerOctave;

int bucket_of(double value) {
  if (value <= 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  const int within = static_cast<int>((mantissa - 0.5) * 2 * kPerOctave);
  return std::clamp((exponent - 1 - kLowest) * kPerOctave + within, 0, kBuckets - 1);
}

double middle_of(int bucket) {
  if (bucket == 0) return 0;
  const double within = (bucket % kPerOctave + 0.5) / kPerOctave;
  return std::ldexp(1 + within, bucket / kPerOctave + kLowest);
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets, 0) {}

void Histogram::add(double value) {
  ++buckets_[static_cast<std::size_t>(bucket_of(value))];
  ++count_;
  sum_ += value;
  const double difference = value - mean_;
  mean_ += difference / static_cast<double>(count_);
  squares_ += difference * (value - mean_);
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

double Histogram::variation() const {
  if (count_ < 2 || mean_ <= 0) return 0;
  return std::sqrt(squares_ / static_cast<double>(count_)) / mean_;
}

double Histogram::percentile(double percent) const {
  // As of a sample (statistics.cpp).
  constexpr double kRoundingSlack = 1e-9;
  const double rank = std::ceil(percent * static_cast<double>(count_) / 100 - kRoundingSlack);
  std::uint64_t left = static_cast<std::uint64_t>(std::max(1.0, rank));
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint64_t here = buckets_[static_cast<std::size_t>(bucket)];
    if (here >= left) return middle_of(bucket);
    left -= here;
  }
  return middle_of(kBuckets - 1);
}

}  // namespace fabricast::base
