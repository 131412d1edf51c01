// Sweeps over the ranks of a job of Open MPI.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "jobs.h"
#include "program.h"
#include "store/store.h"

namespace fabricast::golden {
namespace {

std::vector<std::string> mpirun(int ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {
      "mpirun", "--allow-run-as-root", "-q", "--oversubscribe",     "--mca",
      "btl",    "self,vader",          "-n", std::to_string(ranks), FABRICAST_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string grid_of_seeds(int count) {
  std::string axis = "0";
  for (int i = 1; i < count; ++i) axis += ", " + std::to_string(i);
  const std::string grid =
      file_with("base: base.yaml\naxes: { seed: [" + axis + "] }\n", "grid.yaml");
  std::filesystem::rename(file_with(small_scenario()),
                          std::filesystem::path(grid).parent_path() / "base.yaml");
  return grid;
}

TEST(Mpirun, gives_the_rows_of_one_process_on_any_number_of_ranks) {
  const std::string grid = grid_of_seeds(12);
  const std::string alone = fabricast({"sweep", grid, "--json", "-", "--quiet"}).out;
  ASSERT_FALSE(alone.empty());
  for (const int ranks : {2, 4}) {
    const std::string store = fresh_path("results.sqlite");
    const Execution job = run(mpirun(ranks, {"sweep", grid, "--json", "-"}), store);
    EXPECT_EQ(job.exit_code, 0) << job.err;
    EXPECT_EQ(job.out, alone) << ranks;
    EXPECT_EQ(job.err, "12 points: 0 from the store, 12 simulated, 0 without a result\n");
    std::set<std::string> keys;
    store::Store(store).each([&](const store::Run& kept) { keys.insert(kept.key); });
    EXPECT_EQ(keys.size(), 12U);
    EXPECT_EQ(fabricast({"sweep", grid, "--json", "-"}, store).err,
              "12 points: 12 from the store, 0 simulated, 0 without a result\n");
  }
}

TEST(Mpirun, with_more_ranks_than_points_leaves_some_without_work) {
  const std::string grid = grid_of_seeds(2);
  const Execution job = run(mpirun(6, {"sweep", grid, "--json", "-"}), fresh_path("r.sqlite"));
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_EQ(job.out, fabricast({"sweep", grid, "--json", "-"}).out);
}

std::size_t runs_in(const std::string& store) {
  std::size_t count = 0;
  if (std::filesystem::exists(store)) store::Store(store).each([&](const auto&) { ++count; });
  return count;
}

/// The last process that this one has started (Linux, proc(5)).
pid_t last_child_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::istringstream children(read("/proc/" + id + "/task/" + id + "/children"));
  pid_t last = 0;
  while (children >> last) continue;
  return last;
}

TEST(Mpirun, ends_when_a_worker_is_killed_and_goes_on_with_what_was_finished) {
  constexpr int kPoints = 80;
  const std::string grid = grid_of_seeds(kPoints);
  const std::string store = fresh_path("results.sqlite");
  const pid_t job = start(mpirun(3, {"sweep", grid}), store);
  while (runs_in(store) < 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(kill(last_child_of(job), SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(job, &status, 0), job);
  EXPECT_NE(status, 0);
  const std::size_t before = runs_in(store);
  ASSERT_LT(before, static_cast<std::size_t>(kPoints));

  const Execution resumed = run(mpirun(3, {"sweep", grid, "--json", "-"}), store);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(resumed.err.starts_with("80 points: " + std::to_string(before) + " from the store"))
      << resumed.err;
  EXPECT_EQ(resumed.out, fabricast({"sweep", grid, "--json", "-"}).out);
  EXPECT_EQ(runs_in(store), static_cast<std::size_t>(kPoints));
}

// One rank speaks, and the job ends instead of waiting for the others.
TEST(Mpirun, tells_what_is_wrong_with_a_grid_once_and_ends_with_exit_code_2) {
  const std::string grid = file_with("axes: { seed: [1] }\n", "grid.yaml");
  const Execution job = run(mpirun(3, {"sweep", grid}), fresh_path("r.sqlite"));
  EXPECT_EQ(job.exit_code, 2) << job.err;
  const std::size_t first = job.err.find("base: found nothing");
  EXPECT_NE(first, std::string::npos) << job.err;
  EXPECT_EQ(job.err.find("base: found nothing", first + 1), std::string::npos) << job.err;
}

TEST(Mpirun, without_the_module_is_refused_with_what_to_install) {
  const auto folder = std::filesystem::path(fresh_path("x")).parent_path();
  const std::string alone = (folder / "fabricast").string();
  std::filesystem::copy_file(FABRICAST_PROGRAM, alone);
  const Execution job =
      run({"env", "OMPI_COMM_WORLD_SIZE=4", alone, "sweep", "grid.yaml"}, fresh_path("r.sqlite"));
  EXPECT_EQ(job.exit_code, 1);
  for (const char* word : {"fabricast-mpi.so", "libopenmpi-dev", "without `mpirun`"}) {
    EXPECT_NE(job.err.find(word), std::string::npos) << job.err;
  }
}

}  // namespace
}  // namespace fabricast::golden
