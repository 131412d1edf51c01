#include "report/article.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/table.h"

namespace fabricast::report {
namespace {

using Json = nlohmann::json;

/// One job: `here` in place of 65 %, days that contradict their utilisations by `residual`.
validation::ArticleCheck check(double here, double residual, double article_s = 1e6) {
  validation::ArticleCheck result;
  result.utilisation = {{"train-32-70b", "roce-v2", 65, here, here - 65, 4, false}};
  result.jitter = {{"train-32-70b", "roce-v2", 12.3, 12.3, 0, 0.47, false}};
  result.days = {{"train-32-70b", "", 1.308, 1.3, -0.6, 6, true}};
  result.contradictions = {{"train-32-70b", residual}};
  result.arithmetic = {{"train-32-70b", 4e19, 654, 2562, article_s}};
  result.controls = {{"train-32-70b", "roce-v2 / infiniband", 0, 0.1, 0.1, 4, false}};
  return result;
}

TEST(ArticleReport, names_what_is_missed) {
  EXPECT_NE(article_text(check(67, 23), {false, false}).find("Nothing is missed."),
            std::string::npos);
  const std::string text = article_text(check(69.5, 23), {false, false});
  EXPECT_NE(text.find("Missed: 1 (train-32-70b roce-v2)."), std::string::npos) << text;
}

TEST(ArticleReport, says_contradicted_only_of_what_is) {
  EXPECT_NE(article_text(check(65, 23), {false, false}).find("give 1.61, +23 %"),
            std::string::npos);
  const std::string text = article_text(check(65, 3, 3000), {false, false});
  EXPECT_EQ(text.find("Contradicted"), std::string::npos) << text;
  const Json json = Json::parse(validation_json(article_result(check(65, 3, 3000))));
  for (const Json& claim : json["claims"]) EXPECT_NE(claim["verdict"], "contradicted") << claim;
  const Json other = Json::parse(validation_json(article_result(check(65, 23))));
  EXPECT_EQ(other["claims"][0]["verdict"], "contradicted");
  EXPECT_EQ(other["claims"][1]["verdict"], "contradicted");
}

TEST(ArticleReport, fits_the_terminal_in_both_languages) {
  for (const bool chinese : {false, true}) {
    const std::string text = article_text(check(69.5, 23), {chinese, false});
    std::size_t from = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         from = end + 1, end = text.find('\n', from)) {
      EXPECT_LE(base::display_width(text.substr(from, end - from)), 80)
          << text.substr(from, end - from);
    }
  }
}

}  // namespace
}  // namespace fabricast::report
