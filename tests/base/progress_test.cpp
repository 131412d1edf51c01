#include "base/progress.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace fabricast::base {
namespace {

/// Puts a pseudo-terminal, or a pipe, in the place of standard error while it lives.
class CapturedError {
 public:
  explicit CapturedError(bool terminal) : saved_(dup(STDERR_FILENO)) {
    int writer = -1;
    if (terminal) {
      reader_ = posix_openpt(O_RDWR | O_NOCTTY);
      if (reader_ >= 0 && grantpt(reader_) == 0 && unlockpt(reader_) == 0) {
        writer = open(ptsname(reader_), O_RDWR | O_NOCTTY);
      }
    } else {
      int ends[2] = {-1, -1};
      if (pipe(ends) == 0) {
        reader_ = ends[0];
        writer = ends[1];
      }
    }
    ok_ = writer >= 0 && dup2(writer, STDERR_FILENO) >= 0;
    close(writer);
    fcntl(reader_, F_SETFL, O_NONBLOCK);
  }
  ~CapturedError() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(reader_);
  }
  CapturedError(const CapturedError&) = delete;
  CapturedError& operator=(const CapturedError&) = delete;

  bool ok() const { return ok_; }
  std::string read_all() const {
    std::string result;
    char buffer[4096];
    ssize_t n = 0;
    while ((n = read(reader_, buffer, sizeof buffer)) > 0) {
      result.append(buffer, static_cast<std::size_t>(n));
    }
    return result;
  }

 private:
  int saved_;
  int reader_ = -1;
  bool ok_ = false;
};

constexpr std::chrono::milliseconds kPastTheQuietPeriod{2050};

TEST(Progress, appears_after_two_seconds_on_a_terminal_and_is_erased) {
  CapturedError captured(true);
  if (!captured.ok()) GTEST_SKIP() << "no pseudo-terminal here";
  std::string early;
  std::string late;
  {
    Progress progress("phases", 8, true);
    progress.advance();
    early = captured.read_all();
    std::this_thread::sleep_for(kPastTheQuietPeriod);
    progress.advance();
    late = captured.read_all();
  }
  const std::string end = captured.read_all();
  EXPECT_EQ(early, "");
  EXPECT_EQ(late, "\r\x1b[Kphases: 2 of 8 (25 %)");
  EXPECT_EQ(end, "\r\x1b[K");
}

TEST(Progress, is_silent_when_standard_error_is_no_terminal_or_quiet_is_asked) {
  CapturedError pipe(false);
  ASSERT_TRUE(pipe.ok());
  std::string quiet;
  Progress piped("phases", 8, true);
  {
    CapturedError terminal(true);
    if (!terminal.ok()) GTEST_SKIP() << "no pseudo-terminal here";
    Progress disabled("phases", 8, false);
    std::this_thread::sleep_for(kPastTheQuietPeriod);
    disabled.advance();
    quiet = terminal.read_all();
  }
  piped.advance();
  const std::string to_pipe = pipe.read_all();
  EXPECT_EQ(quiet, "");
  EXPECT_EQ(to_pipe, "");
}

}  // namespace
}  // namespace fabricast::base
