#include "advice/designs.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "cost/prices.h"

namespace fabricast::advice {
namespace {

using base::yaml::Node;
using catalog::FabricKind;
using catalog::LinkLayer;
using fabric::TopologyKind;

constexpr double kSpeeds[] = {800, 400, 200, 100};  // Gb/s of an adapter, on sale
// What reaches the adapters of an Ethernet that was not built for GPUs (assumed).
constexpr double kExistingGbps = 100;
constexpr const char* kExistingSwitch = "sn2700";
// Above it a slot holds its adapter back by less than headers do.
constexpr double kSlotShare = 0.9;

/// One wish of a topology.
struct Wiring {
  TopologyKind kind = TopologyKind::kLeafSpine;
  double oversubscription = 1;
};

// A leaf-spine that fits on one switch is one switch.
constexpr Wiring kWirings[] = {{TopologyKind::kDirect, 1},        {TopologyKind::kLeafSpine, 1},
                               {TopologyKind::kLeafSpine, 2},     {TopologyKind::kLeafSpine, 4},
                               {TopologyKind::kRailOptimised, 1}, {TopologyKind::kRailOptimised, 2},
                               {TopologyKind::kRailOnly, 1}};

/// A fabric in question: what stands under `fabrics`, and what it is made of.
struct Tuning {
  Node entry;  ///< a mapping with `profile`
  catalog::FabricProfile profile;
};

Node scalar(const std::string& text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.scalar = text;
  return node;
}

Node mapping() {
  Node node;
  node.kind = Node::Kind::kMapping;
  return node;
}

void set(Node& map, const std::string& key, Node value) {
  value.where.key = map.where.key.empty() ? key : map.where.key + "." + key;
  for (auto& [name, old] : map.entries) {
    if (name != key) continue;
    value.where.file = old.where.file;
    value.where.line = old.where.line;
    value.where.column = old.where.column;
    old = std::move(value);
    return;
  }
  map.entries.emplace_back(key, std::move(value));
}

Node& child(Node& map, const std::string& key) {
  for (auto& [name, value] : map.entries) {
    if (name == key) return value;
  }
  throw base::failure("a scenario without `" + key + "`");
}

LinkLayer layer_of(FabricKind kind) {
  return kind == FabricKind::kInfiniBand ? LinkLayer::kInfiniBand : LinkLayer::kEthernet;
}

bool article(const std::string& id) {
  return id.starts_with("article-");
}

std::string speed(double gbps) {
  return fmt::format("{:g}G", gbps);
}

class Search {
 public:
  Search(const catalog::Catalog& catalog, const SearchSpace& space)
      : catalog_(catalog),
        space_(space),
        asked_(scenario::from_document(space.document, space.file, catalog, space.overrides)),
        currency_(asked_.budget ? asked_.budget->currency : "CNY") {}

  std::vector<Candidate> run() {
    if (space_.profiles_given) as_asked();
    for (const Tuning& tuning : tunings()) {
      for (const double gbps : kSpeeds) {
        if (!worth_trying(tuning, gbps)) continue;
        for (const Wiring& wiring : kWirings) try_wiring(tuning, gbps, wiring);
      }
    }
    if (asked_.constraints.existing_ethernet) existing();
    drop_what_is_dearer();
    return std::move(found_);
  }

 private:
  /// Fabrics in question.
  std::vector<Tuning> tunings() const {
    std::vector<Tuning> result;
    const Node* fabrics = space_.document.find("fabrics");
    for (std::size_t i = 0; i < asked_.fabrics.size(); ++i) {
      Node entry = fabrics->items[i];
      if (entry.kind == Node::Kind::kScalar) {
        Node map = mapping();
        set(map, "profile", scalar(entry.scalar));
        entry = std::move(map);
      }
      result.push_back({entry, asked_.fabrics[i].profile});
    }
    if (space_.profiles_given) return result;
    for (const char* id : {"infiniband", "infiniband-adaptive", "roce-v2-untuned", "roce-v2",
                           "roce-v2-adaptive", "tcp"}) {
      const bool there =
          std::ranges::any_of(result, [&](const Tuning& t) { return t.profile.id == id; });
      if (there) continue;
      Node entry = mapping();
      set(entry, "profile", scalar(id));
      result.push_back({std::move(entry), catalog_.fabric(id)});
    }
    return result;
  }

  /// The scenario's own fabrics, as they are.
  void as_asked() {
    for (std::size_t i = 0; i < asked_.fabrics.size(); ++i) {
      Node document = space_.document;
      Node& fabrics = child(document, "fabrics");
      Node entry = fabrics.items[i];
      fabrics.items = {std::move(entry)};
      const scenario::FabricChoice& choice = asked_.fabrics[i];
      Candidate candidate;
      candidate.name = choice.profile.name;
      candidate.profile = choice.profile.name;
      candidate.kind = choice.profile.kind;
      candidate.topology = fabric::name_of(choice.topology.kind);
      candidate.oversubscription = choice.topology.oversubscription;
      candidate.nic_gbps = choice.topology.nic_rate.gbps();
      candidate.network_switch = choice.network_switch.id;
      candidate.adapter = choice.adapter.id;
      candidate.owned = choice.owned;
      candidate.document = std::move(document);
      candidate.asked = true;
      candidate.reason = {"as the scenario has it", "方案中所列"};
      admit(std::move(candidate));
    }
  }

  /// Sockets gain nothing from links that a host's cores cannot fill.
  bool worth_trying(const Tuning& tuning, double gbps) const {
    return tuning.profile.kind != FabricKind::kTcp || gbps == kExistingGbps;
  }

  bool fits(const catalog::Adapter& adapter, LinkLayer layer, double gbps,
            const catalog::FabricProfile& profile) const {
    return std::ranges::find(adapter.link_layers, layer) != adapter.link_layers.end() &&
           adapter.port_gbps >= gbps &&
           (!article(adapter.id) || adapter.id == profile.adapter_model);
  }

  /// The cheapest adapter of that rate; where routing is adaptive, the profile's own, which puts
  /// packets in order.
  const catalog::Adapter* adapter_for(const catalog::FabricProfile& profile, double gbps) const {
    const LinkLayer layer = layer_of(profile.kind);
    const catalog::Adapter* best = nullptr;
    for (const catalog::Adapter& adapter : catalog_.adapters()) {
      if (!fits(adapter, layer, gbps, profile)) continue;
      if (adaptive(profile) && layer == LinkLayer::kEthernet &&
          adapter.id != profile.adapter_model) {
        continue;
      }
      if (best == nullptr || price(adapter.id) < price(best->id)) best = &adapter;
    }
    return best;
  }

  static bool adaptive(const catalog::FabricProfile& profile) {
    return profile.paths.routing == catalog::Routing::kAdaptive;
  }

  double price(const std::string& id) const { return cost::price_in(catalog_, id, currency_); }

  std::vector<const catalog::Switch*> switches_for(const catalog::FabricProfile& profile,
                                                   double gbps) const {
    std::vector<const catalog::Switch*> result;
    for (const catalog::Switch& s : catalog_.switches()) {
      if (s.link_layer != layer_of(profile.kind) || s.port_gbps < gbps) continue;
      if (article(s.id) && s.id != profile.switch_model) continue;
      const double split = s.port_gbps / gbps;
      if (split != 1 && split != 2 && split != 4) continue;
      if (adaptive(profile) && !s.adaptive_routing) continue;
      result.push_back(&s);
    }
    return result;
  }

  void try_wiring(const Tuning& tuning, double gbps, const Wiring& wiring) {
    const int nodes = asked_.cluster.topology.nodes;
    if (wiring.kind == TopologyKind::kDirect && nodes != 2) return;
    if (nodes == 1 && (wiring.kind != TopologyKind::kLeafSpine || wiring.oversubscription != 1))
      return;
    const catalog::Adapter* adapter = adapter_for(tuning.profile, gbps);
    const auto switches = switches_for(tuning.profile, gbps);
    if (adapter == nullptr || switches.empty()) return;  // not on sale at that rate
    for (const catalog::Switch* s : switches) {
      add(tuning, gbps, wiring, *s, *adapter, false);
      if (wiring.kind == TopologyKind::kDirect) break;  // it has no switch
    }
  }

  void add(const Tuning& tuning, double gbps, const Wiring& wiring, const catalog::Switch& s,
           const catalog::Adapter& adapter, bool owned) {
    Candidate candidate;
    candidate.kind = tuning.profile.kind;
    candidate.profile = tuning.profile.name;
    candidate.topology = fabric::name_of(wiring.kind);
    candidate.oversubscription = wiring.oversubscription;
    candidate.nic_gbps = gbps;
    candidate.adapter = adapter.id;
    candidate.owned = owned;
    if (wiring.kind != TopologyKind::kDirect) candidate.network_switch = s.id;
    candidate.name = fmt::format("{} {} {}", tuning.profile.name, speed(gbps),
                                 owned ? "existing Ethernet" : candidate.topology);
    if (wiring.oversubscription != 1) {
      candidate.name += fmt::format(" {:g}:1", wiring.oversubscription);
    }

    Node entry = tuning.entry;
    set(entry, "name", scalar(candidate.name));
    set(entry, "switch", scalar(s.id));
    set(entry, "adapter", scalar(adapter.id));
    if (owned) set(entry, "owned", scalar("true"));
    candidate.document = space_.document;
    child(candidate.document, "fabrics").items = {std::move(entry)};
    Node& cluster = child(candidate.document, "cluster");
    set(cluster, "nic_gbps", scalar(fmt::format("{:g}", gbps)));
    set(cluster, "topology", topology(wiring));
    admit(std::move(candidate));
  }

  Node topology(const Wiring& wiring) const {
    Node node = mapping();
    set(node, "kind", scalar(std::string(fabric::name_of(wiring.kind))));
    set(node, "oversubscription", scalar(fmt::format("{:g}", wiring.oversubscription)));
    set(node, "cable_m", scalar(fmt::format("{}", asked_.cluster.topology.cable_m)));
    return node;
  }

  /// The Ethernet that is there: switches and cables cost nothing, adapters do.
  void existing() {
    for (const Tuning& tuning : tunings()) {
      if (layer_of(tuning.profile.kind) != LinkLayer::kEthernet || adaptive(tuning.profile))
        continue;
      const catalog::Adapter* adapter = adapter_for(tuning.profile, kExistingGbps);
      if (adapter == nullptr) continue;
      add(tuning, kExistingGbps, {TopologyKind::kLeafSpine, 1},
          catalog_.network_switch(kExistingSwitch), *adapter, true);
    }
  }

  /// Checks, sizes and bills it; what is in the way is its reason.
  void admit(Candidate candidate) {
    try {
      scenario::ValidScenario built =
          scenario::from_document(candidate.document, space_.file, catalog_, space_.overrides);
      scenario::require_simulated(built);
      const fabric::Fabric fabric = fabric::build(built.fabrics.front().topology);
      candidate.sizing = fabric.sizing();
      candidate.bill =
          cost::bill_of_materials(catalog_, build_inputs(built, built.fabrics.front(), fabric));
      if (one_switch(candidate.sizing) && !candidate.owned && !candidate.asked) {
        name(candidate, built);
      }
      Text against = objection(built);
      if (against.en.empty()) {
        candidate.scenario = std::move(built);
      } else {
        candidate.reason = std::move(against);
      }
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::kInput) throw;
      candidate.reason = {error.message(), "无法建成：" + error.message()};
    }
    found_.push_back(std::move(candidate));
  }

  static bool one_switch(const fabric::Sizing& sizing) {
    return sizing.tiers == 1 && sizing.leaves == 1;
  }

  /// What was wished for as leaves and spines came out as one switch.
  void name(Candidate& candidate, scenario::ValidScenario& built) const {
    candidate.name = fmt::format("{} {} one switch", candidate.profile, speed(candidate.nic_gbps));
    built.fabrics.front().profile.name = candidate.name;
    set(child(candidate.document, "fabrics").items.front(), "name", scalar(candidate.name));
  }

  /// What the constraints have against a network that can be built; empty when nothing.
  Text objection(const scenario::ValidScenario& built) const {
    const fabric::TopologySpec& spec = built.fabrics.front().topology;
    const double slot = built.cluster.host.slot.packets_gbps(built.cluster.host.slot.lanes);
    if (slot < kSlotShare * spec.nic_rate.gbps()) {
      return {fmt::format("an adapter of {:g} Gb/s in slots {} that carry {:.0f}",
                          spec.nic_rate.gbps(), built.cluster.host.slot.id, slot),
              fmt::format("{:g} Gb/s 的网卡超出插槽 {} 的 {:.0f} Gb/s", spec.nic_rate.gbps(),
                          built.cluster.host.slot.id, slot)};
    }
    const int growth = asked_.constraints.growth_gpus;
    if (growth <= asked_.cluster.gpus) return {};
    fabric::TopologySpec grown = spec;
    grown.nodes = (growth - 1) / spec.gpus_per_node + 1;
    try {
      fabric::size(grown);
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::kInput) throw;
      return {fmt::format("does not grow to {} GPUs: {}", growth, error.message()),
              fmt::format("无法扩展到 {} 张 GPU：{}", growth, error.message())};
    }
    return {};
  }

  /// Of networks that differ in the model of their switches alone, or in a wiring that comes to the
  /// same one switch, the cheapest stays.
  void drop_what_is_dearer() {
    using Class = std::tuple<std::string, double, std::string, double, bool>;
    std::vector<Candidate> kept;
    std::vector<std::pair<Class, std::size_t>> classes;
    for (Candidate& candidate : found_) {
      const bool one = one_switch(candidate.sizing);
      const Class mine{candidate.profile, candidate.nic_gbps,
                       one ? "one switch" : candidate.topology,
                       one ? 1 : candidate.oversubscription, candidate.owned};
      const auto same = std::ranges::find(classes, mine, &std::pair<Class, std::size_t>::first);
      if (candidate.asked || same == classes.end()) {
        if (!candidate.asked) classes.emplace_back(mine, kept.size());
        kept.push_back(std::move(candidate));
        continue;
      }
      Candidate& rival = kept[same->second];
      const bool better = candidate.scenario && (!rival.scenario || candidate.bill.network_capex <
                                                                        rival.bill.network_capex);
      if (better) rival = std::move(candidate);
    }
    found_ = std::move(kept);
  }

  const catalog::Catalog& catalog_;
  const SearchSpace& space_;
  scenario::ValidScenario asked_;
  std::string currency_;
  std::vector<Candidate> found_;
};

}  // namespace

cost::BuildInputs build_inputs(const scenario::ValidScenario& scenario,
                               const scenario::FabricChoice& choice, const fabric::Fabric& fabric) {
  cost::BuildInputs inputs;
  inputs.fabric = &fabric;
  inputs.gpu = scenario.cluster.gpu;
  inputs.adapter = choice.adapter;
  inputs.network_switch = choice.network_switch;
  inputs.racks = scenario.cluster.racks;
  inputs.owned = choice.owned;
  if (scenario.budget) inputs.currency = scenario.budget->currency;
  return inputs;
}

std::vector<Candidate> candidates(const catalog::Catalog& catalog, const SearchSpace& space) {
  return Search(catalog, space).run();
}

}  // namespace fabricast::advice
