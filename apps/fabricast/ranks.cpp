#include "ranks.h"

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"

namespace fabricast::apps {
namespace {

constexpr const char* kModule = "fabricast-mpi.so";

/// What `mpirun` of Open MPI tells every process that it starts; 1 elsewhere.
int ranks_of_job() {
  const char* text = std::getenv("OMPI_COMM_WORLD_SIZE");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? 1 : std::atoi(text);            // NOLINT(cert-err34-c)
}

/// Beside the program where it was built, in the folder of libraries where it was installed.
std::filesystem::path module_file() {
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem);
  auto beside = program.parent_path() / kModule;
  if (std::filesystem::exists(beside, problem)) return beside;
  return program.parent_path().parent_path() / FABRICAST_LIBDIR / "fabricast" / kModule;
}

base::Error unusable(const std::filesystem::path& file, const char* why) {
  return base::failure(fmt::format(
      "`mpirun` started {} ranks, and the MPI module `{}` cannot be used ({}); build Fabricast "
      "with "
      "libopenmpi-dev installed, or run it without `mpirun` (--threads N uses one machine)",
      ranks_of_job(), file.string(), why));
}

}  // namespace

Ranks* join_ranks() {
  if (ranks_of_job() <= 1) return nullptr;
  const std::filesystem::path file = module_file();
  // Global: Open MPI's own plugins look for its symbols.
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) throw unusable(file, dlerror());  // NOLINT(concurrency-mt-unsafe)
  void* function = dlsym(module, kJoinRanks);
  if (function == nullptr) throw unusable(file, dlerror());  // NOLINT(concurrency-mt-unsafe)
  return reinterpret_cast<JoinRanks*>(function)();
}

}  // namespace fabricast::apps
