#include "validation/article_check.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::validation {
namespace {

const std::string kFolder = FABRICAST_SOURCE_DIR "/validation/article";

/// Runs that are the article's own figures, but days that follow its utilisation.
ArticleRuns perfect(const std::vector<ArticleRow>& rows) {
  ArticleRuns runs;
  for (const ArticleRow& row : rows) {
    runs.runs[{row.job, row.fabric}] = {row.utilisation_pct, row.jitter_pct,
                                        1 / row.utilisation_pct, 1};
    runs.jobs[row.job] = {7e9, 16e15};
    runs.runs[{row.job, "tuned-infiniband"}].step_s = 1;
    runs.runs[{row.job, "tuned-roce-v2"}].step_s = 1.03;
  }
  runs.one_node_step_s = {{"infiniband", 1}, {"roce-v2", 1.004}};
  return runs;
}

TEST(ArticleCheck, reads_the_three_jobs_on_two_fabrics) {
  const auto rows = read_article(kFolder);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[5].job, "train-32-70b");
  EXPECT_EQ(rows[5].fabric, "roce-v2");
  EXPECT_EQ(rows[5].utilisation_pct, 65);
  EXPECT_EQ(rows[5].days, 24.5);
  EXPECT_EQ(rows[5].jitter_pct, 12.3);
  EXPECT_THROW(read_article("/nowhere"), base::Error);
}

TEST(ArticleCheck, meets_what_is_the_same) {
  const auto rows = read_article(kFolder);
  const ArticleCheck check = article_check(rows, perfect(rows));
  for (const auto* findings : {&check.utilisation, &check.jitter, &check.days, &check.controls}) {
    for (const Finding& finding : *findings) EXPECT_TRUE(finding.met()) << finding.job;
  }
  EXPECT_EQ(check.controls.size(), 4U);
}

// 85 / 65 = 1.31, 24.5 / 15.2 = 1.61: 23 % apart. 8 and 16 GPUs: 4.5 and 3.7 %.
TEST(ArticleCheck, tells_where_the_article_contradicts_itself) {
  const auto rows = read_article(kFolder);
  const auto residuals = article_check(rows, perfect(rows)).contradictions;
  ASSERT_EQ(residuals.size(), 3U);
  EXPECT_NEAR(residuals[0].second, 100 * (3.5 / 3.2 / (90.0 / 86) - 1), 1e-9);
  EXPECT_NEAR(residuals[2].second, 23.26, 0.01);
}

// 6 x 7e9 x 10e6 = 4.2e17 FLOP: 26 s at 16 PFLOP/s; 3.2 days are 276,480 s.
TEST(ArticleCheck, does_the_arithmetic_of_its_days) {
  const auto rows = read_article(kFolder);
  const auto first = article_check(rows, perfect(rows)).arithmetic.at(0);
  EXPECT_NEAR(first.flop, 4.2e17, 1e12);
  EXPECT_NEAR(first.at_peak_s, 26.25, 1e-6);
  EXPECT_NEAR(first.article_s, 276'480, 1e-6);
}

TEST(ArticleCheck, tolerances_are_four_points_five_blind_and_a_factor) {
  const auto rows = read_article(kFolder);
  ArticleRuns runs = perfect(rows);
  runs.runs[{"train-32-70b", "roce-v2"}].utilisation_pct += 4.1;
  runs.runs[{"train-16-13b", "roce-v2"}].utilisation_pct -= 4.9;
  runs.runs[{"train-32-70b", "roce-v2"}].jitter_pct /= 1.59;
  runs.runs[{"train-8-7b", "infiniband"}].jitter_pct *= 1.61;
  const ArticleCheck check = article_check(rows, runs);
  EXPECT_FALSE(check.utilisation[5].met());
  EXPECT_TRUE(check.utilisation[3].blind);
  EXPECT_TRUE(check.utilisation[3].met());
  EXPECT_TRUE(check.jitter[5].met());
  EXPECT_FALSE(check.jitter[0].met());
}

TEST(ArticleCheck, refuses_a_job_that_was_not_run) {
  EXPECT_THROW(article_check(read_article(kFolder), {}), base::Error);
}

}  // namespace
}  // namespace fabricast::validation
