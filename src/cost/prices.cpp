#include "cost/prices.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace fabricast::cost {
namespace {

/// By exact id: the catalogue's own look-up accepts prefixes, which would price a thing as another.
const catalog::Price* find(const catalog::Catalog& catalog, std::string_view id) {
  const auto& prices = catalog.prices();
  const auto found = std::ranges::find(prices, id, &catalog::Price::id);
  return found == prices.end() ? nullptr : &*found;
}

base::Error missing(std::string key, std::string_view message) {
  return base::input_error({.file = {}, .line = 0, .column = 0, .key = std::move(key)}, message);
}

const catalog::Price& required(const catalog::Catalog& catalog, std::string_view id) {
  if (const catalog::Price* price = find(catalog, id)) return *price;
  throw missing(fmt::format("prices.{}", id),
                fmt::format("found no price `{}`; allowed a row of that name in the prices of the "
                            "catalogue",
                            id));
}

std::string pair_id(std::string a, const std::string& b) {
  std::string id = std::move(a) + "-" + b;
  for (char& c : id) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return id;
}

}  // namespace

double convert(const catalog::Catalog& catalog, double amount, const std::string& from,
               const std::string& to) {
  if (from == to) return amount;
  const std::string forward = pair_id(from, to);
  const std::string backward = pair_id(to, from);
  if (const catalog::Price* rate = find(catalog, forward)) return amount * rate->likely;
  if (const catalog::Price* rate = find(catalog, backward); rate != nullptr && rate->likely > 0) {
    return amount / rate->likely;
  }
  throw missing(
      "budget.currency",
      fmt::format("found no exchange rate from {} to {}; allowed a row `{}` or `{}` in the "
                  "prices of the catalogue",
                  from, to, forward, backward));
}

double price_in(const catalog::Catalog& catalog, std::string_view id, const std::string& currency) {
  const catalog::Price& price = required(catalog, id);
  return convert(catalog, price.likely, price.currency, currency);
}

bool has_price(const catalog::Catalog& catalog, std::string_view id) {
  return find(catalog, id) != nullptr;
}

double parameter(const catalog::Catalog& catalog, std::string_view id) {
  return required(catalog, id).likely;
}

double parameter_or(const catalog::Catalog& catalog, std::string_view id, double otherwise) {
  const catalog::Price* price = find(catalog, id);
  return price == nullptr ? otherwise : price->likely;
}

}  // namespace fabricast::cost
