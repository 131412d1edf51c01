#include "validation/article_serving.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::validation {
namespace {

ArticleServingRow row(const char* job, const char* fabric, double latency, double qps) {
  return {job, fabric, 8, 4096, 1000, {latency, qps, 80, 2}};
}

/// The article's own figures, as if they came out here.
ArticleServingRuns as_stated(const std::vector<ArticleServingRow>& rows) {
  ArticleServingRuns runs;
  for (const ArticleServingRow& r : rows) {
    runs.runs[{r.job, r.fabric}] = r.figures;
    runs.jobs[r.job] = {7e9, 8 * 1.979e15};
    runs.runs.try_emplace({r.job, "roce-v2"}, r.figures);
  }
  return runs;
}

const ServingClaim& claim(const ArticleServingCheck& check, const std::string& id) {
  return *std::ranges::find(check.claims, id, &ServingClaim::id);
}

TEST(ArticleServing, four_thousand_fresh_tokens_are_four_times_the_peak) {
  // 1200 x 4096 x 2 x 7e9 = 6.9e16 of 1.58e16 FLOP/s.
  const std::vector<ArticleServingRow> rows = {row("serve-8-7b", "infiniband", 28, 1200)};
  const ArticleServingCheck check = article_serving_check(rows, as_stated(rows));
  EXPECT_EQ(claim(check, "serve-8-7b-fresh-context").verdict, "contradicted");
  EXPECT_NE(claim(check, "serve-8-7b-fresh-context").evidence.find("4.3 times"), std::string::npos)
      << claim(check, "serve-8-7b-fresh-context").evidence;
}

TEST(ArticleServing, more_than_a_service_sustains_cannot_have_been_measured) {
  const std::vector<ArticleServingRow> rows = {row("serve-8-70b", "infiniband", 85, 320)};
  const ArticleServingCheck check = article_serving_check(rows, as_stated(rows));
  EXPECT_EQ(claim(check, "serve-8-70b-offered").verdict, "contradicted");
}

TEST(ArticleServing, an_order_is_right_when_both_are_on_one_side) {
  const std::vector<ArticleServingRow> rows = {row("serve-8-7b", "infiniband", 28, 1200),
                                               row("serve-8-7b", "roce-v2", 35, 1050)};
  ArticleServingRuns runs = as_stated(rows);
  runs.runs[{"serve-8-7b", "roce-v2"}].latency_ms = 27;
  const ArticleServingCheck check = article_serving_check(rows, runs);
  ASSERT_EQ(check.ratios.size(), 4U);
  EXPECT_FALSE(check.ratios[0].right_order);
  EXPECT_TRUE(check.ratios[1].right_order);
  EXPECT_NEAR(check.ratios[0].residual_pct(), 100 * (27.0 / 35 - 1), 1e-9);
}

TEST(ArticleServing, the_limit_has_to_lie_between_the_fabrics) {
  const std::vector<ArticleServingRow> rows = {row("serve-8-70b", "infiniband", 85, 320),
                                               row("serve-8-70b", "roce-v2", 132, 210)};
  EXPECT_TRUE(article_serving_check(rows, as_stated(rows)).limit_separates);
  ArticleServingRuns runs = as_stated(rows);
  runs.runs[{"serve-8-70b", "roce-v2"}].latency_ms = 99;
  EXPECT_FALSE(article_serving_check(rows, runs).limit_separates);
}

TEST(ArticleServing, tcp_is_judged_by_the_factor) {
  const std::vector<ArticleServingRow> rows = {row("serve-8-13b", "infiniband", 42, 850),
                                               row("serve-8-13b", "roce-v2", 58, 720)};
  ArticleServingRuns runs = as_stated(rows);
  runs.runs[{"serve-8-13b", "tcp"}] = {.latency_ms = 140, .max_qps = 600};
  const ArticleServingCheck check = article_serving_check(rows, runs);
  EXPECT_EQ(claim(check, "serve-8-13b-tcp-to-roce-latency").verdict, "holds");
  EXPECT_EQ(claim(check, "serve-8-13b-tcp-to-roce-concurrency").verdict, "partly");
}

TEST(ArticleServing, a_job_that_was_not_run_is_named) {
  const std::vector<ArticleServingRow> rows = {row("serve-8-7b", "infiniband", 28, 1200)};
  EXPECT_THROW(article_serving_check(rows, {}), base::Error);
}

}  // namespace
}  // namespace fabricast::validation
