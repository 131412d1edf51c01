#include "network/node_links.h"

#include <algorithm>

namespace fabricast::network {

NodeLinks::NodeLinks(int gpus, NodeLinkSpec spec)
    : spec_(spec),
      egress_free_(static_cast<std::size_t>(gpus)),
      ingress_free_(static_cast<std::size_t>(gpus)) {}

NodeLinks::Departure NodeLinks::leave(base::Rank src, base::Rank dst, base::Bytes size,
                                      const SendOptions& options, std::uint32_t message,
                                      base::Time now) {
  base::Time whole = base::transmission_time(size, spec_.rate);
  if (options.senders > 1 || options.receivers > 1) {
    whole = base::Time::seconds(whole.s() / spec_.nvls_share);
  }
  base::Time& egress = egress_free_[src.index()];
  const base::Time leaves = std::max(now, egress);
  egress = leaves + whole / options.receivers;
  const std::uint32_t crossing = crossings_.allocate();
  crossings_[crossing] = {dst, egress, whole / options.senders, message};
  return {leaves, crossing};
}

NodeLinks::Arrival NodeLinks::enter(std::uint32_t crossing, base::Time now) {
  const Crossing& message = crossings_[crossing];
  base::Time& ingress = ingress_free_[message.dst.index()];
  ingress = std::max(now, ingress) + message.in;
  const Arrival arrival{std::max(ingress, message.left) + spec_.latency, message.message};
  crossings_.release(crossing);
  return arrival;
}

}  // namespace fabricast::network
