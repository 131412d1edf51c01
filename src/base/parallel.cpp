#include "base/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace fabricast::base {

namespace {

/// Keeps the exception of the lowest index, so that which error is reported does not depend on
/// which thread was faster.
class FirstError {
 public:
  void keep(std::size_t index, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error_ && index_ < index) return;
    index_ = index;
    error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::size_t index_ = 0;
  std::exception_ptr error_;
};

// Enough pieces per thread that one slow item leaves the others busy, few enough that handing them
// out costs nothing beside the work.
constexpr std::size_t kPiecesPerThread = 64;

}  // namespace

void parallel_for(std::size_t n, int threads, const std::function<void(std::size_t)>& body) {
  FirstError first_error;
  const auto run_item = [&](std::size_t i) {
    try {
      body(i);
    } catch (...) {
      first_error.keep(i, std::current_exception());
    }
  };

  if (threads == 1 || n <= 1) {
    for (std::size_t i = 0; i < n; ++i) run_item(i);
  } else {
    // More threads than cores would only make TBB warn on standard error.
    const int cores = std::max(1, tbb::info::default_concurrency());
    const int workers = threads > 0 ? std::min(threads, cores) : cores;
    tbb::task_arena arena(workers);
    const std::size_t grain =
        std::max<std::size_t>(1, n / (static_cast<std::size_t>(workers) * kPiecesPerThread));
    arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, n, grain),
          [&](const tbb::blocked_range<std::size_t>& range) {
            for (std::size_t i = range.begin(); i != range.end(); ++i) run_item(i);
          },
          tbb::simple_partitioner());
    });
  }
  first_error.rethrow();
}

}  // namespace fabricast::base
