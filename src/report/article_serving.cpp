#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "report/article.h"
#include "report/text.h"

namespace fabricast::report {
namespace {

using validation::ArticleServingCheck;
using validation::ServingFigures;

struct Words {
  bool chinese;
  std::string operator()(const char* english, const char* zh) const {
    return chinese ? zh : english;
  }
};

std::string figures_table(const ArticleServingCheck& check, const Words& words) {
  base::Table table({words("Inference: article / here", "推理：文章 / 本程序"),
                     words("latency ms", "延迟 ms"), words("requests/s", "请求/秒"),
                     words("util. %", "利用率 %"), words("jitter %", "抖动 %")});
  for (std::size_t i = 0; i < check.rows.size(); ++i) {
    const ServingFigures& a = check.rows[i].figures;
    const ServingFigures& b = check.here[i];
    table.row({check.rows[i].job + ", " + check.rows[i].fabric,
               fmt::format("{:.0f} / {:.0f}", a.latency_ms, b.latency_ms),
               fmt::format("{:.0f} / {:.0f}", a.max_qps, b.max_qps),
               fmt::format("{:.0f} / {:.0f}", a.utilisation_pct, b.utilisation_pct),
               fmt::format("{:.1f} / {:.1f}", a.jitter_pct, b.jitter_pct)});
  }
  return table.text() + "\n";
}

std::string name_of(const std::string& figure, const Words& words) {
  if (figure == "latency") return words("latency", "延迟");
  if (figure == "capacity") return words("capacity", "容量");
  if (figure == "utilisation") return words("utilisation", "利用率");
  return words("jitter", "抖动");
}

std::string ratio_table(const ArticleServingCheck& check, const Words& words) {
  base::Table table({words("RoCE / InfiniBand", "RoCE / InfiniBand"), words("article", "文章"),
                     words("here", "本程序"), words("residual %", "残差 %"),
                     words("order", "次序")});
  for (const validation::ServingRatio& ratio : check.ratios) {
    table.row({ratio.job + ", " + name_of(ratio.figure, words),
               fmt::format("{:.2f}", ratio.article), fmt::format("{:.2f}", ratio.here),
               fmt::format("{:+.0f}", ratio.residual_pct()),
               ratio.right_order ? words("right", "正确") : words("wrong", "错误")});
  }
  return table.text() + "\n";
}

}  // namespace

std::string article_serving_text(const ArticleServingCheck& check, const TerminalOptions& options) {
  const Words words{options.chinese};
  std::string text = figures_table(check, words) + ratio_table(check, words);
  text += paragraph(
      fmt::format(
          fmt::runtime(check.limit_separates
                           ? words("The largest model answers within {:.0f} ms on InfiniBand and "
                                   "not on RoCE, as the article says.",
                                   "最大的模型在 InfiniBand 上 {:.0f} ms 以内，在 RoCE 上超出，与"
                                   "文章一致。")
                           : words("Missed: {:.0f} ms do not separate the fabrics for the largest "
                                   "model.",
                                   "未达：{:.0f} ms 未能区分最大模型的两种网络。")),
          check.limit_ms),
      0);
  for (const validation::ServingClaim& claim : check.claims) {
    text += paragraph(fmt::format("{}: {}: {}", claim.id, claim.verdict, claim.evidence), 0);
  }
  return text;
}

void add_article_serving(const ArticleServingCheck& check, ValidationResult& result) {
  const auto add = [&](std::size_t i, const char* quantity, double ServingFigures::* value) {
    ValidationRow row;
    row.kind = "article";
    row.group = check.rows[i].job;
    row.name = check.rows[i].job + ", " + check.rows[i].fabric;
    row.quantity = quantity;
    row.measured = check.rows[i].figures.*value;
    row.predicted = check.here[i].*value;
    row.source = "article, not fitted";
    result.rows.push_back(row);
  };
  for (std::size_t i = 0; i < check.rows.size(); ++i) {
    add(i, "latency_ms", &ServingFigures::latency_ms);
    add(i, "capacity_qps", &ServingFigures::max_qps);
    add(i, "gpu_utilisation_pct", &ServingFigures::utilisation_pct);
    add(i, "jitter_pct", &ServingFigures::jitter_pct);
  }
  for (const validation::ServingRatio& ratio : check.ratios) {
    result.claims.push_back(
        {fmt::format("{}-{}-order", ratio.job, ratio.figure),
         ratio.right_order ? "holds" : "contradicted",
         fmt::format("RoCE / InfiniBand {:.3f} here, {:.3f} stated, residual {:+.1f} %", ratio.here,
                     ratio.article, ratio.residual_pct())});
  }
  result.claims.push_back({"serve-70b-limit", check.limit_separates ? "holds" : "contradicted",
                           fmt::format("mean latency against {:.0f} ms", check.limit_ms)});
  for (const validation::ServingClaim& claim : check.claims) {
    result.claims.push_back({claim.id, claim.verdict, claim.evidence});
  }
}

}  // namespace fabricast::report
