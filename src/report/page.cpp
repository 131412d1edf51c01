#include "report/page.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "cost/bounds.h"
#include "report/heading.h"
#include "report/html.h"
#include "report/json_parts.h"
#include "report/notes.h"

namespace fabricast::report {
namespace {

Json text_json(const advice::Text& text) {
  return {{"en", text.en}, {"zh", text.zh}};
}

/// Lines of a paragraph as one. Between two characters beyond ASCII, as Chinese is, a line was
/// broken where no space is.
std::string joined(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool broken = text[i] == '\n' && i > 0 && i + 1 < text.size();
    if (broken && !ascii(text[i - 1]) && !ascii(text[i + 1])) continue;
    line += text[i] == '\n' ? ' ' : text[i];
  }
  return line;
}

advice::Text heading_line(const scenario::ValidScenario& scenario, bool second) {
  const auto of = [&](bool chinese) {
    return joined(second ? cluster_heading(scenario, chinese) : work_heading(scenario, chinese));
  };
  return {of(false), of(true)};
}

Json words_json(const advice::Verdict& verdict, const std::vector<advice::Text>& notes) {
  Json json = Json::object();
  json["headline"] = text_json(verdict.evidence.headline);
  Json& reasons = json["reasons"] = Json::array();
  for (const advice::Reason& reason : verdict.reasons) {
    reasons.push_back(text_json({reason.text, reason.text_zh}));
  }
  Json& flips = json["flips"] = Json::array();
  for (const advice::Flip& flip : verdict.flips) flips.push_back(text_json(flip.text));
  Json& house = json["house"] = Json::array();
  for (const advice::HouseRule& rule : verdict.house.rules) {
    Json entry = Json::object();
    entry["id"] = rule.id;
    entry["place"] = rule.place;
    entry["text"] = text_json({rule.text, rule.text_zh});
    entry["choice"] = rule.choice;
    if (!rule.challenge.en.empty()) {
      entry["challenge"] = text_json(rule.challenge);
      entry["challenge_source"] = rule.challenge_source;
    }
    house.push_back(std::move(entry));
  }
  json["next"] = text_json({verdict.next, verdict.next_zh});
  Json& below = json["notes"] = Json::array();
  for (const advice::Text& note : notes) below.push_back(text_json(note));
  return json;
}

/// Values of entries that the work stands on: prices as one row each with its band.
class Assumptions {
 public:
  explicit Assumptions(const catalog::Catalog& catalog) : catalog_(catalog) {}

  void add_price(const catalog::Price& price) {
    if (!seen_.insert("prices " + price.id).second) return;
    const catalog::Entry* entry = find("prices", price.id);
    Json row = Json::object();
    row["id"] = price.id;
    row["name"] = entry != nullptr ? entry->name : price.id;
    put(row, "value", price.likely);
    put(row, "lo", price.low);
    put(row, "hi", price.high);
    row["unit"] = price.currency == catalog::kNoCurrency
                      ? price.unit
                      : fmt::format("{} {}", price.currency, price.unit);
    if (entry != nullptr && !entry->values.empty()) {
      row["kind"] = catalog::name_of(entry->values.front().kind);
      row["source"] = entry->values.front().source;
    }
    row["date"] = price.date;
    rows_.push_back(std::move(row));
  }

  /// Numbers of one entry.
  void add_entry(const char* category, const std::string& id) {
    if (!seen_.insert(fmt::format("{} {}", category, id)).second) return;
    const catalog::Entry* entry = find(category, id);
    if (entry == nullptr) return;
    for (const catalog::Value& value : entry->values) {
      char* end = nullptr;
      const double number = std::strtod(value.text.c_str(), &end);
      if (end == value.text.c_str() || *end != '\0') continue;
      Json row = Json::object();
      row["id"] = fmt::format("{}.{}", id, value.key);
      row["name"] = fmt::format("{}: {}", entry->name, value.key);
      put(row, "value", number);
      row["unit"] = unit_of(value.key);
      row["kind"] = catalog::name_of(value.kind);
      row["source"] = value.source;
      rows_.push_back(std::move(row));
    }
  }

  Json take() { return std::move(rows_); }

 private:
  const catalog::Entry* find(std::string_view category, const std::string& id) const {
    for (const catalog::Entry& entry : catalog_.entries()) {
      if (entry.category == category && entry.id == id) return &entry;
    }
    return nullptr;
  }

  /// A key ends in its unit: "latency_ns", "nvlink_gb_per_s".
  static std::string unit_of(const std::string& key) {
    static const std::vector<std::pair<std::string, std::string>> units = {
        {"_gb_per_s", "GB/s"}, {"_tflops", "TFLOP/s"},
        {"_tops", "TOP/s"},    {"_gbps", "Gb/s"},
        {"_ns_per_m", "ns/m"}, {"_per_end", "W"},
        {"_pct", "%"},         {"_gb", "GB"},
        {"_mb", "MB"},         {"_kb", "kB"},
        {"_us", "us"},         {"_ns", "ns"},
        {"_ms", "ms"},         {"_w", "W"},
        {"_b", "B"},           {"_m", "m"},
        {"_h", "h"},           {"_min", "min"},
        {"_mbps", "Mb/s"},     {"_mtu", "MTU"}};
    for (const auto& [ending, unit] : units) {
      if (key.ends_with(ending)) return unit;
    }
    return "1";
  }

  const catalog::Catalog& catalog_;
  std::set<std::string> seen_;
  Json rows_ = Json::array();
};

Json assumptions_json(const Comparison& comparison, const catalog::Catalog& catalog) {
  Assumptions assumptions(catalog);
  const scenario::ValidScenario& scenario = *comparison.scenario;
  for (const advice::Outcome& o : comparison.outcomes) {
    for (const catalog::Price* price : cost::prices_of(catalog, o.bill)) {
      assumptions.add_price(*price);
    }
  }
  assumptions.add_entry("gpus", scenario.cluster.gpu.id);
  for (const scenario::FabricChoice& choice : scenario.fabrics) {
    assumptions.add_entry("switches", choice.network_switch.id);
    assumptions.add_entry("adapters", choice.adapter.id);
    assumptions.add_entry("fabrics", choice.profile.id);
  }
  return assumptions.take();
}

/// The notes below the table, one text per paragraph.
std::vector<advice::Text> notes_of(const Comparison& comparison) {
  const std::string en = notes(comparison, false);
  const std::string zh = notes(comparison, true);
  if (en.empty()) return {};
  return {{joined(en), joined(zh)}};
}

Json cluster_json(const scenario::ValidScenario& scenario) {
  const fabric::TopologySpec& spec = scenario.cluster.topology;
  Json json = Json::object();
  json["gpus"] = scenario.cluster.gpus;
  json["nodes"] = spec.nodes;
  json["nics_per_node"] = spec.nics_per_node;
  put(json, "nic_gbps", spec.nic_rate.gbps());
  json["topology"] = fabric::name_of(spec.kind);
  return json;
}

Json page_json(const char* kind, const PageOptions& options) {
  Json page = Json::object();
  page["lang"] = options.chinese ? "zh" : "en";
  page["kind"] = kind;
  page["command"] = options.command;
  return page;
}

void put_scenario(Json& page, const Comparison& comparison, const PageOptions& options) {
  const scenario::ValidScenario& scenario = *comparison.scenario;
  page["subject"] = text_json(heading_line(scenario, true));
  page["workload"] = text_json(heading_line(scenario, false));
  page["cluster"] = cluster_json(scenario);
  page["words"] = words_json(comparison.verdict, notes_of(comparison));
  page["assumptions"] =
      options.catalog != nullptr ? assumptions_json(comparison, *options.catalog) : Json::array();
}

/// What must be the same whenever the report is written is not how long it took.
Json without_stats(Json result) {
  for (auto& fabric : result["fabrics"]) fabric.erase("stats");
  return result;
}

}  // namespace

std::string html_page(const Comparison& comparison, const PageOptions& options) {
  Json page = page_json("compare", options);
  put_scenario(page, comparison, options);
  page["result"] = without_stats(comparison_json(comparison));
  return html(page.dump());
}

std::string html_page(const AdviseReport& report, const PageOptions& options) {
  Json page = page_json("advise", options);
  if (report.comparison.outcomes.empty()) {
    page["subject"] = text_json({report.subject, report.subject});
    page["workload"] = text_json(report.nothing.value_or(advice::Text{}));
    page["words"] = words_json(report.comparison.verdict, {});
    page["assumptions"] = Json::array();
  } else {
    put_scenario(page, report.comparison, options);
  }
  page["result"] = without_stats(advice_json(report));
  return html(page.dump());
}

}  // namespace fabricast::report
