#include "report/verdict_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/text.h"

namespace fabricast::report {

namespace {

constexpr int kIndent = 2;

std::string house_text(const advice::HouseVerdict& house, bool chinese) {
  std::string text =
      paragraph((chinese ? "规则的选择：" : "House rules choose: ") + house.choice, 0);
  if (house.rules.empty()) return text;
  const advice::HouseRule& rule = house.rules.front();
  text += paragraph(chinese ? fmt::format("{}（{}，文中 {}）", rule.text_zh, rule.id, rule.place)
                            : fmt::format("{} ({}, article {})", rule.text, rule.id, rule.place),
                    kIndent);
  const std::string& challenge = chinese ? rule.challenge.zh : rule.challenge.en;
  if (!challenge.empty()) {
    text += paragraph((chinese ? "公开证据不同意：" : "Public evidence disagrees: ") + challenge,
                      kIndent);
  }
  return text;
}

/// The table already shows every metric of every fabric, and the house speaks for itself.
bool repeats_the_report(const advice::Reason& reason, bool first) {
  if (first) return false;
  if (reason.metric == "house") return true;
  static constexpr const char* kRows[] = {
      "training.gpu_utilisation_pct", "training.jitter_pct",    "serving.capacity_qps",
      "serving.ttft_ms.p99",          "serving.latency_ms.p50", "serving.gpu_utilisation_pct",
      "serving.jitter_pct",           "network.latency_us",     "cost.network_capex"};
  return std::ranges::find(kRows, reason.metric) != std::end(kRows);
}

std::string evidence_text(const advice::Verdict& verdict, bool chinese) {
  const advice::Text& headline = verdict.evidence.headline;
  std::string text = paragraph(chinese ? headline.zh : headline.en, 0);
  bool first = true;
  for (const advice::Reason& reason : verdict.reasons) {
    if (!repeats_the_report(reason, first)) {
      text += paragraph(chinese ? reason.text_zh : reason.text, kIndent);
    }
    first = false;
  }
  return text;
}

std::string flips_text(const std::vector<advice::Flip>& flips, bool chinese) {
  if (flips.empty()) return {};
  std::string text = chinese ? "证据会改选：\n" : "What would change the evidence's choice:\n";
  for (const advice::Flip& flip : flips) {
    text += paragraph(chinese ? flip.text.zh : flip.text.en, kIndent);
  }
  return text;
}

}  // namespace

std::string verdict_text(const advice::Verdict& verdict, bool chinese) {
  std::string text = house_text(verdict.house, chinese);
  text += evidence_text(verdict, chinese);
  text += flips_text(verdict.flips, chinese);
  const std::string& next = chinese ? verdict.next_zh : verdict.next;
  if (!next.empty()) text += paragraph((chinese ? "下一步：" : "Next: ") + next, 0);
  return text + verdict.next_yaml;
}

}  // namespace fabricast::report
