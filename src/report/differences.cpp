#include "report/differences.h"

#include <algorithm>

namespace fabricast::report {

namespace {

template <class Item>
void add_new(std::vector<std::string>& names, const std::vector<Item>& items,
             std::string Item::* name) {
  for (const Item& item : items) {
    if (std::ranges::count(names, item.*name) == 0) names.push_back(item.*name);
  }
}

FigureDifference difference(const Row& a, const Row& b, const std::string& fabric, std::size_t i) {
  const auto value = [&](const Row& row) -> std::optional<double> {
    const auto found = std::ranges::find(row.fabrics, fabric, &FabricFigures::name);
    return found == row.fabrics.end() ? std::nullopt : found->values[i];
  };
  FigureDifference result{value(a), value(b), {}};
  if (result.a && result.b && *result.a != 0) {
    result.percent = 100 * (*result.b - *result.a) / *result.a;
  }
  return result;
}

}  // namespace

std::vector<KeyDifference> differing_keys(const StoredRun& a, const StoredRun& b) {
  std::vector<KeyDifference> result;
  const auto add = [&](const std::string& key, const std::string& of_a, const std::string& of_b) {
    if (of_a != of_b) result.push_back({key, of_a, of_b});
  };
  add("name", a.scenario, b.scenario);
  add("seed", std::to_string(a.seed), std::to_string(b.seed));
  add("resolution", a.resolution, b.resolution);
  std::vector<std::string> keys;
  using Label = std::pair<std::string, base::yaml::Node>;
  add_new(keys, a.row.labels, &Label::first);
  add_new(keys, b.row.labels, &Label::first);
  for (const std::string& key : keys) add(key, label_text(a.row, key), label_text(b.row, key));
  return result;
}

std::vector<FabricDifference> differences(const StoredRun& a, const StoredRun& b) {
  std::vector<std::string> names;
  add_new(names, a.row.fabrics, &FabricFigures::name);
  add_new(names, b.row.fabrics, &FabricFigures::name);
  std::vector<FabricDifference> result;
  for (const std::string& name : names) {
    FabricDifference& fabric = result.emplace_back(FabricDifference{name, {}});
    for (std::size_t i = 0; i < figures().size(); ++i) {
      fabric.values.push_back(difference(a.row, b.row, name, i));
    }
  }
  return result;
}

}  // namespace fabricast::report
