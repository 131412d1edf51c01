#include "serving/requests.h"

#include <algorithm>
#include <cmath>

namespace fabricast::serving {

using scenario::ArrivalKind;
using scenario::LengthSpec;

int draw_length(const LengthSpec& spec, base::RandomStream& random) {
  double tokens = 0;
  switch (spec.kind) {
    case LengthSpec::Kind::kFixed:
      return spec.most;
    case LengthSpec::Kind::kUniform:
      return spec.least +
             static_cast<int>(random.below(static_cast<std::uint64_t>(spec.most - spec.least) + 1));
    case LengthSpec::Kind::kExponential:
      tokens = random.exponential(spec.mean);
      break;
    case LengthSpec::Kind::kLognormal: {
      const double variance = std::log1p(spec.variation * spec.variation);
      tokens = spec.mean * std::exp(std::sqrt(variance) * random.normal() - variance / 2);
      break;
    }
  }
  return static_cast<int>(std::clamp(std::round(tokens), 1.0 * spec.least, 1.0 * spec.most));
}

double draw_gamma(double variation, base::RandomStream& random) {
  const double shape = 1 / (variation * variation);
  // Below 1: that of shape + 1, times u^(1/shape).
  const double raised = shape < 1 ? shape + 1 : shape;
  const double d = raised - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    const double u = random.uniform();
    if (v <= 0 || u <= 0 || std::log(u) >= x * x / 2 + d * (1 - v + std::log(v))) continue;
    const double boost = shape < 1 ? std::pow(1 - random.uniform(), 1 / shape) : 1;
    return d * v * boost / shape;
  }
}

RequestSource::RequestSource(const scenario::ServingSpec& spec, Arrivals arrivals, double rate,
                             std::uint64_t seed)
    : spec_(spec),
      arrivals_(arrivals),
      rate_(rate),
      gaps_(seed, "arrivals"),
      lengths_(seed, "lengths") {}

/// Of requests that come at a rate of 1.
double RequestSource::gap() {
  if (arrivals_ == Arrivals::kAsStated && spec_.arrival == ArrivalKind::kGamma) {
    return draw_gamma(spec_.arrival_variation, gaps_);
  }
  return gaps_.exponential(1);
}

/// Time runs by the profile: where twice as many come it runs twice as fast.
void RequestSource::arrive_after(double operational) {
  const std::vector<scenario::RateStep>& profile = spec_.profile;
  const double rate = spec_.qps * rate_;
  for (;;) {
    while (step_ < profile.size() && profile[step_].at_s <= now_s_) ++step_;
    const double share = step_ == 0 ? 1 : profile[step_ - 1].share;
    const double end = step_ < profile.size() ? profile[step_].at_s : HUGE_VAL;
    if (share > 0 && operational <= (end - now_s_) * rate * share) {
      now_s_ += operational / (rate * share);
      return;
    }
    if (end == HUGE_VAL) {
      over_ = true;
      return;
    }
    operational -= (end - now_s_) * rate * share;
    now_s_ = end;
  }
}

std::optional<Request> RequestSource::next() {
  Request request;
  if (spec_.trace) {
    const auto& rows = spec_.trace->requests;
    const bool as_stated = arrivals_ == Arrivals::kAsStated;
    if (as_stated && traced_ == rows.size()) return std::nullopt;
    const scenario::TracedRequest& row = rows[traced_++ % rows.size()];
    request.input = row.input_tokens;
    request.output = row.output_tokens;
    request.traced = row.blocks.empty() ? nullptr : &row;
    if (as_stated) {
      request.arrival_s = row.arrival_s / rate_;
      return request;
    }
  } else {
    request.input = draw_length(spec_.context, lengths_);
    request.output = draw_length(spec_.output, lengths_);
  }
  if (arrivals_ == Arrivals::kPoisson) {
    now_s_ += gap() / rate_;
  } else if (spec_.arrival != ArrivalKind::kClosed) {
    arrive_after(gap());
  }
  if (over_) return std::nullopt;
  request.arrival_s = now_s_;
  return request;
}

}  // namespace fabricast::serving
