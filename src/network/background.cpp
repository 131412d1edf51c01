#include "network/background.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "network/pairs.h"

namespace fabricast::network {
namespace {

// Assumed: transfers that a client of a storage service keeps under way, its queue depth. It bounds
// the backlog where the fabric cannot carry the load, as one TCP host cannot carry 90 % of 200
// Gb/s.
constexpr int kOutstanding = 64;
// Assumed: of a tenant's job, the chunks that a collective library keeps under way (NCCL_STEPS).
constexpr int kBurstOutstanding = 8;
constexpr double kHighestLoad = 0.9;  // beyond, queues grow without a bound worth simulating

void check(const BackgroundSpec& spec) {
  const auto refuse = [](const char* key, std::string_view message) {
    return base::input_error({.file = {}, .line = 0, .column = 0, .key = key}, message);
  };
  if (!(spec.load >= 0 && spec.load <= kHighestLoad)) {
    throw refuse("background.load",
                 fmt::format("found {}; allowed 0 to {}", spec.load, kHighestLoad));
  }
  if (spec.load > 0 && spec.message.count() < 1) {
    throw refuse("background.message",
                 fmt::format("found {} bytes; allowed 1 and more", spec.message.count()));
  }
}

}  // namespace

// Shared with every callback that the network still holds, so that none outlives what it uses.
struct BackgroundTraffic::State {
  struct Sender {
    base::RandomStream random;
    std::vector<base::Rank> gpus;  ///< next to this adapter
    double mean_gap_s = 0;         ///< of storage; of a tenant's messages within a burst, exactly
    base::Rank destination;        ///< of the burst
    int outstanding = 0;
  };

  Network* network = nullptr;
  const fabric::Fabric* fabric = nullptr;
  BackgroundSpec spec;
  std::vector<Sender> senders;
  base::RandomStream tenant{0, "tenant"};  ///< gaps between bursts
  base::Time burst_end;
  bool silenced = false;
};

namespace {

template <class State>
void send(const std::shared_ptr<State>& state, std::size_t index, base::Rank src, base::Rank dst) {
  const bool tenant = state->spec.burst > base::Time();
  if (state->senders[index].outstanding >= (tenant ? kBurstOutstanding : kOutstanding)) return;
  ++state->senders[index].outstanding;
  state->network->send(src, dst, state->spec.message, {kBackgroundChannel},
                       [state, index](base::Time) { --state->senders[index].outstanding; });
}

template <class State>
void schedule_next(const std::shared_ptr<State>& state, std::size_t index) {
  auto& sender = state->senders[index];
  const base::Time gap = base::Time::seconds(sender.random.exponential(sender.mean_gap_s));
  state->network->at(state->network->now() + gap, [state, index](base::Time) {
    if (state->silenced) return;
    auto& self = state->senders[index];
    const base::Rank src = self.gpus[self.random.below(self.gpus.size())];
    send(state, index, src, random_peer(*state->fabric, src, self.random));
    schedule_next(state, index);
  });
}

// One message after the other until the burst is over.
template <class State>
void burst_on(const std::shared_ptr<State>& state, std::size_t index) {
  if (state->silenced || state->network->now() >= state->burst_end) return;
  auto& self = state->senders[index];
  send(state, index, self.gpus.front(), self.destination);
  state->network->at(state->network->now() + base::Time::seconds(self.mean_gap_s),
                     [state, index](base::Time) { burst_on(state, index); });
}

template <class State>
void schedule_burst(const std::shared_ptr<State>& state, base::Time left);

template <class State>
void begin_burst(const std::shared_ptr<State>& state, base::Time length) {
  if (state->silenced) return;
  const base::Time now = state->network->now();
  state->burst_end = now + length;
  for (std::size_t i = 0; i < state->senders.size(); ++i) {
    auto& sender = state->senders[i];
    if (sender.gpus.empty()) continue;
    sender.destination = random_peer(*state->fabric, sender.gpus.front(), sender.random);
    burst_on(state, i);
  }
  schedule_burst(state, length);
}

// The next burst, when the one that has `left` to go is over.
template <class State>
void schedule_burst(const std::shared_ptr<State>& state, base::Time left) {
  const double load = state->spec.load;
  const double silence_s = state->spec.burst.s() * (1 - load) / load;
  const base::Time gap = base::Time::seconds(state->tenant.exponential(silence_s));
  state->network->at(state->network->now() + left + gap,
                     [state](base::Time) { begin_burst(state, state->spec.burst); });
}

// A tenant has been at work for ever: within a burst, or between two of them.
template <class State>
void enter_tenant(const std::shared_ptr<State>& state) {
  if (state->tenant.uniform() < state->spec.load) {
    begin_burst(state, base::Time::seconds(state->spec.burst.s() * state->tenant.uniform()));
  } else {
    schedule_burst(state, {});
  }
}

}  // namespace

BackgroundTraffic::BackgroundTraffic(Network& network, const fabric::Fabric& fabric,
                                     BackgroundSpec spec, std::uint64_t seed)
    : state_(std::make_shared<State>()) {
  check(spec);
  state_->network = &network;
  state_->fabric = &fabric;
  state_->spec = spec;
  state_->tenant = base::RandomStream(seed, "tenant");
  const bool tenant = spec.burst > base::Time();
  if (spec.load <= 0 || fabric.spec().nodes < 2) return;
  const auto endpoints = static_cast<std::uint32_t>(fabric.endpoints());
  for (std::uint32_t e = 0; e < endpoints; ++e) {
    const base::Rate rate = fabric.port(fabric.endpoint_port(fabric::EndpointId(e))).rate;
    const double bits = static_cast<double>(spec.message.count()) * 8;
    state_->senders.push_back({base::RandomStream(seed, "background", e),
                               {},
                               bits / ((tenant ? 1 : spec.load) * static_cast<double>(rate.bps())),
                               {}});
  }
  for (std::uint32_t gpu = 0; gpu < static_cast<std::uint32_t>(fabric.gpus()); ++gpu) {
    state_->senders[fabric.endpoint_of(base::Rank(gpu)).index()].gpus.emplace_back(gpu);
  }
  if (tenant) {
    enter_tenant(state_);
    return;
  }
  // An adapter that no GPU uses has nobody to send for.
  for (std::size_t i = 0; i < state_->senders.size(); ++i) {
    if (!state_->senders[i].gpus.empty()) schedule_next(state_, i);
  }
}

BackgroundTraffic::~BackgroundTraffic() {
  state_->silenced = true;
}

}  // namespace fabricast::network
