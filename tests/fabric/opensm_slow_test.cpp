// Our forwarding tables against those of the real OpenSM, which manages the same fabric simulated
// by ibsim: entry for entry, for its engines ftree, updn (roots given) and minhop with its
// defaults.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "fabric/forwarding.h"
#include "fabric/routes.h"
#include "specs.h"

namespace fabricast::fabric {
namespace {

using namespace base::literals;
using Guid = std::uint64_t;

/// OpenSM keeps GUIDs in network order and compares them as they lie in memory, so on a
/// little-endian machine the last byte counts most. This GUID makes its order that of the devices.
Guid guid_of(std::uint32_t device) {
  const std::uint64_t in_memory = (std::uint64_t{device} + 1) << 16 | 2;
  return __builtin_bswap64(in_memory);
}

/// ibsim numbers the ports of an adapter on from its node.
Guid port_guid_of(std::uint32_t adapter) {
  return guid_of(adapter) + 1;
}

std::string hex(Guid guid) {
  std::ostringstream text;
  text << "0x" << std::hex << guid;
  return text.str();
}

class NetFile {
 public:
  NetFile(const Fabric& fabric, const std::vector<PortId>& failed) : fabric_(fabric) {
    for (const PortId port : failed) {
      down_.insert(port.index());
      down_.insert(fabric.port(port).peer.index());
    }
  }

  /// The format of ibnetdiscover, which ibsim reads. Adapters first: the subnet manager sits on the
  /// first port of the file.
  void write(const std::filesystem::path& path) const {
    std::ofstream out(path);
    const auto count = static_cast<std::uint32_t>(fabric_.devices().size());
    for (const DeviceKind kind : {DeviceKind::kAdapter, DeviceKind::kSwitch}) {
      for (std::uint32_t d = 0; d < count; ++d) {
        if (fabric_.devices()[d].kind == kind) write_device(out, d);
      }
    }
  }

 private:
  void write_device(std::ostream& out, std::uint32_t index) const {
    const Device& device = fabric_.devices()[index];
    const bool adapter = device.kind == DeviceKind::kAdapter;
    out << "vendid=0x2c9\ndevid=" << (adapter ? "0x1021" : "0xd2f2") << '\n'
        << (adapter ? "caguid=" : "switchguid=") << hex(guid_of(index)) << '\n'
        << (adapter ? "Ca" : "Switch") << '\t' << device.port_count << " \"N" << index << "\"\t# \""
        << device.name << '"' << (adapter ? "" : " base port 0") << '\n';
    for (std::uint32_t local = 0; local < device.port_count; ++local) {
      const std::uint32_t port = device.first_port + local;
      if (down_.contains(port)) continue;
      const PortId peer = fabric_.port(PortId(port)).peer;
      const std::uint32_t other = fabric_.port(peer).device.index();
      out << '[' << local + 1 << ']';
      if (adapter) out << '(' << hex(port_guid_of(index)) << ')';
      out << "\t\"N" << other << "\"[" << peer.index() - fabric_.devices()[other].first_port + 1
          << "]\t# lid 0 4xEDR\n";
    }
    out << '\n';
  }

  const Fabric& fabric_;
  std::set<std::uint32_t> down_;
};

void write_roots(const Fabric& fabric, const std::filesystem::path& path) {
  std::ofstream out(path);
  for (std::uint32_t d = 0; d < fabric.devices().size(); ++d) {
    if (fabric.devices()[d].tier == fabric.sizing().tiers) out << hex(guid_of(d)) << '\n';
  }
}

/// Port number by switch and destination; 0xff: none.
using OpenSmTables = std::map<Guid, std::map<Guid, int>>;

OpenSmTables read_dump(const std::filesystem::path& path) {
  const std::regex heading("Unicast lids .* guid (0x[0-9a-f]+) .*");
  const std::regex entry("0x[0-9a-f]+ ([0-9]+) # Channel Adapter portguid (0x[0-9a-f]+): .*");
  OpenSmTables tables;
  std::map<Guid, int>* table = nullptr;
  std::ifstream in(path);
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, heading)) {
      table = &tables[std::stoull(match[1], nullptr, 16)];
    } else if (table != nullptr && std::regex_match(line, match, entry)) {
      (*table)[std::stoull(match[2], nullptr, 16)] = std::stoi(match[1]);
    }
  }
  return tables;
}

std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct OpenSm {
  std::string engine;  ///< the one that filled the tables in the end
  OpenSmTables tables;
};

OpenSm ask_opensm(const Fabric& fabric, const std::vector<PortId>& failed, RoutingEngine engine) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "fabricast-opensm-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return {};
  const std::filesystem::path directory(folder);
  NetFile(fabric, failed).write(directory / "net");
  write_roots(fabric, directory / "roots");
  const std::string command = std::string(FABRICAST_SOURCE_DIR) + "/tests/fabric/opensm.sh " +
                              folder + " " + std::string(name_of(engine));
  OpenSm result;
  if (std::system(command.c_str()) == 0) {
    std::smatch match;
    const std::string log = read_text(directory / "osm.log");
    const std::regex done("([a-z]+) tables configured on all switches");
    if (std::regex_search(log, match, done)) result.engine = match[1];
    result.tables = read_dump(directory / "opensm-lfts.dump");
  }
  std::filesystem::remove_all(directory);
  return result;
}

/// Entries that differ, of the switches that OpenSM has seen.
int differences(const Fabric& fabric, const ForwardingTables& ours, const OpenSmTables& theirs) {
  int differing = 0;
  for (std::uint32_t d = 0; d < fabric.devices().size(); ++d) {
    const Device& device = fabric.devices()[d];
    const auto table = theirs.find(guid_of(d));
    if (device.kind != DeviceKind::kSwitch || table == theirs.end()) continue;
    for (int e = 0; e < fabric.endpoints(); ++e) {
      const std::uint32_t adapter = fabric.port(fabric.endpoint_port(endpoint(e))).device.index();
      const auto entry = table->second.find(port_guid_of(adapter));
      const int they = entry == table->second.end() ? 255 : entry->second;
      const PortId port = ours.egress(DeviceId(d), endpoint(e));
      const int we = port.valid() ? static_cast<int>(port.index() - device.first_port) + 1 : 255;
      if (we == they) continue;
      if (++differing <= 5) {
        ADD_FAILURE() << device.name << " to endpoint " << e << ": we " << we << ", they " << they;
      }
    }
  }
  return differing;
}

/// The last cable from a switch of `tier` up to the next, of the first switch of that tier.
PortId cable_above(const Fabric& fabric, unsigned tier) {
  for (const Device& device : fabric.devices()) {
    if (device.tier == tier) return PortId(device.first_port + device.port_count - 1);
  }
  return PortId::none();
}

struct Case {
  std::string name;
  TopologySpec spec;
};

void PrintTo(const Case& c, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << c.name;
}

std::vector<Case> cases() {
  // Two scalable units, the second a quarter full: leaves with 32 and with 8 adapters.
  TopologySpec rails = spec_of(TopologyKind::kRailOptimised, 40, 8, 64);
  rails.scalable_unit_nodes = 32;
  return {{"LeafSpine16", spec_of(TopologyKind::kLeafSpine, 16, 1, 8)},
          {"FatTree16", spec_of(TopologyKind::kFatTree, 16, 1, 4)},
          {"LeafSpine128", spec_of(TopologyKind::kLeafSpine, 128, 1, 16)},
          {"FatTree128", spec_of(TopologyKind::kFatTree, 128, 1, 8)},
          {"ThreeTierRails112", spec_of(TopologyKind::kRailOptimised, 28, 4, 8)},
          {"TwoTierRails320", rails},
          {"LeafSpine1024", spec_of(TopologyKind::kLeafSpine, 1024, 1, 64)},
          {"FatTree1024", spec_of(TopologyKind::kFatTree, 1024, 1, 16)}};
}

std::vector<Case> three_tier_cases() {
  std::vector<Case> chosen = cases();
  std::erase_if(chosen, [](const Case& c) { return size(c.spec).tiers < 3; });
  return chosen;
}

/// What OpenSM calls the engine in its log.
std::string opensm_name(RoutingEngine engine) {
  return std::string(
      name_of(engine == RoutingEngine::kFatTreeRoots ? RoutingEngine::kFatTree : engine));
}

class OpenSmTest : public testing::TestWithParam<std::tuple<Case, RoutingEngine>> {
 protected:
  void SetUp() override {
    const char* installed =
        "PATH=$PATH:/usr/sbin; for tool in opensm ibsim ibsim-run; do"
        " command -v $tool >/dev/null || exit 1; done";
    if (std::system(installed) != 0) {
      GTEST_SKIP() << "opensm and ibsim are not installed";
    }
  }

  static Fabric fabric() { return build(std::get<0>(GetParam()).spec); }

  static ForwardingTables expect_agreement(const Fabric& fabric,
                                           const std::vector<PortId>& failed) {
    const RoutingEngine engine = std::get<1>(GetParam());
    ForwardingTables ours = forwarding(fabric, engine, failed);
    const OpenSm theirs = ask_opensm(fabric, failed, engine);
    EXPECT_FALSE(theirs.tables.empty());
    EXPECT_EQ(opensm_name(ours.engine()), theirs.engine) << ours.fallback();
    EXPECT_EQ(differences(fabric, ours, theirs.tables), 0);
    return ours;
  }
};
class OpenSmThreeTierTest : public OpenSmTest {};

TEST_P(OpenSmTest, WholeFabric) {
  const Fabric whole = fabric();
  const ForwardingTables tables = expect_agreement(whole, {});
  EXPECT_EQ(name_of(tables.engine()), name_of(std::get<1>(GetParam())));
  EXPECT_TRUE(all_pairs_reachable(whole, tables));
}

TEST_P(OpenSmTest, OneLeafSpineCableDown) {
  const Fabric whole = fabric();
  EXPECT_TRUE(all_pairs_reachable(whole, expect_agreement(whole, {cable_above(whole, 1)})));
}

TEST_P(OpenSmThreeTierTest, OneSpineCoreCableDown) {
  const Fabric whole = fabric();
  EXPECT_TRUE(all_pairs_reachable(whole, expect_agreement(whole, {cable_above(whole, 2)})));
}

// Far from a tree: detours, switches without a way up, pairs that up/down cannot join.
TEST_P(OpenSmTest, EveryFifthCableBetweenSwitchesDown) {
  const Fabric whole = fabric();
  std::vector<PortId> failed;
  int cables = 0;
  for (std::uint32_t p = 0; p < whole.ports().size(); ++p) {
    const Device& lower = whole.device(whole.port(PortId(p)).device);
    const Device& upper = whole.device(whole.port(whole.port(PortId(p)).peer).device);
    if (lower.tier == 0 || upper.tier <= lower.tier) continue;
    if (++cables % 5 == 0) failed.emplace_back(p);
  }
  expect_agreement(whole, failed);
}

std::string name_of_run(const testing::TestParamInfo<OpenSmTest::ParamType>& run) {
  std::string engine(name_of(std::get<1>(run.param)));
  std::ranges::replace(engine, '-', '_');
  return std::get<0>(run.param).name + "_" + engine;
}

const auto kEngines = testing::Values(RoutingEngine::kFatTree, RoutingEngine::kFatTreeRoots,
                                      RoutingEngine::kUpDown, RoutingEngine::kMinHop);
INSTANTIATE_TEST_SUITE_P(Sizes, OpenSmTest, testing::Combine(testing::ValuesIn(cases()), kEngines),
                         name_of_run);
INSTANTIATE_TEST_SUITE_P(Sizes, OpenSmThreeTierTest,
                         testing::Combine(testing::ValuesIn(three_tier_cases()), kEngines),
                         name_of_run);

}  // namespace
}  // namespace fabricast::fabric
