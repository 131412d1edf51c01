#pragma once
// Rows of the catalogue's prices, by exact id: what a thing costs in a wanted currency, and the
// general parameters of a cost calculation (years, percentages).

#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace fabricast::cost {

/// The likely price of `id` in `currency`. Throws base::Error (input) when there is no such row or
/// no exchange rate.
double price_in(const catalog::Catalog& catalog, std::string_view id, const std::string& currency);

/// `amount` of one currency in another, by the row `usd-cny` or its like ("a-b": units of b for one
/// of a), read in either direction. Throws base::Error (input) when there is none.
double convert(const catalog::Catalog& catalog, double amount, const std::string& from,
               const std::string& to);

bool has_price(const catalog::Catalog& catalog, std::string_view id);

/// The likely value of a parameter. Throws base::Error (input) when the row is missing.
double parameter(const catalog::Catalog& catalog, std::string_view id);
/// The same, or `otherwise` when the row is missing.
double parameter_or(const catalog::Catalog& catalog, std::string_view id, double otherwise);

}  // namespace fabricast::cost
