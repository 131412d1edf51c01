// The timeline of a step: what Perfetto is given adds up to what the tables say.

#include "report/train.h"

#include <algorithm>
#include <map>
#include <memory>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace fabricast::report {
namespace {

using Json = nlohmann::json;
using training::CommKind;

training::Phase phase(const char* name, std::int64_t bytes) {
  training::Phase phase;
  phase.name = name;
  phase.size = base::Bytes(bytes);
  return phase;
}

/// A pipeline of unequal stages with every kind of communication.
struct Example {
  scenario::ValidScenario scenario;
  scenario::FabricChoice choice;
  TrainReport report;
};

std::unique_ptr<Example> example(int stages, int chunks, int replicas,
                                 training::Sharding sharding = training::Sharding::kOptimizer) {
  auto e = std::make_unique<Example>();
  training::Detail& detail = e->report.detail;
  training::StepWork& work = detail.work;
  detail.phases = {phase("tp all-gather", 1000), phase("cp keys and values", 2000),
                   phase("pp activations", 3000), phase("dp gradients", 4000),
                   phase("dp parameters", 5000)};
  work.micro_batches = 4;
  work.replicas = replicas;
  work.buckets = 3;
  work.sharding = sharding;
  work.variation = 0.01;
  work.overlap_slowdown = 0.2;
  for (int s = 0; s < stages; ++s) {
    training::ChunkWork chunk;
    chunk.forward_s = 1 + 0.1 * s;
    chunk.backward_s = 2;
    chunk.layers = 4;
    chunk.forward = {{0, 8, 0, CommKind::kTp}, {1, 4, 0.02, CommKind::kCp}};
    chunk.backward = {{0, 8, 0, CommKind::kTp}, {1, 8, 0.02, CommKind::kCp}};
    work.stages.push_back({std::vector(static_cast<std::size_t>(chunks), chunk), 0.25});
  }
  if (stages > 1) {
    work.activations = 2;
    work.activation_gradients = 2;
  }
  if (replicas > 1) {
    work.gradients = 3;
    work.parameters = 4;
  }
  detail.traced =
      training::trace(work, {{0.01, 0.02}, {0.01, 0.03}, {0.05, 0.1}, {0.2, 0.4}, {0.1}}, 1, 0);
  e->scenario.name = "example";
  e->report.scenario = &e->scenario;
  e->report.choice = &e->choice;
  return e;
}

/// Complete events by process and thread, in the order of their start.
std::map<std::pair<int, int>, std::vector<Json>> threads_of(const Json& trace) {
  std::map<std::pair<int, int>, std::vector<Json>> threads;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "X") threads[{e["pid"].get<int>(), e["tid"].get<int>()}].push_back(e);
  }
  for (auto& [thread, events] : threads) {
    std::ranges::stable_sort(events, {}, [](const Json& e) { return e["ts"].get<double>(); });
  }
  return threads;
}

double end_us(const Json& event) {
  return event["ts"].get<double>() + event["dur"].get<double>();
}

constexpr double kNanosecond = 1.1e-3;

TEST(Trace, events_of_a_thread_do_not_overlap_and_end_with_the_step) {
  using training::Sharding;
  for (const auto& e :
       {example(4, 1, 2), example(4, 2, 1), example(2, 3, 2), example(1, 1, 3),
        example(1, 1, 3, Sharding::kGradients), example(1, 1, 3, Sharding::kParameters)}) {
    const Json trace = Json::parse(train_trace(e->report));
    double last = 0;
    for (const auto& [thread, events] : threads_of(trace)) {
      double busy = 0;
      for (const Json& event : events) {
        EXPECT_GE(event["ts"].get<double>(), busy - 1e-6) << thread.second << ' ' << event;
        busy = end_us(event);
      }
      last = std::max(last, busy);
    }
    EXPECT_NEAR(last, e->report.detail.traced.step.seconds * 1e6, kNanosecond);
  }
}

// One replica is all there is: its events, less what traffic slowed them by, are the breakdown.
TEST(Trace, durations_add_up_to_the_breakdown) {
  for (const auto& e : {example(4, 1, 1), example(4, 2, 1), example(1, 1, 1)}) {
    const Json trace = Json::parse(train_trace(e->report));
    const auto& step = e->report.detail.traced.step;
    const auto stages = static_cast<double>(e->report.detail.work.stages.size());
    std::map<int, double> us;  // by thread, mean over stages
    double number = 0;
    for (const auto& [thread, events] : threads_of(trace)) {
      for (const Json& event : events) {
        double dur = event["dur"].get<double>();
        if (event.contains("args")) dur -= event["args"].value("slowed_us", 0.0);
        us[thread.second] += dur / stages;
        ++number;
      }
    }
    const double rounding = kNanosecond * number;
    EXPECT_NEAR(us[1], step.breakdown.compute * 1e6, rounding);
    EXPECT_NEAR(us[2], step.breakdown.exposed_tp * 1e6, rounding);
    EXPECT_NEAR(us[3], step.wire.cp * 1e6, rounding);
    EXPECT_NEAR(us[5] + us[6], step.wire.pp * 1e6, rounding);
    // Whatever is neither computing nor a collective of the pass is bubble, pp and dp.
    const double idle =
        step.breakdown.bubble + step.breakdown.exposed_pp + step.breakdown.exposed_dp;
    EXPECT_NEAR(step.seconds * 1e6 - us[1] - us[2] - step.breakdown.exposed_cp * 1e6, idle * 1e6,
                rounding);
  }
}

TEST(Trace, joins_every_send_to_the_pass_that_uses_it) {
  const auto e = example(4, 2, 1);
  const Json trace = Json::parse(train_trace(e->report));
  std::map<int, double> begun;
  int joined = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") begun[event["id"].get<int>()] = event["ts"].get<double>();
    if (event["ph"] != "f") continue;
    ASSERT_TRUE(begun.contains(event["id"].get<int>()));
    EXPECT_GE(event["ts"].get<double>(), begun[event["id"].get<int>()]);
    ++joined;
  }
  // 4 micro-batches cross 7 borders between 8 parts of the model, both ways.
  EXPECT_EQ(joined, 4 * 7 * 2);
}

TEST(Trace, carries_the_bytes_of_buckets_and_sends) {
  const auto e = example(2, 1, 2);
  const Json trace = Json::parse(train_trace(e->report));
  for (const auto& [thread, events] : threads_of(trace)) {
    for (const Json& event : events) {
      if (thread.second < 5) continue;
      if (thread.second < 7) {
        EXPECT_EQ(event["args"]["bytes"], 3000);
        continue;
      }
      const bool gather = event["name"].get<std::string>().starts_with("parameters");
      EXPECT_EQ(event["args"]["bytes"], gather ? 5000 : 4000);
    }
  }
}

}  // namespace
}  // namespace fabricast::report
