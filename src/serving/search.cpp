#include "serving/search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "base/statistics.h"

namespace fabricast::serving {
namespace {

constexpr std::array<double, 11> kShares = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5,
                                            0.6,  0.7, 0.8, 0.9, 0.95};
constexpr int kBisections = 6;
constexpr double kGenerations = 20;
// Twice the standard error of the mean of ten parts (Student's t, 9 degrees: 2.26).
constexpr double kConfidence = 2.26;
// Tokens that a run generates at least, and requests it has: enough for a percentile of 99, in a
// fraction of a second.
constexpr double kTokens = 4e6;
constexpr double kFewest = 2'000;
constexpr double kMost = 10'000;
constexpr double kPerViolation = 30;  ///< requests beyond the SLO's percentile
constexpr double kMostOfRare = 200'000;
constexpr double kLongestRun = 1e6;  ///< seconds of the service's time
constexpr std::int64_t kFewestJudged = 100;

/// At one rate, and how many of its requests miss the SLO.
struct Judged {
  RatePoint point;
  double violation = 0;
  double error = 0;  ///< of that, 95 %
};

Judged judge(const Runner& run, double qps) {
  RunSpec spec;
  spec.arrivals = Arrivals::kPoisson;
  spec.rate = qps;
  // A service that takes minutes for an answer is judged by fewer of them.
  const auto in_time = static_cast<std::int64_t>(qps * kLongestRun);
  spec.requests = std::clamp<std::int64_t>(in_time, kFewestJudged, run.requests());
  spec.warm_up = spec.requests / 10;
  const RunResult result = run(spec);
  Judged judged;
  judged.point.qps = qps;
  judged.point.ttft_ms = percentiles_of(result.ttft);
  judged.point.tpot_ms = percentiles_of(result.tpot);
  judged.point.latency_ms = percentiles_of(result.latency);
  judged.point.utilisation_pct = 100 * result.computing;
  judged.violation = 1 - static_cast<double>(result.met) /
                             static_cast<double>(std::max<std::int64_t>(1, result.requests));
  judged.point.violation_pct = 100 * judged.violation;
  const auto parts = static_cast<double>(result.violations.size());
  if (parts > 1) {
    judged.error = kConfidence * base::standard_deviation(result.violations) / std::sqrt(parts);
  }
  return judged;
}

}  // namespace

RunResult Runner::operator()(const RunSpec& spec,
                             const std::function<void(const RequestRecord&)>& trace) const {
  ServiceSpec own = service_;
  std::vector<Pace> paces;
  paces.reserve(own.pools.size());
  for (Pool& pool : own.pools) {
    paces.push_back(*pool.pace);
    pool.pace = &paces.back();
  }
  const auto network = factory_(own.seed);
  return run(own, spec, *network, trace);
}

std::int64_t Runner::requests() const {
  const scenario::ServingSpec& serving = *service_.serving;
  const double miss = 1 - serving.slo_percentile / 100;
  const double wanted = std::clamp(kTokens / serving.output.mean, kFewest, kMost);
  const double judged =
      std::min(kMostOfRare, std::max(wanted, kPerViolation / std::max(miss, 1e-9)));
  return static_cast<std::int64_t>(std::ceil(judged * effort_));
}

std::int64_t Runner::generations() const {
  return std::max<std::int64_t>(2, std::llround(kGenerations * effort_));
}

std::int64_t Runner::concurrency() const {
  const scenario::ServingSpec& serving = *service_.serving;
  double sum = 0;
  for (const Pool& pool : service_.pools) {
    sum += sequences_at_once(pool, serving) * pool.deployment.replicas * pool.deployment.shape.dp;
  }
  return static_cast<std::int64_t>(std::ceil(sum));
}

Percentiles percentiles_of(const base::Histogram& seconds) {
  if (seconds.count() == 0) return {};
  const auto ms = [&](double percent) { return 1e3 * seconds.percentile(percent); };
  return {1e3 * seconds.mean(), ms(50), ms(90), ms(95), ms(99)};
}

// The first sequences start together; what they leave behind is steady after two generations. Those
// of equal lengths go on coming and going in waves, so that a part is two generations long.
Estimate capacity(const Runner& run) {
  RunSpec spec;
  spec.saturate = true;
  spec.arrivals = Arrivals::kPoisson;  // lengths are all that counts
  spec.warm_up = 2 * run.concurrency();
  spec.requests = spec.warm_up + std::max(run.requests(), run.generations() * run.concurrency());
  const RunResult result = run(spec);
  // Seconds per request, which may be averaged.
  std::vector<double> seconds;
  for (const double per_s : result.parts_per_s) seconds.push_back(1 / per_s);
  const double mean = base::mean(seconds);
  const auto parts = static_cast<double>(result.parts_per_s.size());
  const double error = kConfidence * base::standard_deviation(seconds) / std::sqrt(parts);
  // Requests are read one after the other, whatever the GPUs could do.
  const ServiceSpec& service = run.service();
  const double read_s =
      service.serving->engine.request_us * 1e-6 / service.pools.front().deployment.replicas;
  const auto rate = [&](double seconds_each) { return 1 / std::max(seconds_each, read_s); };
  return {rate(mean), rate(mean + error), rate(std::max(mean / 2, mean - error))};
}

SloSearch slo_search(const Runner& run, double capacity_qps) {
  const double allowed = 1 - run.service().serving->slo_percentile / 100;
  std::vector<Judged> all(kShares.size());
  base::parallel_for(kShares.size(), run.threads(),
                     [&](std::size_t i) { all[i] = judge(run, kShares[i] * capacity_qps); });
  SloSearch search;
  for (const Judged& judged : all) search.curve.push_back(judged.point);
  // The first share that does not meet it ends the search: what comes after met it by luck.
  std::size_t first = 0;
  while (first < all.size() && all[first].violation <= allowed) ++first;
  double meets = first == 0 ? 0 : all[first - 1].point.qps;
  double misses = first == all.size() ? capacity_qps : all[first].point.qps;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (meets + misses) / 2;
    all.push_back(judge(run, middle));
    (all.back().violation <= allowed ? meets : misses) = middle;
  }
  search.slo_qps.value = meets;
  // Rates that meet it, or miss it, whatever the draw of the requests.
  search.slo_qps.lo = 0;
  search.slo_qps.hi = capacity_qps;
  for (const Judged& judged : all) {
    const double qps = judged.point.qps;
    if (judged.violation + judged.error <= allowed && qps <= meets) {
      search.slo_qps.lo = std::max(search.slo_qps.lo, qps);
    }
    if (judged.violation - judged.error > allowed && qps > meets) {
      search.slo_qps.hi = std::min(search.slo_qps.hi, qps);
    }
  }
  return search;
}

}  // namespace fabricast::serving
