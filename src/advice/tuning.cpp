#include "advice/tuning.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricast::advice {

namespace {

using catalog::FabricProfile;
using catalog::ParameterInfo;

/// The catalogue's profile that is tuned for lossless traffic.
constexpr const char* kTuned = "roce-v2";
/// A line of YAML is broken where it would be wider than a terminal.
constexpr std::size_t kWidest = 78;

struct Group {
  std::string name;
  std::vector<std::string> values;  ///< "kmin_kb: 800"
};

/// All parameters in which `profile` differs from `base`, group by group.
std::vector<Group> differences(const FabricProfile& profile, const FabricProfile& base) {
  std::vector<Group> groups;
  for (const ParameterInfo& info : catalog::fabric_parameters()) {
    if (!catalog::applies(info, profile.kind)) continue;
    const std::string value = catalog::parameter_text(profile, info);
    if (value == catalog::parameter_text(base, info)) continue;
    const std::size_t dot = info.key.find('.');
    const std::string name = info.key.substr(0, dot);
    if (groups.empty() || groups.back().name != name) groups.push_back({name, {}});
    groups.back().values.push_back(info.key.substr(dot + 1) + ": " + value);
  }
  return groups;
}

/// A scalar as YAML: bare where nothing could take it for anything but text.
std::string scalar(const std::string& text) {
  static constexpr const char* kWords[] = {"true", "false", "yes", "no", "on",
                                           "off",  "null",  "y",   "n"};
  const auto lower = [](unsigned char c) { return static_cast<char>(std::tolower(c)); };
  const auto bare = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  std::string word(text.size(), ' ');
  std::ranges::transform(text, word.begin(), lower);
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
      std::ranges::all_of(text, bare) && std::ranges::find(kWords, word) == std::end(kWords)) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// One item of the list of fabrics.
std::string item(const catalog::Catalog& catalog, const FabricProfile& profile) {
  const FabricProfile& base = catalog.fabric(profile.id);
  std::vector<std::string> keys = {"profile: " + scalar(profile.id),
                                   "name: " + scalar(profile.name)};
  if (profile.switch_model != base.switch_model) {
    keys.push_back("switch: " + scalar(profile.switch_model));
  }
  if (profile.adapter_model != base.adapter_model) {
    keys.push_back("adapter: " + scalar(profile.adapter_model));
  }
  std::string flow = fmt::format("  - {{{}}}\n", fmt::join(keys, ", "));
  const std::vector<Group> groups = differences(profile, base);
  if (groups.empty() && flow.size() <= kWidest) return flow;
  std::string text = fmt::format("  - {}\n", fmt::join(keys, "\n    "));
  for (const Group& group : groups) {
    const std::string line =
        fmt::format("    {}: {{{}}}\n", group.name, fmt::join(group.values, ", "));
    text += line.size() <= kWidest ? line
                                   : fmt::format("    {}:\n      {}\n", group.name,
                                                 fmt::join(group.values, "\n      "));
  }
  return text;
}

}  // namespace

// Links, switching, hosts and transport are properties of what was bought: out-of-order placement,
// say, is one of adapters. The rest an operator can set on the hardware that is there.
FabricProfile tuned(const catalog::Catalog& catalog, const FabricProfile& profile) {
  const FabricProfile& model = catalog.fabric(kTuned);
  FabricProfile result = profile;
  result.pfc = model.pfc;
  result.ecn = model.ecn;
  result.dcqcn = model.dcqcn;
  if (profile.congestion.control == catalog::RdmaCongestionControl::kNone) {
    result.congestion = model.congestion;
  }
  // Routing packet by packet spreads a connection already.
  if (profile.paths.routing != catalog::Routing::kAdaptive) result.paths = model.paths;
  return result;
}

bool same_fabric(const FabricProfile& a, const FabricProfile& b) {
  return a.kind == b.kind && a.switch_model == b.switch_model &&
         a.adapter_model == b.adapter_model && differences(a, b).empty();
}

std::string fabrics_yaml(const catalog::Catalog& catalog,
                         const std::vector<FabricProfile>& profiles) {
  std::string text = "fabrics:\n";
  for (const FabricProfile& profile : profiles) text += item(catalog, profile);
  return text;
}

}  // namespace fabricast::advice
