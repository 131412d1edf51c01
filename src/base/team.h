#pragma once
// Threads that do something together again and again, in steps so short that putting them to sleep
// in between would cost more than the work.

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace fabricast::base {

/// A point that all of `members` reach before any of them goes on. Waits by spinning, then by
/// yielding the core.
class SpinBarrier {
 public:
  explicit SpinBarrier(unsigned members);
  void arrive_and_wait();

 private:
  const unsigned members_;
  const int spins_;  ///< looks at the turn before the core is given away
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> turn_{0};
};

/// The calling thread and `members` - 1 others.
class Team {
 public:
  /// What every member does at each `run`: the member's number, and the barrier that all of them
  /// share. It must not throw, and must arrive at the barrier as often as the others do.
  using Work = std::function<void(unsigned member, SpinBarrier& barrier)>;

  Team(unsigned members, Work work);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Every member works once; the caller is member 0. What was written before is seen by all of
  /// them, and what they write by the caller.
  void run();

 private:
  void serve(unsigned member);

  Work work_;
  SpinBarrier barrier_;
  bool dismissed_ = false;
  std::vector<std::thread> others_;
};

}  // namespace fabricast::base
