#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "commands.h"

namespace fabricast::apps {
namespace {

// What a shell takes as it stands.
constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%";

constexpr int kInterrupted = 3;

std::atomic<const char*> on_interrupt = "nothing was written";

/// Only what is safe in a signal handler: write and _exit.
void say(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void interrupted(int /*signal*/) {
  if (const char* message = on_interrupt.load(); message != nullptr) {
    say("\nfabricast: interrupted; ");
    say(message);
    say("\n");
  }
  ::_exit(kInterrupted);
}

}  // namespace

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text = "fabricast";
  std::string word;
  for (bool first = true; std::getline(file, word, '\0'); first = false) {
    if (first) continue;
    const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    text += ' ';
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

double peak_rss_mb() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<double>(usage.ru_maxrss) * 1024 * 1e-6;  // ru_maxrss counts KiB on Linux
}

int threads_of(const CommonFlags& flags) {
  if (flags.threads != 0) return flags.threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<int>(cores);
}

void say_on_interrupt(const char* message) {
  on_interrupt = message;
}

void exit_3_on_interrupt() {
  struct sigaction action{};
  action.sa_handler = interrupted;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace fabricast::apps
