#pragma once
// Who gets how much of links that are shared: weighted max-min fairness (Bertsekas and Gallager,
// Data Networks, 6.5.2). Flow f crosses link l with `share` a(f, l) of its rate x(f):
//
//   for every link   sum over f of a(f, l) x(f) <= capacity(l)
//   for every flow   x(f) <= cap(f)
//
// and no x(f)/weight(f) can rise unless another that is not higher falls. A link that flows of
// several sources meet on may carry less than its capacity: `efficiency` by their number. Only what
// a change can reach is worked out again: a change travels from flow to flow over links that are
// full, before or after.
//
// Back-pressure. Where a network holds packets back instead of dropping them (PFC without
// congestion control, credits), a link that is full holds everything behind it: who shares a link
// on the way there with a flow that is held gets at most `victim` times its rate, and is held in
// turn.

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/large_pages.h"

namespace fabricast::flow {

struct Crossing {
  std::uint32_t link = 0;
  double share = 1;  ///< of the flow's rate
  /// Takes its part of the link, before all others, but is not held by it: acknowledgements.
  bool follows = false;
};

inline constexpr double kNoCap = std::numeric_limits<double>::infinity();

struct FlowSpec {
  std::span<const Crossing> crossings;  ///< those of the same link add up
  std::uint32_t source = 0;             ///< flows of one source do not get in each other's way
  std::uint32_t path = 0;               ///< crossings at the front that are its way, in order
  double weight = 1;                    ///< above 0
  double cap = kNoCap;                  ///< bytes per second, above 0
};

class Sharing {
 public:
  /// `capacity` in bytes per second, as all rates here. At a `meeting` link efficiency counts.
  std::uint32_t add_link(double capacity, bool meeting = false);
  /// A flow that is idle until started.
  std::uint32_t add_flow(const FlowSpec& spec);
  /// What flows of n sources that fill a link together get of it: entry n - 1, the last for more.
  /// PRECONDITION: no flow is active.
  void set_efficiency(std::vector<double> by_sources) { efficiency_ = std::move(by_sources); }
  /// At least 1; 0: no back-pressure. PRECONDITION: no flow is active.
  void set_victim(double victim) { victim_ = victim; }
  void set_capacity(std::uint32_t link, double capacity);

  void start(std::uint32_t flow);
  void stop(std::uint32_t flow);
  bool active(std::uint32_t flow) const { return flows_[flow].active; }

  /// True when something has changed since the last `solve`.
  bool stale() const { return !started_.empty() || !released_.empty(); }
  /// Works out what has changed; returns the flows whose rates are new, until the next call.
  std::span<const std::uint32_t> solve();

  double capacity(std::uint32_t link) const { return links_[link].capacity; }
  double rate(std::uint32_t flow) const { return flows_[flow].rate; }
  /// Sum of what crosses a link now.
  double used(std::uint32_t link) const { return links_[link].used; }
  std::size_t links() const { return links_.size(); }
  std::size_t flows() const { return flows_.size(); }
  /// Rates worked out so far, of one flow each: what `solve` costs.
  std::uint64_t work() const { return work_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// An active flow on a link, or one that has been.
  struct Entry {
    std::uint32_t flow = 0;
    std::uint32_t place = 0;
  };
  /// Together what `fill` goes through for every crossing.
  struct alignas(64) Link {
    double free = 0;             ///< in `fill`: left for the members that are not fixed yet
    double weight = 0;           ///< in `fill`: of those that it can hold, times their shares
    std::uint32_t open = 0;      ///< in `fill`: their number
    bool full = false;           ///< after the last `solve`
    bool held = false;           ///< behind one that is full: holds who crosses it
    bool released = false;       ///< is in `released_`
    bool meeting = false;        ///< efficiency counts
    std::uint64_t touched = 0;   ///< the last `fill_links` that a member crossed it in
    std::uint64_t expanded = 0;  ///< the last round that its flows became members
    double capacity = 0;
    double used = 0;
    double whole_weight = 0;     ///< as `weight`, of all active flows
    std::uint32_t count = 0;     ///< crossings of active flows
    std::uint32_t sources = 0;   ///< of those, where efficiency counts
    std::uint32_t left = 0;      ///< entries of flows that are no longer active
    std::vector<Entry> entries;  ///< flows that it can hold
  };
  struct alignas(64) Flow {
    double weight = 1;
    double cap = kNoCap;
    double rate = 0;
    double found = 0;          ///< in `fill`
    double before = 0;         ///< in `solve`
    std::uint64_t member = 0;  ///< the last round that it was one
    std::uint32_t source = 0;
    std::uint32_t first = 0;  ///< place
    std::uint32_t crossings = 0;
    bool fixed = false;     ///< in `fill`
    bool followed = false;  ///< has crossings that follow
    bool active = false;
    std::uint8_t path = 0;  ///< places at the front that are its way
  };
  static_assert(sizeof(Flow) == 64);
  /// A crossing of a flow.
  struct Place {
    double share = 1;
    std::uint32_t link = 0;
    bool follows = false;
    bool listed = false;  ///< has an entry at its link
  };

  /// A member gets no more than this level: by itself, or held at a link.
  struct Cap {
    double level = 0;
    std::uint32_t flow = 0;
    std::uint32_t link = kNone;
    friend bool operator>(const Cap& a, const Cap& b) {
      return a.level != b.level ? a.level > b.level : a.flow > b.flow;
    }
  };
  struct Held {
    std::uint32_t flow = 0;
    std::uint32_t link = 0;
    double level = 0;
  };

  std::span<Place> places_of(const Flow& flow) {
    return {places_.data() + flow.first, flow.crossings};
  }
  double capacity_of(const Link& link) const;
  void count_source(std::uint32_t link, std::uint32_t source, int change);
  void sweep(Link& link);
  void release(std::uint32_t link);
  void join(std::uint32_t flow);
  void expand(std::uint32_t link);
  void gather_from(std::size_t member);
  bool gather_from_full_links();
  void open_links();
  void open_links_of_members();
  void open_all_links();
  bool all_are_members() const { return members_.size() == active_; }
  void touch(std::uint32_t link);
  void take_in_followers(const Flow& flow);
  bool fill();
  void fill_links();
  void fix(std::uint32_t flow, double rate);
  void saturate(std::uint32_t link, double level);
  bool congested(const Link& link) const { return victim_ > 0 && link.sources > 1; }
  void hold_back();
  void hold_on(std::uint32_t link, double level);
  void push_cap(const Cap& cap);
  void take_cap();
  void settle(bool followed);
  void settle_rates();

  std::vector<Link> links_;
  std::vector<Flow, base::LargePages<Flow>> flows_;
  std::vector<Place, base::LargePages<Place>> places_;
  std::vector<double> efficiency_;
  base::FlatMap<std::uint32_t> meetings_;  ///< active flows of link and source
  std::vector<std::uint32_t> started_;     ///< flows
  std::vector<std::uint32_t> released_;    ///< full links that have lost a flow or changed
  std::vector<std::uint32_t> members_;     ///< flows whose rates are worked out
  std::vector<std::uint32_t> touched_;     ///< links that they cross
  std::vector<std::uint32_t> changed_;
  std::vector<std::pair<double, std::uint32_t>> levels_;  ///< heap: when a link is full
  std::vector<Cap> caps_;                                 ///< heap: of members, by level
  std::vector<Held> held_;                                ///< flows whose way back is to be held
  double victim_ = 0;
  std::size_t active_ = 0;  ///< flows
  std::uint64_t round_ = 0;
  std::uint64_t fills_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace fabricast::flow
