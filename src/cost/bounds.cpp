#include "cost/bounds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "cost/prices.h"

namespace fabricast::cost {
namespace {

// Rows that `cost_of` reads beside those of the bill.
constexpr std::array kGeneral = {"electricity-kwh", "pue", "operation-pct-per-year",
                                 "depreciation-years", "utilisation-pct"};

/// "usd-cny", of "CNY".
bool is_rate_of(const catalog::Price& price, const std::string& currency) {
  if (price.id.size() != 7 || price.id[3] != '-') return false;
  std::string mine = currency;
  std::ranges::transform(mine, mine.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return price.id.substr(0, 3) == mine || price.id.substr(4) == mine;
}

struct Costs {
  double network_capex = 0;
  double capex = 0;
  double per_hour = 0;
};

Costs costs(const catalog::Catalog& catalog, const Bill& bill) {
  const Bill anew = repriced(catalog, bill);
  return {anew.network_capex, anew.capex, cost_of(catalog, anew, 0, 0).per_hour};
}

}  // namespace

std::vector<const catalog::Price*> prices_of(const catalog::Catalog& catalog, const Bill& bill) {
  std::vector<const catalog::Price*> prices;
  for (const catalog::Price& price : catalog.prices()) {
    const bool on_bill = std::ranges::any_of(
        bill.lines, [&](const BomLine& line) { return line.item == price.id && !line.owned; });
    if (on_bill || std::ranges::find(kGeneral, price.id) != kGeneral.end() ||
        is_rate_of(price, bill.currency)) {
      prices.push_back(&price);
    }
  }
  return prices;
}

Bounds bounds_of(const catalog::Catalog& catalog, const Bill& bill) {
  catalog::Catalog cheap = catalog;
  catalog::Catalog dear = catalog;
  catalog::Catalog one = catalog;  // with one price at one end
  for (const catalog::Price* price : prices_of(catalog, bill)) {
    // A longer life makes it cheaper, a higher price dearer: which end is which is asked of the
    // cost itself.
    const auto per_hour_at = [&](double value) {
      one.set_likely(price->id, value);
      return costs(one, bill).per_hour;
    };
    const bool rises = per_hour_at(price->low) <= per_hour_at(price->high);
    one.set_likely(price->id, price->likely);
    cheap.set_likely(price->id, rises ? price->low : price->high);
    dear.set_likely(price->id, rises ? price->high : price->low);
  }
  const Costs least = costs(cheap, bill);
  const Costs most = costs(dear, bill);
  return {{least.network_capex, most.network_capex},
          {least.capex, most.capex},
          {least.per_hour, most.per_hour}};
}

}  // namespace fabricast::cost
