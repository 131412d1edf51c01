#include "flow_level.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "collective/choice.h"
#include "commands.h"
#include "flow/calibrate.h"
#include "flow/flow_network.h"
#include "packet/packet_network.h"
#include "store/program.h"

namespace fabricast::apps {
namespace {

constexpr const char* kKind = "flow calibration";

/// None when one of them is beyond flows.
std::optional<std::vector<flow::LinkFault>> link_faults(const packet::Faults& faults) {
  std::vector<flow::LinkFault> result;
  for (const packet::Fault& fault : faults.schedule) {
    const bool down = fault.kind == packet::Fault::Kind::kLinkDown;
    if (!down && fault.kind != packet::Fault::Kind::kDegraded) return std::nullopt;
    result.push_back({fault.port, fault.at, fault.duration, down ? 0 : fault.value, fault.settled});
  }
  return result;
}

/// What the store knows; a file that cannot be used is like none.
std::optional<flow::Behaviour> remembered(const store::Store* store, const std::string& key) {
  if (store == nullptr) return std::nullopt;
  try {
    if (const auto text = store->get(kKind, key)) return flow::behaviour_of(*text);
  } catch (const base::Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

/// A store that cannot be written is told of when the result is kept.
void remember(store::Store* store, const std::string& key, const flow::Behaviour& behaviour) {
  if (store == nullptr) return;
  try {
    store->put(kKind, key, flow::to_text(behaviour));
  } catch (const base::Error&) {
    return;
  }
}

}  // namespace

std::shared_ptr<const flow::Behaviour> Lessons::of(const std::string& key,
                                                   const std::function<flow::Behaviour()>& learn) {
  const std::lock_guard lock(mutex_);
  auto& known = known_[key];
  if (known) return known;
  const std::string of_this_build = store::build_id() + " " + key;
  std::optional<flow::Behaviour> behaviour = remembered(store_, of_this_build);
  if (!behaviour) {
    behaviour = learn();
    remember(store_, of_this_build, *behaviour);
  }
  known = std::make_shared<const flow::Behaviour>(std::move(*behaviour));
  return known;
}

void require_flow_level(const scenario::ValidScenario& scenario) {
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const std::string& kind = scenario.faults[i].kind;
    if (kind == "down" || kind == "degraded") continue;
    throw base::input_error(scenario.where(fmt::format("faults[{}].kind", i)),
                            base::quote(kind) + " beside `--resolution flow`",
                            "`--resolution packet` with it");
  }
}

std::function<network::Factory(double load)> flow_level(
    const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
    std::shared_ptr<const fabric::Fabric> fabric, const packet::Faults& faults, Lessons* lessons) {
  const auto cables = link_faults(faults);
  if (!cables) return {};
  const network::NodeLinkSpec inside = collective::node_links(scenario.cluster.gpu);
  const catalog::FabricProfile& profile = choice.profile;
  return [=, fabric = std::move(fabric)](double load) {
    const auto packets = [&](std::shared_ptr<const fabric::Fabric> small, std::uint64_t seed) {
      return packet::make_network(std::move(small), profile, inside, seed);
    };
    const auto learn = [&] { return flow::calibrate(*fabric, profile, packets); };
    Lessons of_its_own(nullptr);
    const auto behaviour = (lessons != nullptr ? *lessons : of_its_own)
                               .of(flow::calibration_key(*fabric, profile), learn);
    return flow::factory(fabric, profile, inside, behaviour, *cables, load);
  };
}

}  // namespace fabricast::apps
