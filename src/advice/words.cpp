#include "advice/words.h"

#include <algorithm>

namespace fabricast::advice {

RunUnit run_unit(const std::vector<Outcome>& outcomes) {
  double days = outcomes.front().training.days;
  for (const Outcome& o : outcomes) days = std::min(days, o.training.days);
  constexpr double kSecond = 1.0 / 86400;
  if (days < 120 * kSecond) return {{"s", "秒"}, kSecond};
  if (days < 7200 * kSecond) return {{"min", "分钟"}, 60 * kSecond};
  if (days < 2) return {{"h", "小时"}, 3600 * kSecond};
  return {{"days", "天"}, 1};
}

std::string list_of(const std::vector<Outcome>& outcomes, const std::vector<std::size_t>& some) {
  std::string names;
  for (const std::size_t i : some) names += (names.empty() ? "" : ", ") + outcomes[i].name;
  return names;
}

std::string money(double amount, const std::string& currency) {
  return base::number(amount) + " " + currency;
}

}  // namespace fabricast::advice
