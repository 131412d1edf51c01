// `fabricast advise` and `fabricast bom`, as a user runs them.

#include <algorithm>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

constexpr const char* kArticle = FABRICAST_SOURCE_DIR "/examples/article/";

int validated(const std::string& document, const char* schema) {
  const std::string command =
      std::string(FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                   "/tests/golden/validate.py " FABRICAST_SOURCE_DIR "/docs/") +
      schema + " " + file_with(document, "result.json");
  return std::system(command.c_str());  // NOLINT(cert-env33-c): our own validator
}

/// One store for all runs, which need not learn of a fabric twice.
Execution run(const std::vector<std::string>& arguments) {
  static const std::string store = fresh_path("results.sqlite");
  return fabricast(arguments, store);
}

/// What is asked twice is answered once.
const Json& advised(std::vector<std::string> arguments) {
  static std::map<std::vector<std::string>, Json> known;
  arguments.insert(arguments.begin(), "advise");
  arguments.insert(arguments.end(), {"--json", "-", "--quiet"});
  const auto [entry, fresh] = known.try_emplace(arguments);
  if (!fresh) return entry->second;
  const Execution made = run(arguments);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(validated(made.out, "advise.schema.json"), 0);
  entry->second = Json::parse(made.out, nullptr, false);
  return entry->second;
}

const Json* chosen(const Json& advice) {
  for (const Json& design : advice["designs"]) {
    if (design["chosen"].get<bool>()) return &design;
  }
  return nullptr;
}

const std::vector<std::string> kTrain = {"--gpus",  "32",         "--gpu",  "h100-sxm",
                                         "--model", "llama2-70b", "--task", "train"};

TEST(Advise, chooses_from_flags_alone_and_says_both_voices) {
  const Json advice = advised(kTrain);
  const Json& verdict = advice["verdict"];
  EXPECT_EQ(verdict["house"]["choice"], "infiniband");
  EXPECT_TRUE(advice["fabrics"].contains(verdict["choice"].get<std::string>()));
  const Json* design = chosen(advice);
  ASSERT_NE(design, nullptr);
  EXPECT_EQ(verdict["design"], (*design)["name"]);
  EXPECT_EQ((*design)["fabric"], verdict["choice"]);
  EXPECT_GT(advice["designs"].size(), 40U);
}

TEST(Advise, gives_every_design_that_cannot_be_built_a_reason) {
  const Json advice = advised({"--gpus", "16", "--model", "llama2-13b", "--growth", "64"});
  int refused = 0;
  for (const Json& design : advice["designs"]) {
    if (design["feasible"].get<bool>()) continue;
    ++refused;
    EXPECT_FALSE(design["reason"].get<std::string>().empty()) << design["name"];
    EXPECT_FALSE(design["reason_zh"].get<std::string>().empty()) << design["name"];
    EXPECT_FALSE(design.contains("capex")) << design["name"];
  }
  EXPECT_GT(refused, 0);
}

// Two nodes can do without a switch, unless they are to grow.
TEST(Advise, joins_two_nodes_by_cables_alone_until_they_grow) {
  const auto direct = [](const Json& advice) {
    return std::ranges::count_if(advice["designs"], [](const Json& d) {
      return d["topology"] == "direct" && d["feasible"].get<bool>();
    });
  };
  const Json two = advised({"--gpus", "16", "--model", "llama2-7b"});
  const Json growing = advised({"--gpus", "16", "--model", "llama2-7b", "--growth", "32"});
  EXPECT_GT(direct(two), 0);
  EXPECT_EQ(direct(growing), 0);
}

TEST(Advise, pays_nothing_for_the_ethernet_that_is_there) {
  std::vector<std::string> flags = kTrain;
  flags.emplace_back("--existing-ethernet");
  const Json advice = advised(flags);
  int owned = 0;
  for (const Json& design : advice["designs"]) {
    if (design["name"].get<std::string>().find("existing Ethernet") == std::string::npos) continue;
    ++owned;
    for (const Json& other : advice["designs"]) {
      if (!other.contains("network_capex") || other["profile"] != design["profile"] ||
          other["nic_gbps"] != design["nic_gbps"] || other["name"] == design["name"]) {
        continue;
      }
      EXPECT_LT(design["network_capex"], other["network_capex"]) << design["name"];
    }
  }
  EXPECT_GT(owned, 0);
}

// Nothing that is left out costs less and is as quick.
TEST(Advise, marks_the_front_of_cost_against_time) {
  const Json advice = advised(kTrain);
  for (const Json& design : advice["designs"]) {
    if (!design["feasible"].get<bool>()) continue;
    const bool beaten = std::ranges::any_of(advice["designs"], [&](const Json& other) {
      return other["feasible"].get<bool>() && other["capex"] <= design["capex"] &&
             other["days"] <= design["days"] &&
             (other["capex"] < design["capex"] || other["days"] < design["days"]);
    });
    EXPECT_EQ(design["pareto"].get<bool>(), !beaten) << design["name"];
  }
}

TEST(Advise, scores_five_dimensions_from_nought_to_a_hundred) {
  const Json advice = advised(kTrain);
  double best_economy = 0;
  double best_performance = 0;
  for (const Json& design : advice["designs"]) {
    if (!design.contains("assessment")) continue;
    best_economy = std::max(best_economy, design["assessment"]["economy"].get<double>());
    best_performance =
        std::max(best_performance, design["assessment"]["performance"].get<double>());
  }
  EXPECT_DOUBLE_EQ(best_economy, 100);
  EXPECT_DOUBLE_EQ(best_performance, 100);
  EXPECT_EQ(advice["assessment_method"].size(), 5U);
}

TEST(Advise, follows_the_objective) {
  const auto with = [](const char* objective) {
    std::vector<std::string> flags = kTrain;
    flags.insert(flags.end(), {"--objective", objective});
    return advised(flags);
  };
  const Json cheapest = with("cheapest");
  const Json fastest = with("fastest");
  ASSERT_NE(chosen(cheapest), nullptr);
  ASSERT_NE(chosen(fastest), nullptr);
  for (const Json& design : cheapest["designs"]) {
    if (!design.contains("capex")) continue;
    EXPECT_LE((*chosen(cheapest))["capex"], design["capex"]);
    // Within what counts as a difference.
    EXPECT_LE((*chosen(fastest))["days"].get<double>(), 1.02 * design["days"].get<double>());
  }
}

TEST(Advise, names_the_nearest_when_nothing_is_in_time) {
  std::vector<std::string> flags = kTrain;
  flags.insert(flags.end(), {"--tokens", "1T", "--max-days", "1"});
  const Json advice = advised(flags);
  const std::string headline = advice["verdict"]["evidence"]["headline"];
  EXPECT_NE(headline.find("no fabric is done within 1.00 days; nearest:"), std::string::npos)
      << headline;
}

TEST(Advise, names_the_nearest_when_nothing_meets_the_slo) {
  const Json advice =
      advised({"--gpus", "8", "--model", "llama2-70b", "--task", "serve", "--slo-ms", "0.5"});
  const std::string headline = advice["verdict"]["evidence"]["headline"];
  EXPECT_NE(headline.find("nearest"), std::string::npos) << headline;
}

// The house speaks whatever the evidence can say.
TEST(Advise, lets_the_house_answer_where_nothing_fits) {
  const Json advice =
      advised({"--gpus", "1", "--gpu", "a10", "--model", "llama3-405b", "--task", "train"});
  EXPECT_EQ(advice["verdict"]["house"]["choice"], "infiniband");
  EXPECT_EQ(advice["verdict"]["choice"], "none");
  EXPECT_TRUE(advice["designs"].empty());
  EXPECT_FALSE(advice["nothing"]["en"].get<std::string>().empty());
}

TEST(Advise, answers_for_any_number_of_gpus) {
  for (const char* gpus : {"1", "3", "12", "13", "20", "100"}) {
    const Json advice = advised({"--gpus", gpus, "--model", "llama2-7b"});
    EXPECT_TRUE(advice["verdict"]["house"].contains("choice")) << gpus;
  }
}

// An unfilled last server counts as full, and the user is told.
TEST(Advise, says_when_it_fills_the_last_server) {
  const Execution made = run({"advise", "--gpus", "13", "--model", "llama2-7b"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.err.find("13 GPUs in servers of 8: simulated and billed as 16"), std::string::npos)
      << made.err;
}

// The rival that the prices are moved against is the one that the flip names.
TEST(Advise, says_what_a_price_would_turn_the_choice_to) {
  const Json& advice = advised(kTrain);
  ASSERT_TRUE(advice.contains("sensitivity"));
  const std::string choice = advice["verdict"]["choice"];
  for (const Json& input : advice["sensitivity"]) {
    if (!input.contains("flip_to")) continue;
    const std::string rival = input["flip_to"];
    EXPECT_NE(rival, choice);
    EXPECT_NE(advice["fabrics"][rival]["cost"]["network_capex"],
              advice["fabrics"][choice]["cost"]["network_capex"]);
  }
}

TEST(Advise, fits_on_a_terminal_of_80_by_40) {
  for (const char* language : {"en", "zh"}) {
    std::vector<std::string> flags = kTrain;
    flags.insert(flags.begin(), "advise");
    flags.insert(flags.end(), {"--lang", language, "--budget", "20M", "--quiet"});
    const Execution made = run(flags);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_LE(std::ranges::count(made.out, '\n'), 40) << made.out;
  }
}

TEST(Advise, writes_the_same_page_again) {
  const std::string first = fresh_path("a.html");
  std::vector<std::string> flags = kTrain;
  flags.insert(flags.begin(), "advise");
  flags.insert(flags.end(), {"--quiet", "--html", first});
  ASSERT_EQ(run(flags).exit_code, 0);
  const std::string page = read(first);
  ASSERT_EQ(run(flags).exit_code, 0);
  EXPECT_EQ(page, read(first));
  EXPECT_NE(page.find("<!doctype html>"), std::string::npos);
}

TEST(Advise, refuses_what_it_cannot_take) {
  const auto refused = [](std::vector<std::string> arguments, const std::string& why) {
    arguments.insert(arguments.begin(), "advise");
    const Execution made = run(arguments);
    EXPECT_EQ(made.exit_code, 2) << made.err;
    EXPECT_NE(made.err.find(why), std::string::npos) << made.err;
  };
  refused({}, "missing --gpus");
  refused({"--gpus", "0"}, "--gpus");
  refused({"--gpus", "8", "--budget", "0"}, "--budget: found `0`; allowed a number above 0");
  refused({"--gpus", "8", "--budget", "-5M"}, "--budget");
  refused({"--gpus", "8", "--budget", "5M", "--currency", "XYZ"}, "XYZ");
  refused({"--gpus", "8", "--gpu", "h1000"}, "h1000");
  // What no layout would mend is not told as a model that does not fit.
  refused({"--gpus", "8", "--precision", "fp9"}, "--precision: found the text `fp9`");
  refused({"--gpus", "8", "--gpu", "a10", "--precision", "fp8"}, "--precision: found fp8");
  refused({"--gpus", "8", "--growth", "2"}, "--growth: found 2; allowed 0, or at least the 8");
  refused({"--gpus", "8", "--currency", "USD"}, "--currency: found without a budget");
  refused(
      {file_with("cluster: {gpus: 16, gpu: h100-sxm, nic_gbps: 400}\nfabrics: [roce-v2]\n"
                 "workload: {kind: training, model: llama2-7b, sequence: 4096, global_batch: 64, "
                 "micro_batch: 1, tokens: 1e9}\n"
                 "faults: [{link: \"leaf0:1\", kind: down}]\n")},
      "faults of links of one network");
  refused({"--gpus", "8", "--model", "llama9"}, "llama9");
  refused({"--gpus", "8", "--task", "dream"}, "--task");
  refused({std::string(kArticle) + "train-8-7b.yaml", "--gpus", "8"}, "beside a scenario file");
  refused({"--gpus", "8", "--prices",
           file_with("currency: CNY\ndate: \"2026-11-02\"\n"
                     "prices: { qm970: 5 }\n",
                     "p.yaml")},
          "did you mean `qm9700`");
  refused({"--gpus", "8", "--prices",
           file_with("currency: CNY\ndate: \"2026-11-02\"\n"
                     "prices: { qm9700: -5 }\n",
                     "p.yaml")},
          "-5");
}

TEST(Bom, writes_json_as_its_schema_says) {
  const Execution made = run({"bom", std::string(kArticle) + "train-32-70b.yaml", "--json", "-"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(validated(made.out, "bom.schema.json"), 0);
}

TEST(Bom, maps_every_cable_once) {
  const Execution made = run({"bom", std::string(kArticle) + "train-32-70b.yaml", "--fabric",
                              "infiniband", "--cables", "-"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(std::ranges::count(made.out, '\n'), 1 + 64);
}

TEST(Bom, takes_prices_of_the_users_own) {
  const std::string prices = file_with(
      "currency: CNY\ndate: \"2026-11-02\"\nprices: { article-ib-36x200g: 1 }\n", "prices.yaml");
  const auto price = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"bom",      std::string(kArticle) + "train-32-70b.yaml",
                                          "--fabric", "infiniband",
                                          "--json",   "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(run(arguments).out)["fabrics"]["infiniband"]["network_capex"].get<double>();
  };
  EXPECT_NEAR(price({}) - price({"--prices", prices}), 5 * 79'999, 1e-6);
}

}  // namespace
}  // namespace fabricast::golden
