#include "cost/cost.h"

#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "cost/prices.h"

namespace fabricast::cost {
namespace {

constexpr double kHoursPerYear = 8760;

base::Error out_of_range(const char* id, double found, const char* allowed) {
  return base::input_error({.file = {}, .line = 0, .column = 0, .key = std::string("prices.") + id},
                           fmt::format("found {}; allowed {}", found, allowed));
}

double utilisation(const catalog::Catalog& catalog) {
  const double percent = parameter_or(catalog, "utilisation-pct", 100);
  if (!(percent > 0 && percent <= 100)) {
    throw out_of_range("utilisation-pct", percent, "above 0 to 100");
  }
  return percent / 100;
}

double depreciation_years(const catalog::Catalog& catalog) {
  const double years = parameter(catalog, "depreciation-years");
  if (!(years > 0)) throw out_of_range("depreciation-years", years, "above 0");
  return years;
}

}  // namespace

Result cost_of(const catalog::Catalog& catalog, const Bill& bill, double hours, double tokens) {
  const double used_hours = kHoursPerYear * utilisation(catalog);
  const double written_off = 1 / depreciation_years(catalog) / used_hours;
  Result result;
  result.currency = bill.currency;
  result.network_capex = bill.network_capex;
  result.capex = bill.capex;
  result.power_kw = bill.power_kw;
  result.parts.network = (bill.capex - bill.gpu_capex) * written_off;
  result.parts.gpus = bill.gpu_capex * written_off;
  result.parts.operation =
      bill.capex * parameter(catalog, "operation-pct-per-year") / 100 / used_hours;
  result.parts.energy = bill.power_kw * parameter(catalog, "pue") *
                        price_in(catalog, "electricity-kwh", bill.currency);
  result.per_hour =
      result.parts.network + result.parts.gpus + result.parts.operation + result.parts.energy;
  if (hours > 0) {
    result.per_run = result.per_hour * hours;
    if (tokens > 0) result.per_million_tokens = result.per_run / tokens * 1e6;
  }
  return result;
}

}  // namespace fabricast::cost
