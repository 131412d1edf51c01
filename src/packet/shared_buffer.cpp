#include "packet/shared_buffer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"

namespace fabricast::packet {

base::Bytes pfc_headroom(const catalog::FabricProfile& profile, base::Rate rate,
                         base::Time propagation) {
  const base::Bytes packet = profile.link.mtu + profile.link.header;
  const base::Bytes frames(kPauseFrameBytes *
                           std::min(profile.pfc.lossless_classes, profile.classes.count));
  const base::Time one_way = propagation + profile.link.phy;
  const base::Time in_flight =
      one_way * 2 + profile.switching.latency + base::transmission_time(frames, rate);
  const std::int64_t bytes = base::bytes_in(in_flight, rate).count() + packet.count() * 3;
  return base::Bytes((bytes + 1023) / 1024 * 1024);
}

SharedBuffer::SharedBuffer(Spec spec) : spec_(std::move(spec)) {
  pool_ = spec_.total;
  ingress_.resize(spec_.headroom.size());
  for (std::size_t i = 0; i < ingress_.size(); ++i) ingress_[i].headroom_size = spec_.headroom[i];
  pool_ -= std::accumulate(spec_.headroom.begin(), spec_.headroom.end(), std::int64_t{0});
  if (pool_ <= 0) {
    throw base::input_error(
        base::Location{{}, 0, 0, "switching.buffer_mb"},
        fmt::format("{} bytes of buffer in a switch", spec_.total),
        fmt::format("more than the {} bytes of headroom of its ports", spec_.total - pool_));
  }
}

std::int64_t SharedBuffer::used() const {
  std::int64_t sum = pool_used_;
  for (const Ingress& in : ingress_) sum += in.headroom;
  return sum;
}

double marking_probability(const catalog::FabricProfile::Ecn& ecn, std::int64_t queued) {
  if (queued <= ecn.kmin.count()) return 0;
  if (queued > ecn.kmax.count()) return 1;
  return ecn.pmax * static_cast<double>(queued - ecn.kmin.count()) /
         static_cast<double>(ecn.kmax.count() - ecn.kmin.count());
}

}  // namespace fabricast::packet
