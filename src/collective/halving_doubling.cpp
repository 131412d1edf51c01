// all_reduce by recursive halving and doubling: reduce_scatter over partners at n/2, n/4, ..., 1,
// with half of what was kept before at each, then all_gather the same way back (Thakur,
// Rabenseifner and Gropp 2005, section 4.4). Where n is no power of two, r = n - 2^k even positions
// below 2r give all they have to their odd neighbours first and take the result from them at the
// end.

#include <algorithm>
#include <bit>
#include <vector>

#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

/// What a position does with one partner: both ways at once.
struct Exchange {
  std::uint32_t peer = kNobody;
  Bytes send;
  Bytes receive;
  bool reduce = false;
};

class HalvingDoubling final : public Schedule {
 public:
  HalvingDoubling(std::vector<base::Rank> group, Bytes size, Cutting cutting)
      : Schedule(std::move(group)),
        size_(size),
        cutting_(cutting),
        ranks_(static_cast<std::uint32_t>(group_.size())),
        active_(std::bit_floor(ranks_)),
        extra_(ranks_ - active_) {}

  std::uint32_t channels() const override { return cutting_.channels; }

  std::uint64_t steps(std::uint32_t position, std::uint32_t lane) const override {
    std::uint64_t sum = 0;
    for (const Exchange& exchange : exchanges(position, lane)) sum += steps_of(exchange);
    return sum;
  }

  // A slice is sent while the one before it is taken in, so that two partners with more slices than
  // slots do not wait for one another.
  void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
            Step& step) const override {
    for (const Exchange& exchange : exchanges(position, lane)) {
      const std::uint64_t steps = steps_of(exchange);
      if (index >= steps) {
        index -= steps;
        continue;
      }
      const Bytes send = chunk_of(exchange.send, cutting_.slice, index);
      if (send.count() > 0) step.send.push_back({exchange.peer, send});
      const Bytes receive =
          index > 0 ? chunk_of(exchange.receive, cutting_.slice, index - 1) : Bytes(0);
      if (receive.count() > 0) {
        step.receive.push_back({exchange.peer, receive});
        step.reduce = exchange.reduce;
      }
      return;
    }
  }

  std::uint64_t bulks(std::uint32_t channel) const override {
    return exchanges(extra_ > 0 ? 1 : 0, channel).size();
  }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t index) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.ahead = 2;
    Bytes most;
    for (std::uint32_t p = 0; p < ranks_; ++p) {
      const bool gives = p < 2 * extra_ && p % 2 == 0;
      const std::vector<Exchange> mine = exchanges(p, channel);
      const std::uint64_t last = bulks(channel) - 1;
      // Who gives all away has but two exchanges, the first and the last.
      if (gives && index != 0 && index != last) continue;
      const std::uint64_t skipped = extra_ > 0 && p >= 2 * extra_ ? 1 : 0;
      if (index < skipped || (skipped > 0 && index == last)) continue;
      const Exchange& exchange = mine[gives ? (index == 0 ? 0 : 1) : index - skipped];
      if (exchange.send.count() == 0) continue;
      most = std::max(most, exchange.send);
      bulk.edges.push_back(
          {group_[p], group_[exchange.peer], static_cast<double>(exchange.send.count())});
    }
    bulk.steps = static_cast<double>(std::max<std::uint64_t>(1, chunks_of(most, cutting_.slice)));
    return bulk;
  }

 private:
  std::uint64_t steps_of(const Exchange& exchange) const {
    return std::max(
        chunks_of(exchange.send, cutting_.slice),
        exchange.receive.count() > 0 ? chunks_of(exchange.receive, cutting_.slice) + 1 : 0);
  }
  /// Place among the active positions, and back.
  std::uint32_t place_of(std::uint32_t position) const {
    return position < 2 * extra_ ? position / 2 : position - extra_;
  }
  std::uint32_t position_at(std::uint32_t place) const {
    return place < extra_ ? 2 * place + 1 : place + extra_;
  }

  std::vector<Exchange> exchanges(std::uint32_t position, std::uint32_t channel) const {
    const Bytes share = share_of(size_, cutting_.channels, channel);
    std::vector<Exchange> result;
    const bool paired = position < 2 * extra_;
    if (paired && position % 2 == 0) {
      result.push_back({position + 1, share, Bytes(0), false});
      result.push_back({position + 1, Bytes(0), share, false});
      return result;
    }
    if (paired) result.push_back({position - 1, Bytes(0), share, true});
    const std::uint32_t place = place_of(position);
    Bytes kept = share;
    for (std::uint32_t distance = active_ / 2; distance > 0; distance /= 2) {
      const std::uint32_t side = (place & distance) != 0 ? 1 : 0;
      const Bytes mine = share_of(kept, 2, side);
      result.push_back({position_at(place ^ distance), share_of(kept, 2, 1 - side), mine, true});
      kept = mine;
    }
    const std::size_t first = paired ? 1 : 0;
    for (std::size_t i = result.size(); i > first; --i) {
      const Exchange halving = result[i - 1];
      result.push_back({halving.peer, halving.receive, halving.send, false});
    }
    if (paired) result.push_back({position - 1, share, Bytes(0), false});
    return result;
  }

  Bytes size_;
  Cutting cutting_;
  std::uint32_t ranks_;
  std::uint32_t active_;  ///< positions that halve and double
  std::uint32_t extra_;
};

}  // namespace

std::unique_ptr<Schedule> halving_doubling(std::vector<base::Rank> group, Bytes size,
                                           Cutting cutting) {
  return std::make_unique<HalvingDoubling>(std::move(group), size, cutting);
}

}  // namespace fabricast::collective
