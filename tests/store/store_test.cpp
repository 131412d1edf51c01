#include "store/store.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "store/migrations.h"

namespace fabricast::store {
namespace {

namespace fs = std::filesystem;

class Stores : public testing::Test {
 protected:
  Stores() {
    std::string pattern = (fs::temp_directory_path() / "fabricast-store-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~Stores() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name = "results.sqlite") const {
    return (folder_ / name).string();
  }

 private:
  fs::path folder_;
};

Run run_with(const std::string& key) {
  Run run;
  run.key = key;
  run.program = "0.1.0";
  run.scenario = "job";
  run.seed = 7;
  run.resolution = "auto";
  run.document = "cluster: {gpus: 8}\n";
  run.result = "{}\n";
  run.outcomes = std::string("\0\xff\x01", 3);
  return run;
}

std::vector<std::string> keys_in(const Store& store) {
  std::vector<std::string> keys;
  store.each([&](const Run& run) { keys.push_back(run.key); });
  return keys;
}

/// What opening the file is refused with; empty when it is not.
std::string refusal_of(const std::string& file) {
  try {
    const Store store(file);
  } catch (const base::Error& error) {
    return error.what();
  }
  return {};
}

TEST_F(Stores, give_back_what_they_were_given_after_they_were_closed) {
  Store(path()).add(run_with("a"));
  const Store again(path());
  const auto found = again.find("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 1);
  EXPECT_EQ(found->created.size(), std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(found->seed, 7U);
  EXPECT_EQ(found->document, run_with("a").document);
  EXPECT_EQ(found->outcomes, run_with("a").outcomes);
  EXPECT_EQ(again.run(1)->key, "a");
  EXPECT_FALSE(again.find("b"));
  EXPECT_FALSE(again.run(2));
}

TEST_F(Stores, keep_one_run_under_a_key) {
  Store store(path());
  store.add(run_with("a"));
  store::Run other = run_with("a");
  other.result = "{\"other\": true}\n";
  store.add(other);
  EXPECT_EQ(keys_in(store), (std::vector<std::string>{"a"}));
  EXPECT_EQ(store.find("a")->result, "{}\n");
}

TEST_F(Stores, keep_memos_apart_by_kind_and_take_the_last_value) {
  Store store(path());
  EXPECT_FALSE(store.get("calibration", "k"));
  store.put("calibration", "k", std::string("\0a", 2));
  store.put("other", "k", "b");
  EXPECT_EQ(store.get("calibration", "k"), std::string("\0a", 2));
  store.put("calibration", "k", "");
  EXPECT_EQ(store.get("calibration", "k"), "");
  EXPECT_EQ(store.get("other", "k"), "b");
}

TEST_F(Stores, make_the_folder_that_they_lie_in) {
  const std::string deep = path("a/b/results.sqlite");
  Store(deep).put("kind", "k", "v");
  EXPECT_TRUE(fs::exists(deep));
}

TEST_F(Stores, bring_a_file_of_version_1_to_the_newest_with_its_runs) {
  {
    Database old(path());
    migrate(old, 1);
    old.run(
        "INSERT INTO runs (created, key, program, scenario, seed, resolution, document, result, "
        "outcomes) VALUES ('2026-01-01T00:00:00Z', 'a', '0', 's', 1, 'auto', '', '', '')");
    ASSERT_EQ(old.number("PRAGMA user_version"), 1);
  }
  Store store(path());
  EXPECT_EQ(keys_in(store), (std::vector<std::string>{"a"}));
  store.put("kind", "k", "v");  // version 2
  Database now(path());
  EXPECT_EQ(now.number("PRAGMA user_version"), newest_version());
}

TEST_F(Stores, refuse_a_file_that_a_newer_program_wrote) {
  Store(path()).add(run_with("a"));
  Database(path()).run("PRAGMA user_version = 999");
  const std::string refusal = refusal_of(path());
  for (const char* word : {"results.sqlite", "newer program", "999", "FABRICAST_STORE"}) {
    EXPECT_NE(refusal.find(word), std::string::npos) << refusal;
  }
}

TEST_F(Stores, leave_a_database_of_another_program_alone) {
  Database(path()).run("CREATE TABLE theirs (a)");
  EXPECT_NE(refusal_of(path()).find("another program"), std::string::npos) << refusal_of(path());
  EXPECT_EQ(Database(path()).number("SELECT count(*) FROM sqlite_master"), 1);
}

TEST_F(Stores, refuse_a_file_that_is_no_database) {
  const std::string text = "a letter to my grandmother, longer than the header of a database\n";
  std::ofstream(path()) << text << text;
  EXPECT_NE(refusal_of(path()).find("not a database"), std::string::npos) << refusal_of(path());
  EXPECT_NE(refusal_of("/proc/none/results.sqlite"), "");
  EXPECT_NE(refusal_of("/tmp"), "");
}

// Threads of one program share a connection; programs have one each, and make the file together.
TEST_F(Stores, take_runs_from_many_programs_and_threads_at_once) {
  constexpr int kPrograms = 6;
  constexpr int kThreads = 2;
  constexpr int kRuns = 20;
  std::vector<pid_t> children;
  for (int program = 0; program < kPrograms; ++program) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failed = 0;
      try {
        Store store(path());
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < kThreads; ++thread) {
          threads.emplace_back([&store, program, thread] {
            for (int i = 0; i < kRuns; ++i) {
              store.add(
                  run_with(std::to_string(program * kThreads + thread) + "/" + std::to_string(i)));
              store.add(run_with("shared/" + std::to_string(i)));
            }
          });
        }
      } catch (const base::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        failed = 1;
      }
      _exit(failed);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const std::vector<std::string> keys = keys_in(Store(path()));
  EXPECT_EQ(keys.size(), static_cast<std::size_t>((kPrograms * kThreads + 1) * kRuns));
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

TEST(DefaultFile, follows_the_variable_then_the_specification_of_xdg) {
  setenv("HOME", "/home/me", 1);
  unsetenv("XDG_DATA_HOME");
  unsetenv("FABRICAST_STORE");
  EXPECT_EQ(default_file(), "/home/me/.local/share/fabricast/results.sqlite");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(default_file(), "/data/fabricast/results.sqlite");
  setenv("XDG_DATA_HOME", "relative", 1);
  EXPECT_EQ(default_file(), "/home/me/.local/share/fabricast/results.sqlite");
  setenv("FABRICAST_STORE", "/tmp/mine.sqlite", 1);
  EXPECT_EQ(default_file(), "/tmp/mine.sqlite");
  unsetenv("FABRICAST_STORE");
  unsetenv("XDG_DATA_HOME");
  unsetenv("HOME");
  EXPECT_EQ(default_file(), "");
}

}  // namespace
}  // namespace fabricast::store
