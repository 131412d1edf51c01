#include "base/team.h"

#include <utility>

namespace fabricast::base {

namespace {

/// About ten microseconds.
constexpr int kSpins = 200;

void rest() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// Whoever waits for a core must not be made to wait by one who spins on it.
SpinBarrier::SpinBarrier(unsigned members)
    : members_(members), spins_(members <= std::thread::hardware_concurrency() ? kSpins : 0) {}

void SpinBarrier::arrive_and_wait() {
  const unsigned turn = turn_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
    arrived_.store(0, std::memory_order_relaxed);
    turn_.store(turn + 1, std::memory_order_release);
    return;
  }
  for (int i = 0; turn_.load(std::memory_order_acquire) == turn; ++i) {
    if (i < spins_) {
      rest();
    } else {
      std::this_thread::yield();
    }
  }
}

Team::Team(unsigned members, Work work) : work_(std::move(work)), barrier_(members) {
  for (unsigned member = 1; member < members; ++member) {
    others_.emplace_back([this, member] { serve(member); });
  }
}

Team::~Team() {
  dismissed_ = true;
  barrier_.arrive_and_wait();
  for (std::thread& thread : others_) thread.join();
}

void Team::serve(unsigned member) {
  for (;;) {
    barrier_.arrive_and_wait();
    if (dismissed_) return;
    work_(member, barrier_);
    barrier_.arrive_and_wait();
  }
}

void Team::run() {
  barrier_.arrive_and_wait();
  work_(0, barrier_);
  barrier_.arrive_and_wait();
}

}  // namespace fabricast::base
