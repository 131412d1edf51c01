#pragma once
// Carries schedules over a network. Several groups may run at once; they share the fabric. Each
// (group, position, channel) is a small state machine: send the chunk of this step as soon as its
// connection has a free slot, wait for the chunk of this step, reduce or copy it, free the slot,
// take the next step. What a ring sends in step s + 1 is what it received in step s.

#include <functional>
#include <memory>
#include <vector>

#include "collective/schedule.h"
#include "network/network.h"

namespace fabricast::collective {

struct RunOptions {
  /// Receive slots per connection: a sender is at most this many chunks ahead of its receiver
  /// (NCCL_STEPS).
  int slots = 8;
  /// Rate at which a GPU reduces arriving data (memory-bound), and the fixed cost of one chunk.
  base::Rate reduce_rate = base::Rate::bits_per_second(8'000'000'000'000);
  base::Time step_overhead;
  /// Above so many chunks a network that can carries them in bulk.
  double most_chunks = 200'000;
  /// Start of each rank relative to the earliest, indexed by rank; empty: all at once.
  std::vector<base::Time> start;
};

/// Runs the schedules from now on and stops the network when the last rank of the last group has
/// finished. Returns the time from the latest start (of a rank that takes part) to that moment; 0
/// when there is nothing to do. Ranks with less to wait for may finish before others have started.
/// PRECONDITION: slots > 0; `start` is empty or names every rank of every group.
base::Time run(network::Network& network, const std::vector<std::unique_ptr<Schedule>>& schedules,
               const RunOptions& options);

}  // namespace fabricast::collective
