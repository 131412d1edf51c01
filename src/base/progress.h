#pragma once
// Progress on standard error: only on a terminal, only after two seconds, one line that is
// rewritten and finally erased.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace fabricast::base {

class Progress {
 public:
  /// `enabled` false (--quiet) or standard error not a terminal: every call does nothing.
  Progress(std::string what, std::int64_t total, bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Safe to call from any thread.
  void advance(std::int64_t steps = 1);
  /// The same with a new note, in one go.
  void advance(std::int64_t steps, std::string text);
  /// Starts the next part of the work: its own text and count, the same clock.
  void next(std::string what, std::int64_t total);
  /// What is being done now, behind the count.
  void note(std::string text);

 private:
  void show();  ///< PRECONDITION: mutex_ is held

  std::string what_;
  std::string note_;
  std::int64_t total_;
  bool enabled_;
  bool shown_ = false;
  std::int64_t done_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
  std::mutex mutex_;
};

}  // namespace fabricast::base
