#include "tenants.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "design.h"
#include "training/training.h"

namespace fabricast::apps {
namespace {

using scenario::BackgroundLoad;

/// What a step puts on the busiest link between its nodes.
struct Traffic {
  double load = 0;     ///< of the link, over the whole step
  double burst_s = 0;  ///< of the phase that sends most, at the link's rate
};

Traffic traffic_of(const training::Result& result) {
  Traffic traffic;
  double most = 0;
  for (const collective::PhaseReport& phase : result.phases) {
    const double busy_s = phase.busiest_pct / 100 * phase.mean_s;
    const double of_step = busy_s * phase.times_per_step;
    traffic.load += of_step / result.step_time_s;
    if (of_step <= most) continue;
    most = of_step;
    traffic.burst_s = busy_s;
  }
  return traffic;
}

Traffic traffic_of(const catalog::Catalog& known, const scenario::ValidScenario& job,
                   std::size_t number, int threads, Lessons* lessons) {
  const Design design = design_of(known, job, number, true, lessons);
  network::PhaseCache phases;
  training::Options options;
  options.threads = threads;
  return traffic_of(
      training::simulate(job, *design.choice, *design.fabric, design.networks, phases, options));
}

}  // namespace

std::optional<scenario::ValidScenario> with_tenants(const catalog::Catalog& known,
                                                    const scenario::ValidScenario& scenario,
                                                    std::size_t number, int threads,
                                                    Lessons* lessons) {
  const auto by_job = [](const BackgroundLoad& load) { return !load.job.empty(); };
  if (std::ranges::none_of(scenario.background, by_job)) return std::nullopt;
  // A background that fills a network is none; the door holds stated loads to the same.
  constexpr double kMostLoad = 0.9;
  const catalog::FabricKind kind = scenario.fabrics[number].profile.kind;
  scenario::ValidScenario resolved = scenario;
  for (std::size_t i = 0; i < resolved.background.size(); ++i) {
    BackgroundLoad& load = resolved.background[i];
    if (load.job.empty()) continue;
    const base::Location where = scenario.where(fmt::format("background[{}].job", i));
    const auto unless = [&](bool fine, const std::string& found, const std::string& allowed) {
      if (!fine) throw base::input_error(where, found, allowed);
    };
    const scenario::ValidScenario job = scenario::load(load.job, known, {.seed = scenario.seed});
    unless(std::holds_alternative<scenario::TrainingSpec>(job.workload), "a job that serves",
           "a training job");
    unless(std::ranges::none_of(job.background, by_job), "a job with tenants of its own",
           "a job whose background is stated by `load`");
    scenario::require_simulated(job);
    const auto same = std::ranges::find_if(
        job.fabrics, [&](const auto& choice) { return choice.profile.kind == kind; });
    unless(same != job.fabrics.end(),
           fmt::format("a job without a fabric of the kind {}", catalog::name_of(kind)),
           "a scenario with one");
    const Traffic traffic = traffic_of(
        known, job, static_cast<std::size_t>(same - job.fabrics.begin()), threads, lessons);
    unless(traffic.load > 0, "a job of which no packet between nodes was simulated",
           "a job that leaves its nodes, and is small enough for packets");
    unless(traffic.load <= kMostLoad,
           fmt::format("a job that fills {:.0f} % of its busiest link", 100 * traffic.load),
           fmt::format("at most {:.0f} %", 100 * kMostLoad));
    load.load = traffic.load;
    load.burst = base::Time::seconds(traffic.burst_s);
    load.job.clear();
  }
  return resolved;
}

}  // namespace fabricast::apps
