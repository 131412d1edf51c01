#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "advice/advice.h"

namespace fabricast::advice {
namespace {

const std::string kPolicy = std::string(FABRICAST_SOURCE_DIR) + "/catalog/house-rules.yaml";

struct Case {
  const char* says;  ///< what the guide says, with its section
  const char* choice;
  int gpus;
  double model_b;
  bool training;
  bool ethernet = false;
  bool budget = false;
  bool high_end = true;
  int growth = 0;
};

HouseQuestion question(const Case& c) {
  return {.gpus = c.gpus,
          .model_parameters_b = c.model_b,
          .training = c.training,
          .existing_ethernet = c.ethernet,
          .has_budget = c.budget,
          .high_end_gpu = c.high_end,
          .growth_gpus = c.growth};
}

constexpr bool kTrain = true;
constexpr bool kServe = false;
constexpr bool kEthernet = true;
constexpr bool kBudget = true;
constexpr bool kMidRange = false;

// Every line is a statement of the guide, sections 2.3, 3.1 to 3.3 and 4.1 to 4.3, or one of its
// contradictions as the policy file settles them (its header says why).
const Case kCases[] = {
    {"3.3(1) 7B training on 8", "roce-v2", 8, 6.7, kTrain},
    {"3.3(1) 13B training on 8", "roce-v2", 8, 13.0, kTrain},
    {"3.3(1) 7B inference on 8", "roce-v2", 8, 6.7, kServe},
    {"3.3(1) 13B inference on 8", "roce-v2", 8, 13.0, kServe},
    {"4.1(1) mainly 8 and 4 GPUs", "roce-v2", 4, 6.7, kTrain},
    {"4.1(2) one developer trying things out", "roce-v2", 1, 6.7, kTrain},
    {"4.3(1) 2 GPUs do not need InfiniBand", "roce-v2", 2, 13.0, kServe},
    {"4.1(2) 7B training stays small up to 16", "roce-v2", 12, 6.7, kTrain},
    {"4.1(2) 7B training on exactly 16", "roce-v2", 16, 6.7, kTrain},
    {"4.1(2) Llama 3 8B is of the 7B class", "roce-v2", 16, 8.03, kTrain},
    {"4.1(2) 7B inference on 16", "roce-v2", 16, 6.7, kServe},
    {"4.1(2) 13B inference on 16", "roce-v2", 16, 13.0, kServe},
    {"4.1(1) 13B training below 16", "roce-v2", 12, 13.0, kTrain},
    {"3.3(2) 13B training on 16", "infiniband", 16, 13.0, kTrain},
    {"3.3(2) 13B training on 24", "infiniband", 24, 13.0, kTrain},
    {"3.3(2) 13B training on 32", "infiniband", 32, 13.0, kTrain},
    {"3.3(2) 70B training on 16", "infiniband", 16, 69.0, kTrain},
    {"3.1(3) 70B training on 32", "infiniband", 32, 69.0, kTrain},
    {"3.3(2) 30B lies between 13B and 70B", "infiniband", 24, 30.0, kTrain},
    {"3.3(3) 70B training on 64", "infiniband", 64, 69.0, kTrain},
    {"3.3(3) 405B training on 1024", "infiniband", 1024, 405.9, kTrain},
    {"4.2(2) 13B training at scale", "infiniband", 128, 13.0, kTrain},
    {"4.2(2) 70B training on 8", "infiniband", 8, 69.0, kTrain},
    {"3.2(3) 70B inference on 8 passes 100 ms on RoCE", "infiniband", 8, 69.0, kServe},
    {"4.2(2) 70B inference on 32", "infiniband", 32, 70.6, kServe},
    {"4.3(3) 7B training above 16", "infiniband", 17, 6.7, kTrain},
    {"4.3(3) 7B training on 32", "infiniband", 32, 6.7, kTrain},
    {"4.3(3) 7B inference on 64", "infiniband", 64, 6.7, kServe},
    {"4.2(1) 64 GPUs", "infiniband", 64, 13.0, kServe},
    {"2.3 thousands of GPUs", "infiniband", 4096, 6.7, kTrain},
    {"3.3(4) cost and Ethernet, 7B training on 24", "roce-v2", 24, 6.7, kTrain, kEthernet, kBudget},
    {"3.3(4) cost and Ethernet, 13B training on 16", "roce-v2", 16, 13.0, kTrain, kEthernet,
     kBudget},
    {"3.3(4) cost and Ethernet, 13B inference on 64", "roce-v2", 64, 13.0, kServe, kEthernet,
     kBudget},
    {"3.1(3) at 32 GPUs RoCE becomes the bottleneck, Ethernet or not", "infiniband", 32, 13.0,
     kTrain, kEthernet, kBudget},
    {"3.3(3) only InfiniBand, at any price", "infiniband", 64, 69.0, kTrain, kEthernet, kBudget},
    {"3.3(2) 70B on 16, at any price", "infiniband", 16, 69.0, kTrain, kEthernet, kBudget},
    {"3.2(3) 70B inference, Ethernet or not", "infiniband", 8, 69.0, kServe, kEthernet, kBudget},
    {"2.3 Ethernet alone, 7B training on 24", "roce-v2", 24, 6.7, kTrain, kEthernet},
    {"2.3 Ethernet alone, 13B inference on 24", "roce-v2", 24, 13.0, kServe, kEthernet},
    {"3.3(2) Ethernet alone does not outweigh 12 %", "infiniband", 16, 13.0, kTrain, kEthernet},
    {"2.3 Ethernet alone ends with the large clusters", "infiniband", 64, 6.7, kServe, kEthernet},
    {"4.1(3) a budget alone changes nothing on 8", "roce-v2", 8, 6.7, kTrain, false, kBudget},
    {"3.1(3) a budget alone changes nothing on 32", "infiniband", 32, 69.0, kTrain, false, kBudget},
    {"4.3(4) RTX 4090 on 8", "roce-v2", 8, 6.7, kServe, false, false, kMidRange},
    {"4.3(4) A10 on 32, 13B inference", "roce-v2", 32, 13.0, kServe, false, false, kMidRange},
    {"4.3(4) RTX 4090 on 16, 13B training", "roce-v2", 16, 13.0, kTrain, false, false, kMidRange},
    {"4.3(4) RTX 4090 that are to grow", "roce-v2", 8, 6.7, kTrain, false, false, kMidRange, 64},
    {"4.2(2) 70B on mid-range GPUs", "infiniband", 32, 69.0, kServe, false, false, kMidRange},
    {"4.3(3) 8 GPUs that are to become 64", "infiniband", 8, 6.7, kTrain, false, false, true, 64},
    {"4.3(3) 16 GPUs that are to become 32", "infiniband", 16, 13.0, kServe, false, false, true,
     32},
    {"4.1(3) growth that stays within 16", "roce-v2", 8, 6.7, kTrain, false, false, true, 16},
    {"3.3(4) cost and Ethernet, growing", "roce-v2", 8, 6.7, kTrain, kEthernet, kBudget, true, 64},
    {"4.3(3) Ethernet, growing, cost no matter", "infiniband", 8, 6.7, kTrain, kEthernet, false,
     true, 64},
};

TEST(HouseRules, answer_as_the_guide_does) {
  for (const Case& c : kCases) {
    EXPECT_EQ(house_verdict(kPolicy, question(c)).choice, c.choice) << c.says;
  }
}

// The three runs and three services of the guide's section 3, whose tables favour InfiniBand on 16
// and 32 GPUs and for 70B inference, and call RoCE the better value on 8 GPUs.
TEST(HouseRules, name_the_section_that_decides_the_guides_own_tests) {
  const auto place = [](Case c) { return house_verdict(kPolicy, question(c)).rules.front().place; };
  EXPECT_EQ(place({"", "", 8, 6.7, kTrain}), "3.3(1), 4.3(1)");
  EXPECT_EQ(place({"", "", 16, 13.0, kTrain}), "3.3(2)");
  EXPECT_EQ(place({"", "", 32, 69.0, kTrain}), "3.3(2), 3.1(3)");
  EXPECT_EQ(place({"", "", 64, 69.0, kTrain}), "3.3(3)");
  EXPECT_EQ(place({"", "", 8, 69.0, kServe}), "3.2(3), 4.2(2)");
}

TEST(HouseRules, report_every_rule_that_applies_with_the_deciding_one_first) {
  const HouseVerdict verdict =
      house_verdict(kPolicy, question({"", "", 16, 13.0, kTrain, kEthernet, false}));
  ASSERT_EQ(verdict.rules.size(), 3U);
  EXPECT_EQ(verdict.rules[0].id, "training-16-to-32");
  EXPECT_EQ(verdict.rules[1].id, "existing-ethernet");
  EXPECT_EQ(verdict.rules[2].id, "up-to-16");
  EXPECT_EQ(verdict.choice, verdict.rules[0].choice);
}

TEST(HouseRules, keep_the_last_rule_for_what_no_other_covers) {
  for (const int gpus : {1, 8, 16, 17, 100000}) {
    for (const HouseRule& rule :
         house_verdict(kPolicy, question({"", "", gpus, 6.7, kTrain})).rules) {
      EXPECT_EQ(rule.id == "above-16", gpus > 16) << gpus;
    }
  }
}

TEST(HouseRules, give_exactly_one_choice_for_any_question) {
  for (const int gpus : {1, 8, 9, 15, 16, 17, 31, 32, 33, 1000}) {
    for (int bits = 0; bits < 32; ++bits) {
      for (const double model_b : {6.7, 13.0, 69.0}) {
        const Case c{"",
                     "",
                     gpus,
                     model_b,
                     (bits & 1) != 0,
                     (bits & 2) != 0,
                     (bits & 4) != 0,
                     (bits & 8) != 0,
                     (bits & 16) != 0 ? 2 * gpus : 0};
        const HouseVerdict verdict = house_verdict(kPolicy, question(c));
        EXPECT_TRUE(verdict.choice == "infiniband" || verdict.choice == "roce-v2");
        ASSERT_FALSE(verdict.rules.empty());
      }
    }
  }
}

// Meta trains on 24,576 GPUs over RoCE: a rule that refuses RoCE for its size must say so.
TEST(HouseRules, carry_public_evidence_against_limits_on_roce) {
  const HouseVerdict verdict = house_verdict(kPolicy, question({"", "", 64, 69.0, kTrain}));
  EXPECT_NE(verdict.rules.front().challenge.en.find("24,576"), std::string::npos);
  EXPECT_NE(verdict.rules.front().challenge_source.find("SIGCOMM 2024"), std::string::npos);
}

TEST(HouseRules, are_told_in_both_languages) {
  for (const Case& c : kCases) {
    for (const HouseRule& rule : house_verdict(kPolicy, question(c)).rules) {
      EXPECT_FALSE(rule.text.empty()) << rule.id;
      EXPECT_FALSE(rule.text_zh.empty()) << rule.id;
      EXPECT_EQ(rule.challenge.en.empty(), rule.challenge.zh.empty()) << rule.id;
    }
  }
}

/// A policy file of the given rules that lives as long as the test.
class PolicyFile : public testing::Test {
 protected:
  std::string error_of(const std::string& text) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("fabricast-policy-" + std::to_string(getpid()) + ".yaml");
    std::ofstream(path) << text;
    std::string message;
    try {
      house_verdict(path.string(), {.gpus = 8});
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
      message = error.what();
    }
    std::filesystem::remove(path);
    return message;
  }

  static std::string rule(const std::string& id, const std::string& rest) {
    return "  - {id: " + id + ", place: x, text: x, text_zh: x, " + rest + "}\n";
  }
};

TEST_F(PolicyFile, with_a_condition_on_the_last_rule_is_refused) {
  EXPECT_NE(error_of("rules:\n" + rule("a", "choice: tcp, when: {gpus_max: 8}")), "");
  EXPECT_EQ(error_of("rules:\n" + rule("a", "choice: tcp")), "");
}

TEST_F(PolicyFile, with_rules_behind_an_unconditional_one_is_refused) {
  EXPECT_NE(error_of("rules:\n" + rule("a", "choice: tcp") + rule("b", "choice: tcp")), "");
}

TEST_F(PolicyFile, with_a_repeated_id_is_refused) {
  EXPECT_NE(error_of("rules:\n" + rule("a", "choice: tcp, when: {gpus_max: 8}") +
                     rule("a", "choice: tcp")),
            "");
}

TEST_F(PolicyFile, with_an_unknown_condition_is_refused_by_name_with_the_near_miss) {
  const std::string message = error_of("rules:\n" + rule("a", "choice: tcp, when: {gpu_max: 8}") +
                                       rule("b", "choice: tcp"));
  EXPECT_NE(message.find("gpu_max"), std::string::npos) << message;
  EXPECT_NE(message.find("gpus_max"), std::string::npos) << message;
}

TEST_F(PolicyFile, with_an_unknown_choice_is_refused) {
  EXPECT_NE(error_of("rules:\n" + rule("a", "choice: roce")).find("roce-v2"), std::string::npos);
}

TEST_F(PolicyFile, without_rules_is_refused) {
  EXPECT_NE(error_of("rules: []\n"), "");
}

}  // namespace
}  // namespace fabricast::advice
