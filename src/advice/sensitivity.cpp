#include "advice/sensitivity.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "advice/evidence.h"
#include "cost/prices.h"

namespace fabricast::advice {
namespace {

constexpr double kHoursPerYear = 8760;
// Below it a price does not move the margin, percent.
constexpr double kNothing = 0.005;
// A flip beyond so many times the likely price is no answer.
constexpr double kFarthest = 20;
constexpr int kBisections = 60;

/// Cost of the work at other prices: it is proportional to what an hour costs.
double score_at(const catalog::Catalog& catalog, const Outcome& outcome) {
  if (outcome.cost.per_hour <= 0) return score_of(outcome);
  const cost::Bill bill = cost::repriced(catalog, outcome.bill);
  return score_of(outcome) * cost::cost_of(catalog, bill, 0, 0).per_hour / outcome.cost.per_hour;
}

/// The margin as a function of one price.
class Margin {
 public:
  Margin(const catalog::Catalog& catalog, std::string id, const Outcome& choice,
         const Outcome& rival)
      : catalog_(catalog), id_(std::move(id)), choice_(choice), rival_(rival) {}

  double operator()(double price) {
    catalog_.set_likely(id_, price);
    return 100 * (score_at(catalog_, rival_) / score_at(catalog_, choice_) - 1);
  }

 private:
  catalog::Catalog catalog_;
  std::string id_;
  const Outcome& choice_;
  const Outcome& rival_;
};

/// Between a price at which the choice is ahead and one at which it is behind.
double root(Margin& margin, double ahead, double behind) {
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (ahead + behind) / 2;
    (margin(middle) >= 0 ? ahead : behind) = middle;
  }
  return (ahead + behind) / 2;
}

std::optional<double> flip(Margin& margin, const catalog::Price& price) {
  if (margin(price.likely) < 0) return std::nullopt;
  // Down to where a life of no years or a rate of nothing would be asked for.
  const double least = price.likely / kFarthest;
  if (margin(least) < 0) return root(margin, price.likely, least);
  const double most = price.likely * kFarthest;
  if (margin(most) < 0) return root(margin, price.likely, most);
  return std::nullopt;
}

std::string name_of(const catalog::Catalog& catalog, const std::string& id) {
  for (const catalog::Entry& entry : catalog.entries()) {
    if (entry.category == "prices" && entry.id == id) return entry.name;
  }
  return id;
}

std::optional<double> crossing(const std::vector<double>& x, const std::vector<double>& a,
                               const std::vector<double>& b) {
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double before = a[i - 1] - b[i - 1];
    const double after = a[i] - b[i];
    if ((before <= 0) == (after <= 0)) continue;
    return x[i - 1] + (x[i] - x[i - 1]) * before / (before - after);
  }
  return std::nullopt;
}

std::optional<BreakEven> rent_or_own(const catalog::Catalog& catalog, const std::string& gpu_id,
                                     int gpus, const Outcome& choice) {
  const std::string rent = fmt::format("rental-{}", gpu_id);
  if (!cost::has_price(catalog, rent)) return std::nullopt;
  const std::string& currency = choice.cost.currency;
  BreakEven result;
  result.id = "rent-or-own";
  result.title = {fmt::format("Renting against owning {}", choice.name),
                  fmt::format("租用与自建 {}", choice.name)};
  result.x_name = {"hours that are used", "使用时间占比"};
  result.x_unit = '%';
  result.y_name = {"cost of a GPU-hour used", "每 GPU 小时成本"};
  result.y_unit = currency;
  result.series = {{{"owned", "自建"}, {}}, {{"rented", "租用"}, {}}};
  const cost::PerHour& parts = choice.cost.parts;
  const double fixed = parts.network + parts.gpus + parts.operation;
  for (int percent = 5; percent <= 100; percent += 5) {
    const double share = percent / 100.0;
    result.x.push_back(percent);
    result.series[0].values.push_back((fixed / share + parts.energy) / gpus);
    result.series[1].values.push_back(cost::price_in(catalog, rent, currency));
  }
  result.crossing = crossing(result.x, result.series[0].values, result.series[1].values);
  return result;
}

/// The dearer network pays for itself, or not, while the same work goes on.
BreakEven years_of_work(const Outcome& choice, const Outcome& rival) {
  BreakEven result;
  result.id = "network-pays";
  result.title = {fmt::format("{} against {}, for the same work", choice.name, rival.name),
                  fmt::format("{} 与 {}，完成同样工作", choice.name, rival.name)};
  result.x_name = {"years that the work goes on", "工作持续年数"};
  result.x_unit = "years";
  result.y_name = {"network bought, and running costs of all", "网络购置与全部运行成本"};
  result.y_unit = choice.cost.currency;
  result.series = {{{choice.name, choice.name}, {}}, {{rival.name, rival.name}, {}}};
  const double pace = std::min(pace_of(choice), pace_of(rival));
  for (int i = 0; i <= 24; ++i) {
    const double years = i / 4.0;
    result.x.push_back(years);
    for (const Outcome* o : {&choice, &rival}) {
      const cost::PerHour& parts = o->cost.parts;
      // Who is slower needs more hours of the GPUs for it.
      const double hours = years * kHoursPerYear * pace_of(*o) / pace;
      const double total =
          o->cost.network_capex + hours * (parts.gpus + parts.energy + parts.operation);
      result.series[o == &choice ? 0 : 1].values.push_back(total);
    }
  }
  result.crossing = crossing(result.x, result.series[0].values, result.series[1].values);
  return result;
}

}  // namespace

std::vector<Sensitivity> sensitivities(const catalog::Catalog& catalog, const Outcome& choice,
                                       const Outcome& rival) {
  std::vector<const catalog::Price*> prices = cost::prices_of(catalog, choice.bill);
  for (const catalog::Price* price : cost::prices_of(catalog, rival.bill)) {
    if (std::ranges::find(prices, price) == prices.end()) prices.push_back(price);
  }
  std::vector<Sensitivity> result;
  for (const catalog::Price* price : prices) {
    Margin margin(catalog, price->id, choice, rival);
    Sensitivity s;
    s.input = price->id;
    s.name = name_of(catalog, price->id);
    s.unit = price->currency == catalog::kNoCurrency
                 ? price->unit
                 : fmt::format("{} {}", price->currency, price->unit);
    s.low = price->low;
    s.likely = price->likely;
    s.high = price->high;
    s.margin_low_pct = margin(price->low);
    s.margin_likely_pct = margin(price->likely);
    s.margin_high_pct = margin(price->high);
    s.flip_at = flip(margin, *price);
    if (std::abs(s.margin_high_pct - s.margin_low_pct) < kNothing && !s.flip_at) continue;
    result.push_back(std::move(s));
  }
  std::ranges::stable_sort(result, std::greater<>(), [](const Sensitivity& s) {
    return std::abs(s.margin_high_pct - s.margin_low_pct);
  });
  return result;
}

std::vector<BreakEven> break_evens(const catalog::Catalog& catalog, const std::string& gpu_id,
                                   int gpus, const Outcome& choice, const Outcome* rival) {
  std::vector<BreakEven> result;
  if (auto rent = rent_or_own(catalog, gpu_id, gpus, choice)) result.push_back(std::move(*rent));
  if (rival != nullptr) result.push_back(years_of_work(choice, *rival));
  return result;
}

}  // namespace fabricast::advice
