#include "network/node_links.h"

#include <algorithm>

namespace fabricast::network {

NodeLinks::NodeLinks(int gpus, NodeLinkSpec spec)
    : spec_(spec),
      egress_free_(static_cast<std::size_t>(gpus)),
      ingress_free_(static_cast<std::size_t>(gpus)) {}

base::Time NodeLinks::send(base::Rank src, base::Rank dst, base::Bytes size, base::Time now) {
  base::Time& egress = egress_free_[src.index()];
  base::Time& ingress = ingress_free_[dst.index()];
  const base::Time start = std::max({now, egress, ingress});
  egress = ingress = start + base::transmission_time(size, spec_.rate);
  return egress + spec_.latency;
}

}  // namespace fabricast::network
