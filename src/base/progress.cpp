#include "base/progress.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/table.h"

namespace fabricast::base {

namespace {
// A run that ends sooner needs no progress line; a line rewritten more often only costs time.
constexpr std::chrono::seconds kQuietPeriod{2};
constexpr std::chrono::milliseconds kRewritePeriod{100};
constexpr int kLongestLine = 79;
// Carriage return, then "erase to the end of the line" (ECMA-48, EL).
constexpr const char* kErase = "\r\x1b[K";

void write_error(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}
}  // namespace

Progress::Progress(std::string what, std::int64_t total, bool enabled)
    : what_(std::move(what)),
      total_(total),
      enabled_(enabled && isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (shown_) write_error(kErase);
}

void Progress::next(std::string what, std::int64_t total) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  note_.clear();
  total_ = total;
  done_ = 0;
}

void Progress::note(std::string text) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
  show();
}

void Progress::advance(std::int64_t steps) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  show();
}

void Progress::advance(std::int64_t steps, std::string text) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  note_ = std::move(text);
  show();
}

void Progress::show() {
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kQuietPeriod || (shown_ && now - last_ < kRewritePeriod)) return;
  shown_ = true;
  last_ = now;
  const std::int64_t percent = total_ > 0 ? 100 * done_ / total_ : 0;
  std::string line = fmt::format("{}: {} of {} ({} %){}{}", what_, done_, total_, percent,
                                 note_.empty() ? "" : ", ", note_);
  // A line that wraps cannot be erased.
  while (display_width(line) > kLongestLine) line.pop_back();
  while (!valid_utf8(line)) line.pop_back();
  write_error(kErase + line);
}

}  // namespace fabricast::base
