#include "base/read_file.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace fabricast::base {

namespace {

constexpr auto kPatience = std::chrono::seconds(3);
constexpr int kLookAgainMs = 20;

class Reader {
 public:
  Reader(const std::string& path, std::size_t most) : where_{path, 0, 0, {}}, most_(most) {
    // Without O_NONBLOCK the opening of a pipe waits for its writer, for ever if there is none.
    file_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // NOLINT: POSIX's signature
    if (file_ < 0) throw unreadable();
  }
  ~Reader() {
    if (file_ >= 0) ::close(file_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::string all() {
    struct stat status{};
    if (::fstat(file_, &status) != 0) throw unreadable();
    if (S_ISDIR(status.st_mode)) throw input_error(where_, "a directory", "a file");
    if (S_ISFIFO(status.st_mode)) return whole_pipe();
    const int flags = ::fcntl(file_, F_GETFL);                // NOLINT: POSIX's signature
    if (::fcntl(file_, F_SETFL, flags & ~O_NONBLOCK) != 0) {  // NOLINT: POSIX's signature
      throw unreadable();
    }
    while (next() > 0) {
    }
    return std::move(text_);
  }

 private:
  Error unreadable() const {
    return input_error(where_, fmt::format("a path that cannot be read ({})", std::strerror(errno)),
                       "the path of a readable file");
  }

  /// Appends what there is. Returns what `read` does; -1 means that a writer has nothing yet.
  ssize_t next() {
    std::array<char, 1U << 16> part{};
    ssize_t size = -1;
    do {
      size = ::read(file_, part.data(), part.size());
    } while (size < 0 && errno == EINTR);
    if (size < 0 && errno != EAGAIN) throw unreadable();
    if (size > 0) text_.append(part.data(), static_cast<std::size_t>(size));
    if (text_.size() > most_) {
      throw input_error(where_, fmt::format("more than {} MiB", most_ >> 20),
                        fmt::format("a file of at most {} MiB", most_ >> 20));
    }
    return size;
  }

  /// The end of a pipe reads like a pipe that nobody has opened for writing yet.
  std::string whole_pipe() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    bool has_writer = false;
    for (;;) {
      const ssize_t size = next();
      if (size == 0 && has_writer) return std::move(text_);
      if (size == 0 && std::chrono::steady_clock::now() > deadline) {
        throw input_error(where_, "a pipe that nobody writes to",
                          "a file, or a pipe with a writer");
      }
      has_writer = has_writer || size != 0;
      pollfd readable{file_, POLLIN, 0};
      if (size < 0) ::poll(&readable, 1, -1);
      if (size == 0) ::poll(nullptr, 0, kLookAgainMs);
    }
  }

  Location where_;
  std::size_t most_;
  int file_ = -1;
  std::string text_;
};

}  // namespace

std::string read_file(const std::string& path, std::size_t most) {
  return Reader(path, most).all();
}

}  // namespace fabricast::base
