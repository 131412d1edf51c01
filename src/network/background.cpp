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
    double mean_gap_s = 0;
    int outstanding = 0;
  };

  Network* network = nullptr;
  const fabric::Fabric* fabric = nullptr;
  BackgroundSpec spec;
  std::vector<Sender> senders;
  bool silenced = false;
};

namespace {

template <class State>
void schedule_next(const std::shared_ptr<State>& state, std::size_t index) {
  auto& sender = state->senders[index];
  const base::Time gap = base::Time::seconds(sender.random.exponential(sender.mean_gap_s));
  state->network->at(state->network->now() + gap, [state, index](base::Time) {
    if (state->silenced) return;
    auto& self = state->senders[index];
    const base::Rank src = self.gpus[self.random.below(self.gpus.size())];
    const base::Rank dst = random_peer(*state->fabric, src, self.random);
    if (self.outstanding < kOutstanding) {
      ++self.outstanding;
      state->network->send(src, dst, state->spec.message, {kBackgroundChannel},
                           [state, index](base::Time) { --state->senders[index].outstanding; });
    }
    schedule_next(state, index);
  });
}

}  // namespace

BackgroundTraffic::BackgroundTraffic(Network& network, const fabric::Fabric& fabric,
                                     BackgroundSpec spec, std::uint64_t seed)
    : state_(std::make_shared<State>()) {
  check(spec);
  state_->network = &network;
  state_->fabric = &fabric;
  state_->spec = spec;
  if (spec.load <= 0 || fabric.spec().nodes < 2) return;
  const auto endpoints = static_cast<std::uint32_t>(fabric.endpoints());
  for (std::uint32_t e = 0; e < endpoints; ++e) {
    const base::Rate rate = fabric.port(fabric.endpoint_port(fabric::EndpointId(e))).rate;
    const double bits = static_cast<double>(spec.message.count()) * 8;
    state_->senders.push_back({base::RandomStream(seed, "background", e),
                               {},
                               bits / (spec.load * static_cast<double>(rate.bps()))});
  }
  for (std::uint32_t gpu = 0; gpu < static_cast<std::uint32_t>(fabric.gpus()); ++gpu) {
    state_->senders[fabric.endpoint_of(base::Rank(gpu)).index()].gpus.emplace_back(gpu);
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
