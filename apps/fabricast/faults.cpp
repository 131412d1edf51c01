#include "faults.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace fabricast::apps {
namespace {

using Kind = packet::Fault::Kind;

Kind kind_of(const std::string& name) {
  if (name == "degraded") return Kind::kDegraded;
  if (name == "bit-errors") return Kind::kBitErrors;
  if (name == "slow-adapter") return Kind::kSlowAdapter;
  if (name == "pause-storm") return Kind::kPauseStorm;
  if (name == "no-pfc") return Kind::kNoPfc;
  if (name == "no-ecn") return Kind::kNoEcn;
  return Kind::kLinkDown;
}

/// The mechanism that a fault of this kind needs and the profile lacks; null when it lacks none.
const char* lacking(Kind kind, const catalog::FabricProfile& profile) {
  if ((kind == Kind::kPauseStorm || kind == Kind::kNoPfc) && !profile.pfc.enabled) return "PFC";
  if (kind == Kind::kNoEcn && !profile.ecn.enabled) return "ECN";
  return nullptr;
}

fabric::PortId port_of(const scenario::ValidScenario& scenario, std::size_t i, std::size_t choice,
                       const fabric::Fabric& fabric) {
  const scenario::Fault& fault = scenario.faults[i];
  if (const auto port = fabric.port_named(fault.link)) return *port;
  std::string found = base::quote(fault.link);
  if (scenario.fabrics.size() > 1) {
    found += fmt::format(", which `{}` does not have", scenario.fabrics[choice].profile.name);
  }
  throw base::input_error(
      scenario.where(fmt::format("faults[{}].link", i)), found,
      fmt::format("a device of the fabric and one of its ports, such as `{}`",
                  fabric.port_name(fabric.port(fabric.endpoint_port(fabric::EndpointId(0))).peer)));
}

/// A fault that could not happen there is told, and not left without an effect.
void check_fault(const scenario::ValidScenario& scenario, std::size_t i, std::size_t choice,
                 const fabric::Fabric& fabric, fabric::PortId port) {
  const scenario::Fault& fault = scenario.faults[i];
  const Kind kind = kind_of(fault.kind);
  const auto refuse = [&](std::string_view key, const std::string& found,
                          const std::string& works) {
    throw base::input_error(scenario.where(fmt::format("faults[{}].{}", i, key)), found, works);
  };
  const auto is_switch = [&](fabric::PortId p) {
    return fabric.device(fabric.port(p).device).kind == fabric::DeviceKind::kSwitch;
  };
  const bool from_the_start = kind == Kind::kNoPfc || kind == Kind::kNoEcn;
  const bool of_adapter = kind == Kind::kSlowAdapter || kind == Kind::kPauseStorm;
  const std::string name = "`" + fault.kind + "`";
  if (of_adapter && is_switch(port) && is_switch(fabric.port(port).peer)) {
    refuse("link", base::quote(fault.link) + " between two switches", "a link of an adapter");
  }
  if (from_the_start && !is_switch(port)) {
    refuse("link", base::quote(fault.link) + ", a port of an adapter", "a port of a switch");
  }
  if (const char* mechanism = lacking(kind, scenario.fabrics[choice].profile)) {
    refuse("kind", fmt::format("{} on a fabric without {}", name, mechanism),
           fmt::format("another kind, or a fabric with {}", mechanism));
  }
  if (from_the_start && (fault.at_ms != 0 || fault.for_ms != 0)) {
    refuse(fault.at_ms != 0 ? "at_ms" : "for_ms", "a time of " + name,
           "none: the switch is so from the start");
  }
}

packet::Fault played(const scenario::Fault& fault, fabric::PortId port) {
  packet::Fault result;
  result.kind = kind_of(fault.kind);
  result.port = port;
  result.at = base::Time::seconds(fault.at_ms * 1e-3);
  result.duration = base::Time::seconds(fault.for_ms * 1e-3);
  result.value = fault.value;
  return result;
}

}  // namespace

packet::Faults faults_of(const scenario::ValidScenario& scenario, std::size_t choice,
                         const fabric::Fabric& fabric) {
  packet::Faults faults;
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const fabric::PortId port = port_of(scenario, i, choice, fabric);
    check_fault(scenario, i, choice, fabric, port);
    faults.schedule.push_back(played(scenario.faults[i], port));
  }
  return faults;
}

packet::Faults standing_faults_of(const scenario::ValidScenario& scenario, std::size_t choice,
                                  const fabric::Fabric& fabric, bool quiet) {
  packet::Faults faults;
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const Kind kind = kind_of(scenario.faults[i].kind);
    const auto without = [&](const scenario::FabricChoice& c) {
      return lacking(kind, c.profile) != nullptr;
    };
    if (without(scenario.fabrics[choice]) && !std::ranges::all_of(scenario.fabrics, without)) {
      if (!quiet) {
        std::fprintf(stderr, "%s: note: `%s` has no %s, so that `%s` changes nothing there\n",
                     scenario.where(fmt::format("faults[{}]", i)).text().c_str(),
                     scenario.fabrics[choice].profile.name.c_str(),
                     lacking(kind, scenario.fabrics[choice].profile),
                     scenario.faults[i].kind.c_str());
      }
      continue;
    }
    const fabric::PortId port = port_of(scenario, i, choice, fabric);
    check_fault(scenario, i, choice, fabric, port);
    faults.schedule.push_back(played(scenario.faults[i], port));
    faults.schedule.back().settled = true;
  }
  return faults;
}

}  // namespace fabricast::apps
