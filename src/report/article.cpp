#include "report/article.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/table.h"
#include "report/text.h"

namespace fabricast::report {
namespace {

using validation::ArticleCheck;
using validation::Finding;

struct Words {
  bool chinese;
  std::string operator()(const char* english, const char* zh) const {
    return chinese ? zh : english;
  }
};

std::string verdict(const Finding& finding, const Words& words) {
  if (!finding.met()) return words("missed", "未达");
  return finding.blind ? words("foretold", "盲测命中") : words("fitted", "拟合");
}

std::string utilisation_table(const ArticleCheck& check, const Words& words) {
  base::Table table({words("GPU utilisation", "GPU 利用率"), words("article %", "文章 %"),
                     words("here %", "本程序 %"), words("off, points", "差（点）"), ""});
  for (const Finding& f : check.utilisation) {
    table.row({f.job + ", " + f.fabric, number(f.article), fmt::format("{:.1f}", f.here),
               fmt::format("{:+.1f}", f.off), verdict(f, words)});
  }
  return table.text() + "\n";
}

std::string jitter_table(const ArticleCheck& check, const Words& words) {
  base::Table table({words("Jitter of the step", "单步抖动"), words("article %", "文章 %"),
                     words("here %", "本程序 %"), words("factor", "倍数"), ""});
  for (const Finding& f : check.jitter) {
    table.row({f.job + ", " + f.fabric, number(f.article), fmt::format("{:.1f}", f.here),
               fmt::format("{:.2f}", std::exp(f.off)), verdict(f, words)});
  }
  return table.text() + "\n";
}

std::string days_table(const ArticleCheck& check, const Words& words) {
  base::Table table({words("RoCE / InfiniBand", "RoCE / InfiniBand"),
                     words("its util.", "按其利用率"), words("days here", "本程序天数"),
                     words("off %", "偏差 %"), "", words("its days", "其天数"),
                     words("residual %", "残差 %")});
  for (std::size_t i = 0; i < check.days.size(); ++i) {
    const Finding& d = check.days[i];
    const double residual = check.contradictions[i].second;
    table.row({d.job, fmt::format("{:.3f}", d.article), fmt::format("{:.3f}", d.here),
               fmt::format("{:+.1f}", d.off), verdict(d, words),
               fmt::format("{:.2f}", d.article * (1 + residual / 100)),
               fmt::format("{:+.1f}", residual)});
  }
  return table.text() + "\n";
}

/// Jobs whose days are no ratio of the utilisations beside them.
std::string contradicted_ratios(const ArticleCheck& check, const Words& words) {
  std::string text;
  for (std::size_t i = 0; i < check.days.size(); ++i) {
    const Finding& days = check.days[i];
    const double residual = check.contradictions[i].second;
    if (std::abs(residual) <= days.allowed) continue;
    text += paragraph(
        fmt::format(fmt::runtime(words(
                        "Contradicted: of equal GPUs and work, days go as 1 / utilisation, which "
                        "gives {:.2f} for {}; the article's days give {:.2f}, {:+.0f} %.",
                        "自相矛盾：同样的 GPU 与任务，天数与利用率成反比，{1} 应为 {0:.2f}；"
                        "文章的天数之比是 {2:.2f}，{3:+.0f} %。")),
                    days.article, days.job, days.article * (1 + residual / 100), residual),
        0);
  }
  return text.empty() ? text : text + "\n";
}

std::string arithmetic_table(const ArticleCheck& check, const Words& words) {
  base::Table table({words("Whole run on InfiniBand", "InfiniBand 全程"),
                     words("6ND, FLOP", "6ND（FLOP）"), words("at peak", "按峰值"),
                     words("here", "本程序"), words("article", "文章"), words("times", "倍")});
  for (const auto& row : check.arithmetic) {
    table.row({row.job, fmt::format("{:.2e}", row.flop), fmt::format("{:.0f} s", row.at_peak_s),
               fmt::format("{:.0f} s", row.here_s), fmt::format("{:.0f} s", row.article_s),
               fmt::format("{:.0f}", row.article_s / row.here_s)});
  }
  return table.text() + "\n";
}

std::string controls_table(const ArticleCheck& check, const Words& words) {
  base::Table table({words("Controls", "对照"), words("step longer by %", "单步增加 %"),
                     words("at most %", "上限 %"), ""});
  for (const Finding& c : check.controls) {
    table.row({c.job + ", " + c.fabric, fmt::format("{:+.2f}", c.off), number(c.allowed),
               c.met() ? words("met", "达到") : words("missed", "未达")});
  }
  return table.text() + "\n";
}

std::string misses(const ArticleCheck& check, const Words& words) {
  std::string missed;
  int count = 0;
  for (const auto* findings : {&check.utilisation, &check.jitter, &check.days, &check.controls}) {
    for (const Finding& f : *findings) {
      if (f.met()) continue;
      ++count;
      missed += (missed.empty() ? "" : ", ") + f.job + " " + f.fabric;
    }
  }
  if (count == 0) return words("Nothing is missed.", "没有未达项。");
  return fmt::format(fmt::runtime(words("Missed: {} ({}).", "未达：{} 项（{}）。")), count, missed);
}

}  // namespace

std::string article_text(const ArticleCheck& check, const TerminalOptions& options) {
  const Words words{options.chinese};
  std::string text = utilisation_table(check, words) + jitter_table(check, words);
  text += paragraph(words("Fitted to the rows of 8 and 32 GPUs: within 4 points, a factor 1.6; 16 "
                          "GPUs are foretold: within 5 points, the same factor.",
                          "以 8 卡与 32 卡的数据拟合：4 点以内、1.6 倍以内；16 卡为盲测：5 点以内、"
                          "1.6 倍以内。"),
                    0) +
          "\n";
  text += days_table(check, words);
  text += contradicted_ratios(check, words);
  text += arithmetic_table(check, words);
  const bool impossible =
      std::ranges::any_of(check.arithmetic, [](const auto& row) { return row.contradicted(); });
  if (impossible) {
    text +=
        paragraph(words("Contradicted: no training of so few tokens takes days; what the runs "
                        "did beside is not said. Ratios are all that can be held against it.",
                        "自相矛盾：这么少的 token 不可能训练数天；其余时间做了什么，文章没有说。"
                        "只有比值可以对照。"),
                  0) +
        "\n";
  }
  text += controls_table(check, words);
  return text + paragraph(misses(check, words), 0);
}

ValidationResult article_result(const ArticleCheck& check) {
  ValidationResult result;
  const auto add = [&](const Finding& f, const char* quantity, double measured) {
    ValidationRow row;
    row.kind = "article";
    row.group = f.job;
    row.name = f.fabric.empty() ? f.job : f.job + ", " + f.fabric;
    row.quantity = quantity;
    row.measured = measured;
    row.predicted = f.here;
    row.source = f.blind ? "article, foretold" : "article, fitted";
    result.rows.push_back(row);
  };
  for (const Finding& f : check.utilisation) add(f, "gpu_utilisation_pct", f.article);
  for (const Finding& f : check.jitter) add(f, "jitter_pct", f.article);
  for (const Finding& f : check.days) add(f, "days_ratio", f.article);
  for (std::size_t i = 0; i < check.contradictions.size(); ++i) {
    const auto& [job, residual] = check.contradictions[i];
    result.claims.push_back({job + "-days-against-utilisation",
                             std::abs(residual) > check.days[i].allowed ? "contradicted" : "holds",
                             fmt::format("days {:.3f}, utilisations {:.3f}, residual {:+.1f} %",
                                         check.days[i].article * (1 + residual / 100),
                                         check.days[i].article, residual)});
  }
  for (const auto& row : check.arithmetic) {
    result.claims.push_back(
        {row.job + "-days", row.contradicted() ? "contradicted" : "unverifiable",
         fmt::format("6ND = {:.3g} FLOP, {:.0f} s at the peak of all GPUs, {:.0f} s as simulated; "
                     "stated {:.0f} s",
                     row.flop, row.at_peak_s, row.here_s, row.article_s)});
  }
  for (const Finding& c : check.controls) {
    result.claims.push_back({"control: " + c.job + ", " + c.fabric,
                             c.met() ? "holds" : "contradicted",
                             fmt::format("step {:+.2f} %, at most {} %", c.off, c.allowed)});
  }
  return result;
}

}  // namespace fabricast::report
