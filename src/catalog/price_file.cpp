// A user's own prices: quotes that stand above the catalogue's rows.

#include <algorithm>

#include <fmt/format.h>

#include "base/yaml.h"
#include "catalog/catalog.h"
#include "catalog/records.h"

namespace fabricast::catalog {
namespace {

using base::yaml::Fields;
using base::yaml::Node;

constexpr double kMost = 1e12;

/// What a file says once for all of its prices.
struct Defaults {
  std::string currency;
  std::string date;
  std::string source;
  ValueKind kind = ValueKind::kPublished;
};

std::string text_or(Fields& fields, const char* key, const std::string& otherwise) {
  return fields.has(key) ? fields.text(key) : otherwise;
}

/// What neither the row nor the top of the file says.
void require(const std::string& value, const Node& row, const char* key, const char* allowed) {
  if (!value.empty()) return;
  base::Location where = row.where;
  where.key += std::string(".") + key;
  throw base::input_error(
      where, "missing",
      fmt::format("{}, here or once for all prices as `{}` at the top of the file", allowed, key));
}

constexpr ValueKind kKinds[] = {ValueKind::kMeasured, ValueKind::kDatasheet, ValueKind::kPublished,
                                ValueKind::kCalibrated, ValueKind::kAssumed};

ValueKind read_kind(Fields& fields, ValueKind otherwise) {
  std::vector<std::string> names;
  for (const ValueKind kind : kKinds) names.emplace_back(name_of(kind));
  if (!fields.has("kind")) return otherwise;
  return kKinds[fields.choice("kind", names)];
}

/// "eur-cny": units of the second for one of the first.
bool is_exchange_rate(const std::string& id) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return id.size() == 7 && id[3] == '-' && std::ranges::count_if(id, letter) == 6;
}

/// Ids that a price can have: rows that are there, and things on sale that may lack one.
std::vector<std::string> priceable(const Catalog& catalog) {
  std::vector<std::string> ids;
  for (const Price& price : catalog.prices()) ids.push_back(price.id);
  const auto add = [&](const auto& records) {
    for (const auto& record : records) {
      if (std::ranges::find(ids, record.id) == ids.end()) ids.push_back(record.id);
    }
  };
  add(catalog.gpus());
  add(catalog.switches());
  add(catalog.adapters());
  add(catalog.cables());
  ids.emplace_back("utilisation-pct");
  return ids;
}

Entry provenance(const Price& price, const std::string& name, ValueKind kind,
                 const std::string& source) {
  Entry entry{.category = "prices", .id = price.id, .name = name, .values = {}};
  const auto add = [&](const char* key, std::string text) {
    entry.values.push_back({key, std::move(text), kind, source});
  };
  add("low", fmt::format("{}", price.low));
  add("likely", fmt::format("{}", price.likely));
  add("high", fmt::format("{}", price.high));
  add("currency", price.currency);
  add("date", price.date);
  add("unit", price.unit);
  return entry;
}

/// One row; what it leaves out is the file's, then that of the row it replaces.
struct Row {
  Price price;
  Entry entry;
};

Row read_row(const std::string& id, const Node& node, const Defaults& defaults,
             const Price* replaced, const std::string& name) {
  Row row;
  Price& price = row.price;
  price.id = id;
  price.unit = replaced != nullptr ? replaced->unit : "each";
  price.currency = replaced != nullptr && replaced->currency == kNoCurrency
                       ? std::string(kNoCurrency)
                       : defaults.currency;
  price.date = defaults.date;
  ValueKind kind = defaults.kind;
  std::string source = defaults.source;
  if (node.kind == Node::Kind::kScalar) {
    price.low = price.likely = price.high = base::yaml::number(node, 0, kMost);
  } else {
    Fields fields(node);
    price.likely = fields.number("likely", 0, kMost);
    price.low = fields.number("low", 0, kMost, price.likely);
    price.high = fields.number("high", 0, kMost, price.likely);
    price.currency = text_or(fields, "currency", price.currency);
    price.date = text_or(fields, "date", price.date);
    price.unit = text_or(fields, "unit", price.unit);
    kind = read_kind(fields, kind);
    source = text_or(fields, "source", source);
    fields.finish();
  }
  require(price.currency, node, "currency", "an ISO 4217 code such as `CNY`");
  require(price.date, node, "date", "the day of the quote, such as `2026-03-19`");
  check(price, node.where);
  row.entry = provenance(price, name, kind, source);
  return row;
}

std::string spoken_name(const Catalog& catalog, const std::string& id) {
  for (const Entry& entry : catalog.entries()) {
    if (entry.id == id) return entry.name;
  }
  return id;
}

}  // namespace

Catalog Catalog::with_prices(const std::string& file) const {
  const Node document = base::yaml::parse_file(file);
  Fields fields(document);
  Defaults defaults;
  defaults.currency = text_or(fields, "currency", {});
  defaults.date = text_or(fields, "date", {});
  defaults.source = text_or(fields, "source", fmt::format("price file {}", base::quote(file)));
  defaults.kind = read_kind(fields, defaults.kind);
  const Node& list = fields.required("prices", "a mapping from catalogue ids to prices");
  fields.finish();
  if (list.kind != Node::Kind::kMapping || list.entries.empty()) {
    throw base::input_error(list.where, list.description(),
                            "a mapping such as `qm9700: 250000`, with at least one price");
  }
  const std::vector<std::string> ids = priceable(*this);
  Catalog result = *this;
  for (const auto& [id, node] : list.entries) {
    if (std::ranges::find(ids, id) == ids.end() && !is_exchange_rate(id)) {
      throw base::input_error(node.where, "unknown item " + base::quote(id),
                              "an id that `fabricast catalog prices` lists, or a GPU, switch, "
                              "adapter or cable of the catalogue",
                              base::near_miss(id, ids));
    }
    const auto old = std::ranges::find(prices_, id, &Price::id);
    Row row = read_row(id, node, defaults, old == prices_.end() ? nullptr : &*old,
                       spoken_name(*this, id));
    result.set_price(row.price, row.entry);
  }
  return result;
}

void Catalog::set_likely(std::string_view price_id, double likely) {
  const auto row = std::ranges::find(prices_, price_id, &Price::id);
  if (row == prices_.end()) throw base::failure(fmt::format("no price `{}` to move", price_id));
  row->likely = likely;
}

void Catalog::set_price(const Price& price, const Entry& entry) {
  const auto old = std::ranges::find(prices_, price.id, &Price::id);
  if (old == prices_.end()) {
    prices_.push_back(price);
  } else {
    *old = price;
  }
  const auto known = std::ranges::find_if(
      entries_, [&](const Entry& e) { return e.category == "prices" && e.id == price.id; });
  if (known == entries_.end()) {
    entries_.push_back(entry);
  } else {
    *known = entry;
  }
}

}  // namespace fabricast::catalog
