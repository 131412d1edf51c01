// Rows from JSON and back to it.

#include <nlohmann/json.hpp>

#include "report/differences.h"
#include "report/row.h"
#include "report/runs.h"
#include "report/sweep.h"

namespace fabricast::report {

namespace {

using Json = nlohmann::ordered_json;
using base::yaml::Node;

/// A value of YAML as JSON would have it: numbers and booleans are such, unless they were quoted.
Json value_json(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return nullptr;
    case Node::Kind::kScalar: {
      Json value = node.quoted ? Json() : Json::parse(node.scalar, nullptr, false);
      return value.is_number() || value.is_boolean() ? value : Json(node.scalar);
    }
    case Node::Kind::kSequence: {
      Json list = Json::array();
      for (const Node& item : node.items) list.push_back(value_json(item));
      return list;
    }
    case Node::Kind::kMapping: {
      Json object = Json::object();
      for (const auto& [key, value] : node.entries) object[key] = value_json(value);
      return object;
    }
  }
  return nullptr;
}

/// The number under `what`, `values` for the labels, then `error`, or `fabrics` and `verdict` with
/// the keys of a result.
Json row_json(const Row& row, const char* what) {
  Json json = {{what, row.number}};
  Json& values = json["values"] = Json::object();
  for (const auto& [key, value] : row.labels) values[key] = value_json(value);
  if (!row.error.empty()) {
    json["error"] = row.error;
    return json;
  }
  Json& fabrics = json["fabrics"] = Json::object();
  for (const FabricFigures& fabric : row.fabrics) {
    Json& object = fabrics[fabric.name] = Json::object();
    for (std::size_t i = 0; i < figures().size(); ++i) {
      if (fabric.values[i]) object[figures()[i].section][figures()[i].key] = *fabric.values[i];
    }
    object["cost"]["currency"] = row.currency;
  }
  json["verdict"] = {{"choice", row.choice},
                     {"house", {{"choice", row.house}}},
                     {"evidence", {{"choice", row.evidence}}}};
  return json;
}

Json known_of(const StoredRun& run) {
  return {{"run", run.row.number},    {"created", run.created}, {"program", run.program},
          {"scenario", run.scenario}, {"seed", run.seed},       {"resolution", run.resolution}};
}

Json figure_json(const FigureDifference& figure) {
  Json json = Json::object();
  if (figure.a) json["a"] = *figure.a;
  if (figure.b) json["b"] = *figure.b;
  if (figure.percent) json["difference_pct"] = *figure.percent;
  return json;
}

}  // namespace

void read_result(const std::string& json, Row& row) {
  try {
    const Json result = Json::parse(json);
    for (const auto& [name, fabric] : result.at("fabrics").items()) {
      FabricFigures& of = row.fabrics.emplace_back(FabricFigures{name, {}});
      for (const Figure& figure : figures()) {
        const Json section = fabric.value(figure.section, Json::object());
        const auto found = section.find(figure.key);
        of.values.push_back(found == section.end() ? std::nullopt
                                                   : std::optional(found->get<double>()));
      }
      row.currency = fabric.at("cost").at("currency").get<std::string>();
    }
    const Json& verdict = result.at("verdict");
    row.choice = verdict.at("choice").get<std::string>();
    row.house = verdict.at("house").at("choice").get<std::string>();
    row.evidence = verdict.at("evidence").at("choice").get<std::string>();
  } catch (const Json::exception& error) {
    throw base::failure(std::string("a result that cannot be read back (") + error.what() + ")");
  }
}

std::string sweep_json(const std::string& grid, const std::vector<Row>& rows) {
  Json json = {{"fabricast", FABRICAST_VERSION}, {"grid", grid}};
  Json& points = json["points"] = Json::array();
  for (const Row& row : rows) points.push_back(row_json(row, "point"));
  return json.dump(2) + "\n";
}

std::string runs_json(const std::vector<StoredRun>& runs) {
  Json json = {{"fabricast", FABRICAST_VERSION}};
  Json& list = json["runs"] = Json::array();
  for (const StoredRun& run : runs) {
    Json entry = known_of(run);
    entry.update(row_json(run.row, "run"));
    list.push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

std::string run_json(const StoredRun& run) {
  Json json = known_of(run);
  json["values"] = row_json(run.row, "run")["values"];
  json["result"] = Json::parse(run.result);
  return json.dump(2) + "\n";
}

std::string runs_compared_json(const StoredRun& a, const StoredRun& b) {
  Json json = {{"a", known_of(a)}, {"b", known_of(b)}};
  Json& keys = json["values"] = Json::object();
  for (const KeyDifference& key : differing_keys(a, b))
    keys[key.key] = {{"a", key.a}, {"b", key.b}};
  Json& fabrics = json["fabrics"] = Json::object();
  for (const FabricDifference& fabric : differences(a, b)) {
    for (std::size_t i = 0; i < figures().size(); ++i) {
      fabrics[fabric.name][figures()[i].section][figures()[i].key] = figure_json(fabric.values[i]);
    }
  }
  const auto choices = [](const Row& row) {
    return Json{{"choice", row.choice}, {"house", row.house}, {"evidence", row.evidence}};
  };
  json["verdict"] = {{"a", choices(a.row)}, {"b", choices(b.row)}};
  return json.dump(2) + "\n";
}

}  // namespace fabricast::report
