#include "network/probes.h"

#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/statistics.h"
#include "network/pairs.h"

namespace fabricast::network {
namespace {

using namespace base::literals;

constexpr base::Bytes kProbeSize = 8_B;  // ib_write_lat's usual message
// Idle networks are measured, so no draw of the seed should matter.
constexpr std::uint64_t kIdleSeed = 0;
// Between two pairs everything in flight has long arrived: acknowledgements, delayed or not.
constexpr base::Time kSettle = 1_ms;

/// Ping-pong over one pair after another.
struct PingPong {
  Network* network = nullptr;
  std::vector<Pair> pairs;
  std::size_t next = 0;
  std::vector<double> half_round_trips_us;
};

void ping(const std::shared_ptr<PingPong>& state) {
  if (state->next == state->pairs.size()) return;
  const Pair pair = state->pairs[state->next++];
  const base::Time start = state->network->now();
  state->network->send(
      pair.src, pair.dst, kProbeSize, {kProbeChannel}, [state, pair, start](base::Time) {
        state->network->send(
            pair.dst, pair.src, kProbeSize, {kProbeChannel}, [state, start](base::Time now) {
              state->half_round_trips_us.push_back((now - start).us() / 2);
              state->network->at(now + kSettle, [state](base::Time) { ping(state); });
            });
      });
}

}  // namespace

double idle_latency_us(const Factory& factory, const fabric::Fabric& fabric, int max_pairs) {
  const auto network = factory(kIdleSeed);
  const auto state = std::make_shared<PingPong>();
  state->network = network.get();
  state->pairs = cross_node_pairs(fabric, max_pairs);
  if (state->pairs.empty()) return 0;
  ping(state);
  network->run();
  if (state->half_round_trips_us.size() != state->pairs.size()) {
    throw base::failure("the network ended before every latency probe arrived");
  }
  return base::percentile(state->half_round_trips_us, 50);
}

double bandwidth_gbps(const Factory& factory, const fabric::Fabric& fabric, base::Bytes size) {
  if (fabric.spec().nodes < 2) return 0;
  const auto network = factory(kIdleSeed);
  const base::Rank last(static_cast<std::uint32_t>(fabric.gpus() - fabric.spec().gpus_per_node));
  const auto arrival = std::make_shared<base::Time>();
  network->send(base::Rank(0), last, size, {kProbeChannel},
                [arrival](base::Time now) { *arrival = now; });
  network->run();
  if (arrival->ps() == 0) throw base::failure("the network ended before the transfer arrived");
  return base::rate_of(size, *arrival).gbps();
}

struct LatencyProbe::State {
  State(std::uint64_t seed) : random(seed, "probe") {}

  Network* network = nullptr;
  const fabric::Fabric* fabric = nullptr;
  base::Time interval;
  base::RandomStream random;
  std::vector<double> latencies_us;
  bool silenced = false;
};

namespace {

template <class State>
void probe_at(const std::shared_ptr<State>& state, base::Time when) {
  state->network->at(when, [state](base::Time now) {
    if (state->silenced) return;
    const auto gpus = static_cast<std::uint64_t>(state->fabric->gpus());
    const base::Rank src(static_cast<std::uint32_t>(state->random.below(gpus)));
    const base::Rank dst = random_peer(*state->fabric, src, state->random);
    state->network->send(src, dst, kProbeSize, {kProbeChannel}, [state, now](base::Time arrival) {
      if (!state->silenced) state->latencies_us.push_back((arrival - now).us());
    });
    probe_at(state, now + state->interval);
  });
}

}  // namespace

LatencyProbe::LatencyProbe(Network& network, const fabric::Fabric& fabric, base::Time interval,
                           std::uint64_t seed)
    : state_(std::make_shared<State>(seed)) {
  state_->network = &network;
  state_->fabric = &fabric;
  state_->interval = interval;
  if (fabric.spec().nodes < 2) return;
  const double phase = state_->random.uniform() * interval.s();
  probe_at(state_, network.now() + base::Time::seconds(phase));
}

LatencyProbe::~LatencyProbe() {
  state_->silenced = true;
}

const std::vector<double>& LatencyProbe::latencies_us() const {
  return state_->latencies_us;
}

}  // namespace fabricast::network
