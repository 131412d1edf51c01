#include "measure.h"

#include <chrono>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabricast::bench {

using nlohmann::json;

double calibration_s() {
  volatile std::uint64_t x = 1;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1'000'000'000; ++i) x = x * 6364136223846793005ULL + 1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

json in_a_process(const std::function<json()>& workload) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    json result = workload();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    result["peak_rss_mb"] = static_cast<double>(usage.ru_maxrss) / 1000;
    const std::string text = result.dump();
    const bool written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char block[4096];
  for (ssize_t n = 0; (n = read(ends[0], block, sizeof block)) > 0;) {
    text.append(block, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("a workload failed");
  return json::parse(text);
}

}  // namespace fabricast::bench
