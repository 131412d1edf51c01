// The policy file against the article, case by case (house-cases.csv beside this file).

#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "advice/advice.h"
#include "base/csv.h"
#include "base/yaml.h"
#include "model/model.h"

namespace fabricast::advice {
namespace {

constexpr const char* kCases = FABRICAST_SOURCE_DIR "/tests/advice/house-cases.csv";
constexpr const char* kPolicy = FABRICAST_SOURCE_DIR "/catalog/house-rules.yaml";
constexpr std::string_view kHeader =
    "gpus,gpu,model,task,existing_ethernet,budget,growth,expected,place,why";

struct Case {
  int line = 0;
  std::string text;
  HouseQuestion question;
  std::string expected;
};

int whole(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
  return value;
}

bool either(std::string_view text, std::string_view yes, std::string_view no) {
  EXPECT_TRUE(text == yes || text == no) << text;
  return text == yes;
}

Case read_case(const catalog::Catalog& known, int line, std::string_view content) {
  const auto cells = base::csv::split(content);
  EXPECT_EQ(cells.size(), 10U) << line << ": " << content;
  if (cells.size() != 10) return {};
  HouseQuestion question;
  question.gpus = whole(cells[0]);
  question.high_end_gpu = known.gpu(cells[1]).nvlink_gb_per_s > 0;
  question.model_parameters_b = model::parameters(known.model(cells[2])) * 1e-9;
  question.training = either(cells[3], "training", "serving");
  question.existing_ethernet = either(cells[4], "yes", "no");
  question.has_budget = either(cells[5], "yes", "no");
  question.growth_gpus = whole(cells[6]);
  EXPECT_FALSE(cells[8].empty() || cells[9].empty()) << line << ": a case without a reason";
  return {line, std::string(content), question, std::string(cells[7])};
}

std::vector<Case> cases() {
  const auto known = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  std::ifstream file(kCases);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<Case> cases;
  bool headed = false;
  base::csv::for_each_line(text, [&](int line, std::string_view content) {
    if (!headed) {
      EXPECT_EQ(content, kHeader);
      headed = true;
    } else {
      cases.push_back(read_case(known, line, content));
    }
  });
  return cases;
}

TEST(HouseCases, AreAnsweredAsTheArticleDoes) {
  const std::vector<Case> all = cases();
  int disagreements = 0;
  std::ostringstream list;
  for (const Case& c : all) {
    const HouseVerdict verdict = house_verdict(kPolicy, c.question);
    if (verdict.choice == c.expected) continue;
    ++disagreements;
    list << "line " << c.line << ": " << c.text << "\n    rule `" << verdict.rules.front().id
         << "` says " << verdict.choice << "\n";
  }
  EXPECT_EQ(disagreements, 0) << "of " << all.size() << " cases\n" << list.str();
}

TEST(HouseCases, AreManyAndNoneIsAskedTwice) {
  std::set<std::string> asked;
  for (const Case& c : cases()) {
    std::string question = c.text;
    for (int cell = 0; cell < 3; ++cell) question.resize(question.rfind(','));
    EXPECT_TRUE(asked.insert(question).second) << "line " << c.line << ": " << c.text;
  }
  EXPECT_GE(asked.size(), 70U);
}

TEST(HouseCases, LetEveryRuleOfThePolicyDecideOnce) {
  std::set<std::string> deciding;
  for (const Case& c : cases()) {
    deciding.insert(house_verdict(kPolicy, c.question).rules.front().id);
  }
  const base::yaml::Node policy = base::yaml::parse_file(kPolicy);
  ASSERT_NE(policy.find("rules"), nullptr);
  for (const base::yaml::Node& rule : policy.find("rules")->items) {
    EXPECT_TRUE(deciding.contains(rule.find("id")->scalar)) << rule.find("id")->scalar;
  }
}

TEST(HouseCases, StandOnBothSidesOfEverySizeThatTheArticleNames) {
  std::set<int> sizes;
  for (const Case& c : cases()) sizes.insert(c.question.gpus);
  for (const int gpus : {7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 128}) {
    EXPECT_TRUE(sizes.contains(gpus)) << gpus;
  }
}

}  // namespace
}  // namespace fabricast::advice
