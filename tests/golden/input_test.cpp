// Wrong input ends with exit code 2, one message on standard error, and nothing on standard output.

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "program.h"

namespace fabricast::golden {
namespace {

const char* const kExample = FABRICAST_SOURCE_DIR "/examples/article/train-8-7b.yaml";

/// The smallest of the examples with one passage replaced.
std::string example_with(const std::string& passage, const std::string& replacement) {
  std::string text = read(kExample);
  const std::size_t at = text.find(passage);
  EXPECT_NE(at, std::string::npos) << "the example has no `" << passage << "`";
  if (at != std::string::npos) text.replace(at, passage.size(), replacement);
  return file_with(text);
}

/// Each of `words` must appear in the one line of the message.
void expect_refused(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& words) {
  const Execution run = fabricast(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  for (const std::string& word : words) {
    EXPECT_NE(run.err.find(word), std::string::npos) << "no `" << word << "` in: " << run.err;
  }
}

TEST(WrongInput, a_scenario_that_does_not_exist) {
  expect_refused({"compare", "no-such-file.yaml"}, {"no-such-file.yaml"});
}

TEST(WrongInput, an_empty_file) {
  expect_refused({"compare", file_with("")}, {"scenario.yaml"});
}

TEST(WrongInput, a_folder_in_place_of_a_file) {
  expect_refused({"compare", "/tmp"}, {"/tmp"});
}

TEST(WrongInput, yaml_that_does_not_parse) {
  expect_refused({"compare", file_with("cluster: { gpus: 8\nfabrics: [")}, {"scenario.yaml:"});
}

TEST(WrongInput, bytes_that_are_not_utf_8) {
  expect_refused({"compare", file_with("name: \xff\xfe\n")}, {"scenario.yaml:1:7"});
}

TEST(WrongInput, an_unknown_fabric_with_the_near_miss) {
  expect_refused({"compare", example_with("article-roce-v2", "article-roec-v2")},
                 {"fabrics", "article-roec-v2", "did you mean `article-roce-v2`?"});
}

TEST(WrongInput, an_unknown_key_with_its_line_and_the_near_miss) {
  expect_refused({"compare", example_with("gpus_per_node: 4", "gpus_per_nod: 4")},
                 {"scenario.yaml:", "cluster", "gpus_per_nod", "did you mean `gpus_per_node`?"});
}

TEST(WrongInput, a_gpu_that_the_catalogue_does_not_know) {
  expect_refused({"compare", example_with("h100-sxm-80gb", "h1000")}, {"cluster.gpu", "h1000"});
}

TEST(WrongInput, a_number_of_gpus_that_is_negative) {
  expect_refused({"compare", example_with("gpus: 8", "gpus: -8")}, {"cluster.gpus", "-8"});
}

TEST(WrongInput, a_text_where_a_number_belongs) {
  expect_refused({"compare", example_with("sequence: 4096", "sequence: long")},
                 {"workload.sequence", "long"});
}

TEST(WrongInput, a_layout_that_does_not_multiply_to_the_number_of_gpus) {
  expect_refused({"compare", example_with("dp: 8", "dp: 3")}, {"8", "3"});
}

TEST(WrongInput, a_layout_that_does_not_fit_in_memory_with_the_numbers) {
  expect_refused({"compare", example_with("llama2-7b", "llama2-70b")}, {"80", "GB"});
}

TEST(WrongInput, a_batch_that_does_not_divide) {
  expect_refused({"compare", example_with("global_batch: 192", "global_batch: 191")},
                 {"workload.global_batch", "191"});
}

TEST(WrongInput, two_fabrics_of_one_name) {
  expect_refused({"compare", example_with("name: roce-v2", "name: infiniband")}, {"infiniband"});
}

TEST(WrongInput, a_buffer_below_the_headroom_of_its_ports_at_its_place) {
  expect_refused({"compare", example_with("name: roce-v2 }",
                                          "name: roce-v2, switching: { buffer_mb: 0.1 } }")},
                 {"scenario.yaml:25:72: fabrics[1].switching.buffer_mb: found 100000 bytes",
                  "; allowed more than the "});
}

TEST(WrongInput, a_cable_longer_than_any_on_sale_at_its_place) {
  expect_refused({"compare", example_with("cable_m: 10 ", "cable_m: 9999 ")},
                 {"scenario.yaml:22:84: cluster.topology.cable_m: found 9999 m; allowed at most "});
}

TEST(WrongInput, a_workload_that_this_version_does_not_simulate) {
  expect_refused({"compare", example_with("iterations: 200",
                                          "iterations: 200\nfaults: [{at_ms: 5, link: \"leaf0:3\", "
                                          "kind: down, for_ms: 20}]")},
                 {"faults[0].at_ms"});
}

TEST(WrongInput, a_fault_on_a_link_that_a_fabric_does_not_have) {
  expect_refused(
      {"compare", example_with("iterations: 200",
                               "iterations: 200\nfaults: [{link: \"leaf77:3\", kind: down}]")},
      {"faults[0].link: found `leaf77:3`, which `infiniband` does not have", "such as `leaf0:"});
}

TEST(WrongInput, on_standard_input_has_a_place_too) {
  const std::string err = file_with("", "err");
  const std::string command =
      "printf 'seed: {' | " + std::string(FABRICAST_PROGRAM) + " compare - >/dev/null 2>" + err;
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_TRUE(read(err).starts_with("/dev/stdin:1:")) << read(err);
}

TEST(WrongUsage, no_command) {
  expect_refused({}, {"--help"});
}

TEST(WrongUsage, an_unknown_command_with_the_near_miss) {
  expect_refused({"compar", kExample}, {"compar", "did you mean `compare`?"});
}

TEST(WrongUsage, a_command_of_a_later_version) {
  expect_refused({"console"}, {"console", "not in this version", "compare"});
}

TEST(WrongUsage, an_unknown_flag) {
  expect_refused({"compare", kExample, "--sed", "3"}, {"--sed"});
}

TEST(WrongUsage, a_seed_that_is_no_number) {
  expect_refused({"compare", kExample, "--seed", "x"}, {"--seed"});
}

TEST(WrongUsage, a_seed_that_is_negative_too_large_or_empty) {
  for (const char* seed : {"-1", "18446744073709551616", ""}) {
    expect_refused({"compare", kExample, std::string("--seed=") + seed}, {"--seed"});
  }
}

TEST(WrongUsage, a_result_in_the_place_of_the_scenario) {
  const std::string scenario = file_with(read(kExample));
  expect_refused({"compare", scenario, "--json", scenario}, {"a file that is read"});
  EXPECT_EQ(read(scenario), read(kExample));
}

TEST(WrongUsage, no_threads) {
  expect_refused({"compare", kExample, "--threads", "0"}, {"--threads"});
}

TEST(WrongInput, a_fault_that_flows_do_not_know_where_flows_are_asked_for) {
  expect_refused({"compare",
                  example_with("iterations: 200",
                               "iterations: 200\nfaults: [{link: \"leaf0:0\", kind: no-ecn}]"),
                  "--resolution", "flow"},
                 {"faults[0].kind: found `no-ecn` beside `--resolution flow`"});
}

TEST(WrongInput, a_priority_where_flows_are_asked_for) {
  expect_refused(
      {"flows", file_with("id,src,dst,bytes,start_us,priority\na,0,4,1e6,0,1\n", "p.csv"),
       "--system",
       file_with("cluster: {gpus: 8, gpu: a100-sxm, gpus_per_node: 1, nics_per_node: 1, "
                 "nic_gbps: 100, topology: {kind: single-switch}}\n"
                 "fabric: {profile: infiniband, classes: {count: 2}}\n",
                 "s.yaml"),
       "--resolution", "flow"},
      {"priority: found `1` of `a` beside `--resolution flow`"});
}

TEST(WrongUsage, an_unknown_resolution) {
  expect_refused({"compare", kExample, "--resolution", "fluid"},
                 {"found `fluid`; allowed `packet`, `flow` or `auto`"});
}

TEST(WrongUsage, a_report_of_a_command_that_writes_none) {
  expect_refused({"train", kExample, "--fabric", "infiniband", "--html", "report.html"},
                 {"--html: found on `train`", "`compare` and `advise`"});
}

TEST(WrongUsage, a_language_that_does_not_exist) {
  expect_refused({"compare", kExample, "--lang", "fr"}, {"--lang"});
}

TEST(WrongUsage, a_json_file_in_a_folder_that_does_not_exist) {
  expect_refused({"compare", kExample, "--json", "no/such/folder/x.json"}, {"no/such/folder"});
}

TEST(WrongUsage, a_json_file_that_cannot_be_created_is_told_before_the_run) {
  const std::string too_long = std::string(300, 'x') + ".json";
  for (const std::string& path :
       {std::string("/proc/x"), too_long, std::string("/dev/null/x"), std::string("/tmp")}) {
    expect_refused({"compare", kExample, "--json=" + path},
                   {"--json: found `", "cannot be written", "allowed a file"});
  }
}

TEST(WrongInput, a_catalogue_that_is_not_there) {
  ASSERT_EQ(setenv("FABRICAST_CATALOG", "/nonexistent", 1), 0);
  expect_refused({"catalog"}, {"FABRICAST_CATALOG: found `/nonexistent`", "; allowed "});
  unsetenv("FABRICAST_CATALOG");
}

// Every way in: arguments, file names, ids, keys and texts.
TEST(WrongInput, with_escape_sequences_leaves_none_in_the_message) {
  const std::string escape = "\x1b]0;x\x07";
  const std::string yaml = "\"\\e]0;x\\a\"";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {escape},
           {"compare", escape},
           {"compare", "--" + escape},
           {"compare", kExample, "--seed", escape},
           {"compare", kExample, "--lang", escape},
           {"compare", kExample, "--threads", escape},
           {"compare", kExample, "--resolution", escape},
           {"compare", kExample, "--json", "no-folder/" + escape},
           {"compare", kExample, escape},
           {"catalog", escape},
           {"catalog", "gpus", escape},
           {"compare", example_with("train-8-7b\ncluster", yaml + "\ncluster")},
           {"compare", example_with("h100-sxm-80gb", yaml)},
           {"compare", example_with("name: roce-v2", "name: " + yaml)},
           {"compare", example_with("name: roce-v2", yaml + ": roce-v2")},
           {"compare", example_with("llama2-7b", yaml)},
           {"compare", example_with("currency: CNY", "currency: " + yaml)},
           {"compare", example_with("kind: storage", "kind: " + yaml)},
           {"compare", example_with("sequence: 4096", "sequence: " + yaml)},
       }) {
    const Execution run = fabricast(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(run.err.find_first_of("\x1b\x07"), std::string::npos) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
}

TEST(WrongUsage, an_unknown_kind_of_the_catalogue) {
  expect_refused({"catalog", "gpu"}, {"gpus", "did you mean `gpus`?"});
}

TEST(Help, of_every_command_has_examples_and_ends_well) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"compare", "--help"},
                                                    {"catalog", "--help"},
                                                    {"sweep", "--help"},
                                                    {"results", "--help"},
                                                    {"results", "show", "--help"},
                                                    {"results", "compare", "--help"}}) {
    const Execution run = fabricast(arguments);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_NE(run.out.find("Examples:"), std::string::npos) << run.out;
  }
}

TEST(Help, of_the_catalogue_shows_the_flags_that_act) {
  const std::string help = fabricast({"catalog", "--help"}).out;
  EXPECT_NE(help.find("--json"), std::string::npos);
  EXPECT_EQ(help.find("--seed"), std::string::npos);
  EXPECT_EQ(fabricast({"catalog", "gpus", "--seed", "3", "--quiet"}).exit_code, 0);
}

TEST(Output, that_cannot_be_written_is_a_failure) {
  // /dev/full takes no byte; a shell makes the redirection.
  const std::string command = std::string(FABRICAST_PROGRAM) + " catalog >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
}  // namespace fabricast::golden
