#pragma once
// Carries schedules over a network. Several groups may run at once; they share the fabric. Each
// (group, position, lane) is a small state machine that takes the steps of its schedule one after
// the other: wait for what the step receives and for free slots on the ways of what it sends, work,
// free the slots of what was received, send.

#include <memory>
#include <vector>

#include "collective/schedule.h"
#include "network/network.h"

namespace fabricast::collective {

/// How far a run had come when: `at[i]` is the time at which the slowest channel of the slowest
/// group had sent `shares[i]` of its bytes between nodes (of all its bytes, where none cross).
struct Marks {
  std::vector<double> shares;  ///< 0..1, ascending
  /// On the network's clock; none where slices are carried in bulk.
  std::vector<base::Time> at;
};

/// What a lane, a connection and a message cost beside the network; `choice.h` has NCCL's values.
struct RunOptions {
  /// Receive slots per connection: a sender is at most this many slices ahead of its receiver.
  int slots = 8;
  /// Bytes on the wire per byte of data (flags of LL and LL128).
  double wire = 1;
  /// Rate at which a lane copies or reduces; 0: at once.
  base::Rate copy_rate;
  /// A lane passes data on line by line while they come in (LL, LL128), and is only no faster than
  /// it copies; else it copies a slice when it has all of it.
  bool line_by_line = false;
  /// A lane's fixed time for a step that receives.
  base::Time step_overhead;
  /// From the delivery of a message to its being seen, inside a node and between nodes.
  base::Time node_delay;
  base::Time net_delay;
  /// From the call to the first step.
  base::Time launch;
  /// GPUs of a node; 0: every rank is one.
  std::uint32_t gpus_per_node = 0;
  /// Between nodes a message goes over NVLink to the GPU beside the adapter on its receiver's rail,
  /// and from there (NCCL's PXN).
  bool pxn = false;
  /// Above so many slices a network that can carries them in bulk.
  double most_chunks = 200'000;
  /// Start of each rank relative to the earliest, indexed by rank; empty: all at once.
  std::vector<base::Time> start;
  /// Filled unless null.
  Marks* marks = nullptr;
};

/// Runs the schedules from now on and stops the network when the last rank of the last group has
/// finished. Returns the time from the latest start (of a rank that takes part) to that moment; 0
/// when there is nothing to do. Ranks with less to wait for may finish before others have started.
/// Throws base::Error (input) when a schedule wants switches to reduce and the network has none
/// that are free. PRECONDITION: more slots than a chunk has slices, and 2 at least (a rank sends
/// the next chunk when it takes one in); `start` is empty or names every rank of every group.
base::Time run(network::Network& network, const std::vector<std::unique_ptr<Schedule>>& schedules,
               const RunOptions& options);

}  // namespace fabricast::collective
