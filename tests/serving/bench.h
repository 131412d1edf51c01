#pragma once
// A service on GPUs that need nobody, written out by hand: one GPU per replica, no fabric.

#include <memory>
#include <vector>

#include "../collective/ideal_network.h"
#include "../training/jobs.h"
#include "catalog/catalog.h"
#include "serving/service.h"

namespace fabricast::test {

inline catalog::LanguageModel small_model() {
  catalog::LanguageModel m;
  m.id = "small";
  m.layers = 16;
  m.hidden = 2048;
  m.feed_forward = 8192;
  m.heads = 16;
  m.kv_heads = 16;
  m.head_dim = 128;
  m.vocabulary = 32000;
  return m;
}

inline scenario::ServingSpec service_spec() {
  scenario::ServingSpec spec;
  spec.model = small_model();
  spec.engine.max_num_seqs = 64;
  spec.engine.max_num_batched_tokens = 2048;
  spec.engine.block_size = 16;
  spec.engine.chunked_prefill = true;
  spec.engine.prefix_caching = true;
  spec.engine.gpu_memory_utilization = 0.9;
  spec.context = {
      .kind = scenario::LengthSpec::Kind::kFixed, .mean = 256, .least = 256, .most = 256};
  spec.output = {.kind = scenario::LengthSpec::Kind::kFixed, .mean = 1, .least = 1, .most = 1};
  spec.qps = 1;
  return spec;
}

/// Replicas of one GPU each, whose kernels take the same time every time; what they send takes 1 us
/// and goes at 200 Gb/s.
class Bench {
 public:
  explicit Bench(scenario::ServingSpec spec, int replicas = 1) : spec_(std::move(spec)) {
    gpu_ = h100();
    gpu_.kernel_variation_pct = 0;
    gpu_.decode = {.memory_share = 0.9, .stream_gb_per_s = 20};
    fabric::TopologySpec topology = test::topology(1, replicas);
    fabric_ = std::make_shared<const fabric::Fabric>(fabric::build(topology));
    networks_.packet = [replicas](std::uint64_t) {
      return std::make_unique<IdealNetwork>(
          static_cast<std::uint32_t>(replicas),
          IdealSpec{.alpha = base::Time::picoseconds(1'000'000),
                    .beta = base::Rate::bits_per_second(200'000'000'000)});
    };
    const collective::Place place{*fabric_, networks_, cache_, "inside", "between"};
    collective::Sampler sampler(place, collective::Resolution::kAuto, {});
    serving::Deployment deployment;
    deployment.replicas = replicas;
    pace_ = std::make_unique<serving::Pace>(spec_, gpu_, deployment, machine(replicas), profile_,
                                            *fabric_, sampler, phases_);
    serving::Pool pool;
    pool.deployment = deployment;
    pool.pace = pace_.get();
    pool.cache_blocks = 100'000;
    service_.serving = &spec_;
    service_.pools.push_back(pool);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  serving::RunResult run(const serving::RunSpec& run,
                         std::vector<serving::RequestRecord>* records = nullptr) {
    const auto network = networks_.packet(1);
    return serving::run(service_, run, *network, [&](const serving::RequestRecord& record) {
      if (records != nullptr) records->push_back(record);
    });
  }
  serving::ServiceSpec& service() { return service_; }
  scenario::ServingSpec& spec() { return spec_; }

 private:
  scenario::ServingSpec spec_;
  catalog::Gpu gpu_;
  catalog::FabricProfile profile_;
  std::shared_ptr<const fabric::Fabric> fabric_;
  collective::Networks networks_;
  network::PhaseCache cache_;
  std::vector<serving::SampledPhase> phases_;
  std::unique_ptr<serving::Pace> pace_;
  serving::ServiceSpec service_;
};

}  // namespace fabricast::test
