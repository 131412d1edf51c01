#include "scenario/scenario.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace fabricast::scenario {

namespace {

using base::yaml::Fields;
using base::yaml::Node;

void collect_places(const Node& node, Places& places) {
  places.emplace(node.where.key, node.where);
  for (const Node& item : node.items) collect_places(item, places);
  for (const auto& [key, value] : node.entries) collect_places(value, places);
}

/// "leaf0:3": a device, a colon, a port number.
bool names_a_link(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
  const std::string_view port = text.substr(colon + 1);
  return port.size() <= 6 && port.find_first_not_of("0123456789") == std::string_view::npos;
}

// A network that others fill to more than nine tenths is not a background.
constexpr double kMostLoad = 0.9;
// Below it, months may pass between two of the largest messages on the slowest link.
constexpr double kLeastLoad = 1e-4;

BackgroundLoad read_load(Fields fields, const Context& context) {
  BackgroundLoad result;
  const bool tenant = fields.choice("kind", {"storage", "tenant"}) == 1;
  if (tenant) result.kind = BackgroundKind::kTenant;
  if (tenant && fields.has("job")) {
    result.job = context.existing_file(fields.text("job"), fields.where("job"));
  } else {
    result.load = fields.number("load", 0, kMostLoad);
    if (result.load > 0 && result.load < kLeastLoad) {
      throw base::input_error(fields.where("load"), fmt::format("the number {}", result.load),
                              fmt::format("0, or a number from {} to {}", kLeastLoad, kMostLoad));
    }
    result.message = base::Bytes(1024 * fields.integer("message_kib", 1, 1 << 20, 1024));
    if (tenant) {
      constexpr double kLongestMs = 60'000;
      result.burst = base::Time::seconds(fields.number("burst_ms", 0.001, kLongestMs) * 1e-3);
    }
  }
  fields.finish();
  return result;
}

/// What a kind of fault takes: the meaning and range of its `value`; none where it has no value.
struct FaultKind {
  std::string name;
  double least = 0;
  double most = 0;
  bool has_value() const { return most > 0; }
};

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kinds = {{"down", 0, 0},
                                               {"degraded", 0.001, 1},
                                               {"bit-errors", 1e-18, 1e-3},
                                               {"slow-adapter", 0.001, 1},
                                               {"pause-storm", 0, 0},
                                               {"no-pfc", 0, 0},
                                               {"no-ecn", 0, 0}};
  return kinds;
}

Fault read_fault(Fields fields) {
  constexpr double kLongestMs = 1e9;  // eleven days
  Fault result;
  std::vector<std::string> names;
  for (const FaultKind& kind : fault_kinds()) names.push_back(kind.name);
  const FaultKind& kind = fault_kinds()[fields.choice("kind", names)];
  result.kind = kind.name;
  result.at_ms = fields.number("at_ms", 0, kLongestMs, 0);
  result.for_ms = fields.number("for_ms", 0, kLongestMs, 0);
  if (kind.has_value()) result.value = fields.number("value", kind.least, kind.most);
  result.link = fields.text("link");
  if (!names_a_link(result.link)) {
    throw base::input_error(fields.where("link"), "the text " + base::quote(result.link),
                            "a device and a port number, such as `leaf0:3`");
  }
  fields.finish();
  return result;
}

std::vector<std::string> known_currencies(const catalog::Catalog& catalog) {
  std::vector<std::string> result;
  for (const catalog::Price& price : catalog.prices()) {
    if (price.currency != catalog::kNoCurrency) result.push_back(price.currency);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

void check_growth(const ValidScenario& scenario) {
  const int growth = scenario.constraints.growth_gpus;
  if (growth == 0 || growth >= scenario.cluster.gpus) return;
  throw base::input_error(
      scenario.where("constraints.growth_gpus"), fmt::format("{} GPUs to grow to", growth),
      fmt::format("0, or at least the {} of `cluster.gpus`", scenario.cluster.gpus));
}

ValidScenario validate(const Node& root, const std::string& file_name,
                       const catalog::Catalog& catalog, const Overrides& overrides) {
  const std::filesystem::path file(file_name);
  Fields fields(root);
  ValidScenario result;
  const Context context{catalog, directory_of(file_name), places_of(root), &result.files};

  result.file = base::printable(file_name);
  result.name = fields.name("name", base::printable(file.stem().string()));
  result.cluster = read_cluster(Fields(fields.required("cluster", "a mapping")), context);
  result.fabrics = read_fabrics(fields, context);
  WorkloadRequest workload =
      read_workload(Fields(fields.required("workload", "a mapping")), context);
  result.background = read_background(fields, context);
  result.faults = read_faults(fields);
  if (const Node* budget = fields.optional("budget")) {
    result.budget = read_budget(Fields(*budget), context);
  }
  if (const Node* constraints = fields.optional("constraints")) {
    result.constraints = read_constraints(Fields(*constraints));
  }
  result.objective =
      static_cast<Objective>(fields.choice("objective", {"value", "cheapest", "fastest"}, 0));
  if (fields.has("prices")) {
    result.prices = context.existing_file(fields.text("prices"), fields.where("prices"));
  }
  if (!overrides.prices.empty()) {
    result.prices = overrides.prices;
    result.files.push_back(result.prices);
  }
  result.seed = static_cast<std::uint64_t>(fields.integer("seed", 0, INT64_MAX, 1));
  if (overrides.seed) result.seed = *overrides.seed;
  fields.finish();
  result.places = context.places;

  check_cluster(result.cluster, context);
  check_fabrics(result.cluster, context, result.fabrics);
  if (auto* request = std::get_if<TrainingRequest>(&workload)) request->ran = overrides.ran;
  result.workload = check_workload(std::move(workload), result.cluster, context);
  check_growth(result);
  if (result.constraints.max_days > 0 && std::holds_alternative<ServingSpec>(result.workload)) {
    throw base::input_error(result.where("constraints.max_days"), "days for a service",
                            "`workload.slo` for a service; days are a training run's");
  }
  return result;
}

}  // namespace

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::kValue:
      return "value";
    case Objective::kCheapest:
      return "cheapest";
    case Objective::kFastest:
      return "fastest";
  }
  return "";
}

// What comes from a pipe or a file descriptor has no folder of its
// own.
std::string directory_of(const std::string& file) {
  if (file.starts_with("/dev/") || file.starts_with("/proc/")) return {};
  return std::filesystem::path(file).parent_path().string();
}

base::Location place_of(const Places& places, std::string_view key) {
  std::string_view known = key;
  auto found = places.find(known);
  while (found == places.end() && !known.empty()) {
    const std::size_t cut = known.find_last_of(".[");
    known = known.substr(0, cut == std::string_view::npos ? 0 : cut);
    found = places.find(known);
  }
  base::Location place = found == places.end() ? base::Location{} : found->second;
  place.key = key;
  return place;
}

Places places_of(const Node& root) {
  Places places;
  collect_places(root, places);
  return places;
}

std::vector<const Node*> list(Fields& fields, std::string_view key) {
  std::vector<const Node*> items;
  const Node* node = fields.optional(key);
  if (node == nullptr) return items;
  if (node->kind != Node::Kind::kSequence) {
    throw base::input_error(node->where, node->description(), "a list");
  }
  for (const Node& item : node->items) items.push_back(&item);
  return items;
}

base::Location Context::where(std::string_view key) const {
  return place_of(places, key);
}

std::string existing_file(const std::string& directory, const std::string& path,
                          const base::Location& at) {
  const std::filesystem::path full = std::filesystem::path(directory) / path;
  std::error_code error;
  if (!std::filesystem::exists(full, error) || std::filesystem::is_directory(full, error)) {
    throw base::input_error(at,
                            fmt::format("the path {}, where there is no file", base::quote(path)),
                            "the path of a file, seen from the scenario's directory");
  }
  return full.string();
}

std::string Context::existing_file(const std::string& path, const base::Location& at) const {
  std::string full = scenario::existing_file(directory, path, at);
  if (files != nullptr) files->push_back(full);
  return full;
}

base::Location ValidScenario::where(std::string_view key) const {
  return place_of(places, key);
}

base::Error located(const base::Error& error, const ValidScenario& scenario, std::size_t fabric) {
  const base::Location& where = error.where();
  if (error.kind() != base::ErrorKind::kInput || !where.file.empty()) return error;
  const std::string section = where.key.substr(0, where.key.find_first_of(".["));
  const bool of_scenario = section == "cluster" || section == "workload" ||
                           section == "background" || section == "budget";
  const std::string key = of_scenario ? where.key
                          : scenario.places.contains("fabric")
                              ? "fabric." + where.key
                              : fmt::format("fabrics[{}].{}", fabric, where.key);
  return base::input_error(scenario.where(key), error.message());
}

std::vector<BackgroundLoad> read_background(Fields& fields, const Context& context) {
  std::vector<BackgroundLoad> result;
  double sum = 0;
  for (const Node* item : list(fields, "background")) {
    result.push_back(read_load(Fields(*item), context));
    sum += result.back().load;
    if (sum > kMostLoad + 1e-9) {
      throw base::input_error(item->where, fmt::format("loads that add up to {:.4g}", sum),
                              fmt::format("at most {} for all of `background`", kMostLoad));
    }
  }
  return result;
}

std::vector<Fault> read_faults(Fields& fields) {
  std::vector<Fault> result;
  for (const Node* item : list(fields, "faults")) result.push_back(read_fault(Fields(*item)));
  return result;
}

Budget read_budget(Fields fields, const Context& context) {
  Budget result;
  result.total = fields.number("total", 1, 1e15);
  const std::vector<std::string> currencies = known_currencies(context.catalog);
  result.currency = fields.text("currency", result.currency);
  if (std::find(currencies.begin(), currencies.end(), result.currency) == currencies.end()) {
    throw base::input_error(fields.where("currency"),
                            "the currency " + base::quote(result.currency),
                            base::one_of(currencies), base::near_miss(result.currency, currencies));
  }
  fields.finish();
  return result;
}

Constraints read_constraints(Fields fields) {
  Constraints result;
  result.existing_ethernet = fields.boolean("existing_ethernet", false);
  result.growth_gpus = static_cast<int>(fields.integer("growth_gpus", 0, kMostGpus, 0));
  result.max_days = fields.number("max_days", 0, 1e5, 0);
  fields.finish();
  return result;
}

ValidScenario load(const std::string& path, const catalog::Catalog& catalog,
                   const Overrides& overrides) {
  return validate(base::yaml::parse_file(path), path, catalog, overrides);
}

ValidScenario parse(const std::string& text, const std::string& file_name,
                    const catalog::Catalog& catalog, const Overrides& overrides) {
  return validate(base::yaml::parse(text, file_name), file_name, catalog, overrides);
}

ValidScenario from_document(const Node& document, const std::string& file_name,
                            const catalog::Catalog& catalog, const Overrides& overrides) {
  return validate(document, file_name, catalog, overrides);
}

}  // namespace fabricast::scenario
