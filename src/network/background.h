#pragma once
// Traffic of others on the same fabric, in messages of a stated size between adapters of different
// nodes, of which each offers `load` of its rate on average; they share queues with the job.
// Clients of storage start messages at random instants (Poisson), each to a random GPU. A tenant's
// job sends in bursts of a stated length, all adapters at once and at the rate of their ports, each
// to one GPU for as long as the burst lasts; between bursts it is silent for a random time
// (exponential). An adapter keeps a limited number of transfers under way and skips those beyond,
// so that a fabric that cannot carry the load is busy but not hopeless. The phase of this traffic
// is what differs between two samples of one communication phase.

#include <memory>

#include "network/network.h"

namespace fabricast::network {

struct BackgroundSpec {
  double load = 0;        ///< share of each adapter's rate, 0..0.9
  base::Bytes message;    ///< size of one transfer
  base::Time burst = {};  ///< length of a tenant's bursts; 0: storage
};

/// Starts when it is made and never ends by itself: its timers keep a network alive, so a run with
/// background traffic must end by `Network::stop()`. Destroying the object silences it. Nothing is
/// sent when the load is 0 or the fabric has one node. An adapter's sender is a GPU next to it; the
/// destination is a GPU of another node that the adapter can reach.
///
/// Every adapter draws from a sub-stream of its own: exponential gaps of mean message / (load x
/// rate), then the destination. A tenant draws the gaps between its bursts from one stream, of mean
/// burst x (1 - load) / load; it is found within a burst with probability `load`.
///
/// Throws base::Error (input) on a load outside 0..0.9 or a message of no bytes.
/// PRECONDITION: the network and the fabric outlive the object.
class BackgroundTraffic {
 public:
  BackgroundTraffic(Network& network, const fabric::Fabric& fabric, BackgroundSpec spec,
                    std::uint64_t seed);
  ~BackgroundTraffic();
  BackgroundTraffic(const BackgroundTraffic&) = delete;
  BackgroundTraffic& operator=(const BackgroundTraffic&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fabricast::network
