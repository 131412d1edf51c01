// Every kind of wrong input is refused with file, line, column, key, what was found and what is
// allowed, in the form that the reference fixes.

#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::changed;
using testing::full_example;
using testing::known;
using testing::refusal;

std::string load_refusal(const std::string& path) {
  try {
    load(path, known());
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

std::vector<std::string> fabric_ids() {
  std::vector<std::string> ids;
  for (const auto& profile : known().fabrics()) ids.push_back(profile.id);
  return ids;
}

TEST(Refusal, of_an_empty_file) {
  EXPECT_EQ(refusal(""), "job.yaml: found nothing (the file is empty); allowed a YAML mapping");
}

TEST(Refusal, of_a_file_that_is_not_there) {
  EXPECT_EQ(load_refusal("/nonexistent/job.yaml"),
            "/nonexistent/job.yaml: found a path that cannot be read (No such file or directory); "
            "allowed the path of a readable file");
}

TEST(Refusal, of_a_directory) {
  EXPECT_EQ(load_refusal("/tmp"), "/tmp: found a directory; allowed a file");
}

TEST(Refusal, of_invalid_utf8) {
  EXPECT_EQ(refusal(changed("train-32-70b", "train-\xff")),
            "job.yaml:1:13: found the byte 0xff, which is not UTF-8; allowed text in UTF-8");
}

TEST(Refusal, of_duplicate_keys) {
  EXPECT_EQ(refusal(full_example() + "seed: 2\n"),
            "job.yaml:26:1: seed: found a second value for this key (the first is in line 25); "
            "allowed each key once");
}

TEST(Refusal, of_a_list_in_place_of_the_scenario) {
  EXPECT_EQ(refusal("[1]"), "job.yaml:1:1: found a list; allowed a mapping");
}

TEST(Refusal, of_an_unknown_key_with_its_near_miss) {
  EXPECT_EQ(refusal(changed("cable_m: 10", "cabel_m: 10")),
            "job.yaml:9:65: cluster.topology.cabel_m: found an unknown key; allowed `cable_m`, "
            "`kind`, `management_ports`, `nodes_per_leaf`, `oversubscription` or "
            "`scalable_unit_nodes`; did you mean `cable_m`?");
  EXPECT_EQ(refusal(changed("seed: 1", "sede: 1")),
            "job.yaml:25:7: sede: found an unknown key; allowed `background`, `budget`, `cluster`, "
            "`constraints`, `fabrics`, `faults`, `name`, `objective`, `prices`, `seed` or "
            "`workload`; did you mean "
            "`seed`?");
}

TEST(Refusal, of_a_misspelt_key_comes_before_what_follows_from_it) {
  // Without `budget` and with a model that does not fit: the slip is told first.
  EXPECT_EQ(
      refusal(changed(changed("parallelism: auto", "parallelism: {dp: 32}"), "budget:", "budgt:"))
          .substr(0, 40),
      "job.yaml:23:8: budgt: found an unknown k");
}

TEST(Refusal, of_a_missing_key) {
  EXPECT_EQ(refusal(changed("  nic_gbps: 200\n", "")),
            "job.yaml:3:3: cluster.nic_gbps: found nothing (the key is missing); allowed a number "
            "from 1 to 10000");
  EXPECT_EQ(refusal(changed("  tokens: 100e6\n", "  token: 100e6\n")),
            "job.yaml:12:3: workload.tokens: found nothing (the key is missing); allowed a number "
            "from 1 to 1e+18; did you mean it by `token` in line 19?");
}

TEST(Refusal, of_a_missing_section) {
  EXPECT_EQ(refusal("cluster: {gpus: 8, gpu: a10, nic_gbps: 100}\nfabircs: [tcp]\n"),
            "job.yaml:1:1: fabrics: found nothing (the key is missing); allowed a list of fabric "
            "profiles; did you mean it by `fabircs` in line 2?");
}

TEST(Refusal, of_a_wrong_type) {
  EXPECT_EQ(refusal(changed("gpus: 32", "gpus: many")),
            "job.yaml:3:9: cluster.gpus: found the text `many`; allowed a whole number from 1 to "
            "1000000");
  EXPECT_EQ(refusal(changed("gpus: 32", "gpus: 31.5")),
            "job.yaml:3:9: cluster.gpus: found the number 31.5; allowed a whole number from 1 to "
            "1000000");
  EXPECT_EQ(refusal(changed("gpudirect: true", "gpudirect: maybe")),
            "job.yaml:8:38: cluster.host.gpudirect: found the text `maybe`; allowed `true` or "
            "`false`");
  EXPECT_EQ(refusal(changed("fabrics: [infiniband, roce-v2, tcp]", "fabrics: infiniband")),
            "job.yaml:10:10: fabrics: found the text `infiniband`; allowed a list");
  EXPECT_EQ(refusal(changed("faults: []", "faults:")),
            "job.yaml:22:1: faults: found nothing; allowed a list");
  EXPECT_EQ(refusal(changed("parallelism: auto", "parallelism: 8")),
            "job.yaml:18:16: workload.parallelism: found the number 8; allowed `auto` or a mapping "
            "such as `{tp: 8, pp: 1, dp: 4}`");
}

TEST(Refusal, of_negative_sizes) {
  EXPECT_EQ(refusal(changed("gpus: 32", "gpus: -32")),
            "job.yaml:3:9: cluster.gpus: found the number -32; allowed a whole number from 1 to "
            "1000000");
  EXPECT_EQ(refusal(changed("cable_m: 10", "cable_m: -10")),
            "job.yaml:9:65: cluster.topology.cable_m: found the number -10; allowed a number from "
            "0.1 to 10000");
  EXPECT_EQ(refusal(changed("global_batch: 512", "global_batch: 0")),
            "job.yaml:16:17: workload.global_batch: found the number 0; allowed a whole number "
            "from 1 to 1000000000");
  EXPECT_EQ(refusal(changed("seed: 1", "seed: -1")),
            "job.yaml:25:7: seed: found the number -1; allowed a whole number from 0 to "
            "9223372036854775807");
}

TEST(Refusal, of_huge_numbers) {
  EXPECT_EQ(refusal(changed("gpus: 32", "gpus: 1000001")),
            "job.yaml:3:9: cluster.gpus: found the number 1000001; allowed a whole number from 1 "
            "to 1000000");
  EXPECT_EQ(refusal(changed("tokens: 100e6", "tokens: 1e19")),
            "job.yaml:19:11: workload.tokens: found the number 1e19; allowed a number from 1 to "
            "1e+18");
  EXPECT_EQ(refusal(changed("tokens: 100e6", "tokens: 1e999")),
            "job.yaml:19:11: workload.tokens: found the number 1e999; allowed a number from 1 to "
            "1e+18");
  EXPECT_EQ(refusal(changed("gpus: 32", "gpus: 99999999999999999999999")),
            "job.yaml:3:9: cluster.gpus: found the number 99999999999999999999999; allowed a whole "
            "number from 1 to 1000000");
}

TEST(Refusal, of_numbers_that_are_not_finite) {
  EXPECT_EQ(refusal(changed("tokens: 100e6", "tokens: .inf")),
            "job.yaml:19:11: workload.tokens: found the text `.inf`; allowed a number from 1 to "
            "1e+18");
}

TEST(Refusal, of_an_unknown_fabric_suggests_the_near_miss) {
  EXPECT_EQ(refusal(changed("roce-v2", "roec-v2")),
            "job.yaml:10:23: fabrics[1]: found unknown fabric `roec-v2`; allowed " +
                base::one_of(fabric_ids()) + "; did you mean `roce-v2`?");
}

TEST(Refusal, of_other_unknown_ids_suggests_too) {
  const std::string gpu = refusal(changed("h100-sxm-80gb", "h100-smx-80gb"));
  EXPECT_EQ(gpu.substr(0, 62), "job.yaml:4:8: cluster.gpu: found unknown GPU `h100-smx-80gb`; ");
  EXPECT_TRUE(gpu.ends_with("; did you mean `h100-sxm-80gb`?")) << gpu;
  const std::string model = refusal(changed("llama2-70b", "lama2-70b"));
  EXPECT_TRUE(model.starts_with("job.yaml:13:10: workload.model: found unknown model `lama2-70b`"));
  EXPECT_TRUE(model.ends_with("; did you mean `llama2-70b`?")) << model;
}

TEST(Refusal, of_a_model_path_that_leads_nowhere) {
  EXPECT_EQ(refusal(changed("llama2-70b", "models/config.json")),
            "job.yaml:13:10: workload.model: found the path `models/config.json`, where there is "
            "no file; allowed the path of a file, seen from the scenario's directory");
}

TEST(Refusal, of_unknown_choices_suggests_the_near_miss) {
  EXPECT_EQ(refusal(changed("kind: training", "kind: trianing")),
            "job.yaml:12:9: workload.kind: found the text `trianing`; allowed `training` or "
            "`serving`; did you mean `training`?");
  EXPECT_EQ(refusal(changed("precision: fp8", "precision: fp16")),
            "job.yaml:14:14: workload.precision: found the text `fp16`; allowed `bf16`, `fp8`, "
            "`fp4` or `fp32`");
  EXPECT_EQ(refusal(changed("kind: storage", "kind: storrage")),
            "job.yaml:21:21: background[0].kind: found the text `storrage`; allowed `storage` or "
            "`tenant`; did you mean `storage`?");
}

TEST(Refusal, of_text_that_would_act_on_a_terminal) {
  EXPECT_EQ(refusal(changed("name: train-32-70b", "name: \"\\e[31mred\"")),
            "job.yaml:1:7: name: found the text `\\x1b[31mred`; allowed text without control "
            "characters");
  EXPECT_EQ(refusal(changed("gpus: 32", "\"\\e[31m\": 32")),
            "job.yaml:3:3: cluster: found the key `\\x1b[31m`; allowed keys without control "
            "characters");
  for (const char* place : {"h100-sxm-80gb", "currency: CNY", "llama2-70b", "roce-v2"}) {
    const std::string key = std::string_view(place).starts_with("currency") ? "currency: " : "";
    const std::string message = refusal(changed(place, key + "\"x\\e]0;\\a\""));
    EXPECT_NE(message, "accepted");
    EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
  }
}

TEST(Refusal, of_a_background_that_is_none) {
  EXPECT_EQ(refusal(changed("load: 0.05", "load: 0.95")),
            "job.yaml:21:36: background[0].load: found the number 0.95; allowed a number from 0 to "
            "0.9");
}

// At 1e-300 of the rate a message is sent every 10^295 s, which no clock of the simulation holds.
TEST(Refusal, of_a_background_too_thin_to_simulate) {
  EXPECT_EQ(refusal(changed("load: 0.05", "load: 1e-300")),
            "job.yaml:21:36: background[0].load: found the number 1e-300; allowed 0, or a number "
            "from 0.0001 to 0.9");
}

TEST(Refusal, of_backgrounds_that_overfill_the_network_together) {
  EXPECT_EQ(refusal(changed("{kind: storage, load: 0.05}",
                            "{kind: storage, load: 0.5}, {kind: storage, load: 0.5}")),
            "job.yaml:21:42: background[1]: found loads that add up to 1; allowed at most 0.9 for "
            "all of `background`");
}

TEST(Refusal, of_names_that_no_table_holds) {
  EXPECT_EQ(refusal(changed("name: train-32-70b", "name: " + std::string(201, 'x'))),
            "job.yaml:1:7: name: found a text of 201 bytes; allowed a name of at most 200 bytes");
  EXPECT_EQ(refusal(changed("[infiniband, roce-v2, tcp]",
                            "[{profile: tcp, name: " + std::string(201, 'x') + "}]")),
            "job.yaml:10:32: fabrics[0].name: found a text of 201 bytes; allowed a name of at most "
            "200 bytes");
}

// YAML 1.1 reads 010 as eight, YAML 1.2 as ten.
TEST(Refusal, of_numbers_that_may_be_octal) {
  EXPECT_EQ(refusal(changed("gpus: 32", "gpus: 032")),
            "job.yaml:3:9: cluster.gpus: found the text `032`; allowed a whole number from 1 to "
            "1000000");
}

TEST(Refusal, of_a_tenant_whose_job_is_not_there) {
  EXPECT_EQ(refusal(changed("{kind: storage, load: 0.05}", "{kind: tenant, job: other.yaml}")),
            "job.yaml:21:34: background[0].job: found the path `other.yaml`, where there is no "
            "file; allowed the path of a file, seen from the scenario's directory");
}

TEST(Refusal, of_a_tenant_without_the_length_of_its_bursts) {
  const std::string message =
      refusal(changed("{kind: storage, load: 0.05}", "{kind: tenant, load: 0.05}"));
  EXPECT_NE(message.find("burst_ms"), std::string::npos) << message;
  EXPECT_NE(refusal(changed("load: 0.05}", "load: 0.05, burst_ms: 1}")).find("burst_ms"),
            std::string::npos)
      << "storage has no bursts";
}

TEST(Refusal, of_a_fault_on_no_link) {
  EXPECT_EQ(
      refusal(changed("faults: []", "faults: [{at_ms: 5, link: leaf0, kind: down, for_ms: 1}]")),
      "job.yaml:22:27: faults[0].link: found the text `leaf0`; allowed a device and a port "
      "number, such as `leaf0:3`");
}

TEST(Refusal, of_a_currency_without_prices) {
  const std::string message = refusal(changed("currency: CNY", "currency: CNX"));
  EXPECT_TRUE(message.starts_with(
      "job.yaml:23:34: budget.currency: found the currency `CNX`; allowed `CNY`"))
      << message;
  EXPECT_TRUE(message.ends_with("; did you mean `CNY`?")) << message;
}

TEST(Refusal, of_growth_below_the_cluster) {
  EXPECT_EQ(refusal(changed("growth_gpus: 64", "growth_gpus: 16")),
            "job.yaml:24:55: constraints.growth_gpus: found 16 GPUs to grow to; allowed 0, or at "
            "least the 32 of `cluster.gpus`");
}

}  // namespace
}  // namespace fabricast::scenario
