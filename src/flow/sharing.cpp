#include "flow/sharing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace fabricast::flow {

namespace {

// Of the capacity: what rounding leaves of a link that is full.
constexpr double kFull = 1e-9;
// Two rates closer than this are one.
constexpr double kSame = 1e-12;
// Crossings that are sorted to find those of the same link.
constexpr std::ptrdiff_t kLongPath = 16;

}  // namespace

std::uint32_t Sharing::add_link(double capacity, bool meeting) {
  Link& link = links_.emplace_back();
  link.capacity = capacity;
  link.meeting = meeting;
  return static_cast<std::uint32_t>(links_.size() - 1);
}

std::uint32_t Sharing::add_flow(const FlowSpec& spec) {
  const auto index = static_cast<std::uint32_t>(flows_.size());
  Flow& flow = flows_.emplace_back();
  flow.weight = spec.weight;
  flow.cap = spec.cap;
  flow.source = spec.source;
  flow.first = static_cast<std::uint32_t>(places_.size());
  for (const Crossing& crossing : spec.crossings) {
    if (crossing.share <= 0) continue;
    places_.push_back({crossing.share, crossing.link, crossing.follows});
    flow.followed = flow.followed || crossing.follows;
  }
  // Few flows cross a link twice; those that may are long.
  const auto begin = places_.begin() + flow.first;
  const bool is_long = places_.end() - begin > kLongPath;
  const auto by_link = [](const Place& x, const Place& y) {
    return x.link != y.link ? x.link < y.link : x.follows < y.follows;
  };
  if (is_long) std::stable_sort(begin, places_.end(), by_link);
  auto end = begin;
  for (auto place = begin; place != places_.end(); ++place) {
    const auto first = is_long && end != begin ? end - 1 : begin;
    const auto twin = std::find_if(first, end, [&](const Place& p) {
      return p.link == place->link && p.follows == place->follows;
    });
    if (twin != end) {
      twin->share += place->share;
    } else {
      *end++ = *place;
    }
  }
  places_.erase(end, places_.end());
  flow.crossings = static_cast<std::uint32_t>(places_.size()) - flow.first;
  flow.path = is_long ? std::uint8_t{0} : static_cast<std::uint8_t>(spec.path);
  return index;
}

void Sharing::set_capacity(std::uint32_t link, double capacity) {
  links_[link].capacity = capacity;
  release(link);
}

void Sharing::release(std::uint32_t link) {
  if (std::exchange(links_[link].released, true)) return;
  released_.push_back(link);
}

void Sharing::start(std::uint32_t index) {
  Flow& flow = flows_[index];
  flow.active = true;
  ++active_;
  for (Place& place : places_of(flow)) {
    Link& link = links_[place.link];
    ++link.count;
    if (place.follows) continue;
    if (std::exchange(place.listed, true)) {
      --link.left;
    } else {
      link.entries.push_back({index, static_cast<std::uint32_t>(&place - places_.data())});
    }
    link.whole_weight += place.share * flow.weight;
    count_source(place.link, flow.source, 1);
  }
  started_.push_back(index);
}

// Its entries stay until somebody comes by: many flows end in one instant, or start again.
void Sharing::stop(std::uint32_t index) {
  Flow& flow = flows_[index];
  flow.active = false;
  --active_;
  for (const Place& place : places_of(flow)) {
    Link& link = links_[place.link];
    link.used = --link.count == 0 ? 0 : link.used - place.share * flow.rate;
    if (place.follows) continue;
    ++link.left;
    link.whole_weight -= place.share * flow.weight;
    count_source(place.link, flow.source, -1);
    if (link.full || link.held) release(place.link);
  }
  flow.rate = 0;
}

/// Takes out the entries of flows that are no longer active, and what rounding has left of them.
void Sharing::sweep(Link& link) {
  if (link.left == 0) return;
  link.whole_weight = 0;
  std::erase_if(link.entries, [&](const Entry& entry) {
    Place& place = places_[entry.place];
    place.listed = flows_[entry.flow].active;
    if (place.listed) link.whole_weight += place.share * flows_[entry.flow].weight;
    return !place.listed;
  });
  link.left = 0;
}

void Sharing::count_source(std::uint32_t index, std::uint32_t source, int change) {
  Link& link = links_[index];
  if ((efficiency_.empty() && victim_ <= 0) || !link.meeting) return;
  const std::uint64_t key = static_cast<std::uint64_t>(index) << 32 | source;
  std::uint32_t& flows = *meetings_.try_emplace(key, 0).first;
  if (change > 0) {
    if (flows++ == 0) ++link.sources;
  } else if (--flows == 0) {
    --link.sources;
  }
}

double Sharing::capacity_of(const Link& link) const {
  if (link.sources == 0 || efficiency_.empty()) return link.capacity;
  const std::size_t n = std::min<std::size_t>(link.sources, efficiency_.size());
  return link.capacity * efficiency_[n - 1];
}

void Sharing::join(std::uint32_t index) {
  Flow& flow = flows_[index];
  if (flow.member == round_ || !flow.active) return;
  flow.member = round_;
  flow.before = flow.rate;
  members_.push_back(index);
}

void Sharing::expand(std::uint32_t index) {
  Link& link = links_[index];
  if (link.expanded == round_) return;
  link.expanded = round_;
  sweep(link);
  for (const Entry& entry : link.entries) join(entry.flow);
}

// Whoever shares a full link with a member is one.
void Sharing::gather_from(std::size_t member) {
  for (; member < members_.size() && !all_are_members(); ++member) {
    for (const Place& place : places_of(flows_[members_[member]])) {
      const Link& link = links_[place.link];
      if (!place.follows && (link.full || link.held)) expand(place.link);
    }
  }
}

// Links that the new rates fill, with flows on them that still have their old ones.
bool Sharing::gather_from_full_links() {
  const std::size_t before = members_.size();
  for (const std::uint32_t l : touched_) {
    if (links_[l].full || links_[l].held) expand(l);
  }
  gather_from(before);
  return members_.size() > before;
}

void Sharing::touch(std::uint32_t index) {
  Link& link = links_[index];
  if (link.touched == fills_) return;
  link.touched = fills_;
  touched_.push_back(index);
  link.free = capacity_of(link) - link.used;
  link.weight = 0;
  link.open = 0;
  link.full = link.held = false;
}

// On links that hold no member what follows changes too little to travel on.
void Sharing::take_in_followers(const Flow& flow) {
  if (!flow.followed) return;
  for (const Place& place : places_of(flow)) {
    Link& link = links_[place.link];
    if (place.follows && link.touched == fills_) {
      link.free += place.share * (flow.rate - flow.found);
    }
  }
}

void Sharing::open_links() {
  ++fills_;
  touched_.clear();
  caps_.clear();
  for (const std::uint32_t m : members_) {
    Flow& flow = flows_[m];
    flow.fixed = false;
    if (flow.cap != kNoCap) caps_.push_back({flow.cap / flow.weight, m, kNone});
  }
  std::make_heap(caps_.begin(), caps_.end(), std::greater<>());
  // Where all flows are members, links need not be told by them; where few are, most links are none
  // of their business.
  if (all_are_members() && members_.size() > links_.size()) {
    open_all_links();
  } else {
    open_links_of_members();
  }
  levels_.clear();
  for (const std::uint32_t l : touched_) {
    const Link& link = links_[l];
    if (link.open > 0) levels_.emplace_back(std::max(0.0, link.free) / link.weight, l);
  }
  std::make_heap(levels_.begin(), levels_.end(), std::greater<>());
}

void Sharing::open_links_of_members() {
  for (const std::uint32_t m : members_) {
    const Flow& flow = flows_[m];
    for (const Place& place : places_of(flow)) {
      if (place.follows) continue;
      touch(place.link);
      Link& link = links_[place.link];
      link.free += place.share * flow.rate;
      ++link.open;
      link.weight += place.share * flow.weight;
    }
  }
  for (const std::uint32_t m : members_) take_in_followers(flows_[m]);
}

void Sharing::open_all_links() {
  for (std::uint32_t l = 0; l < links_.size(); ++l) {
    Link& link = links_[l];
    sweep(link);
    if (link.entries.empty()) continue;
    touch(l);
    link.free = capacity_of(link);
    link.open = static_cast<std::uint32_t>(link.entries.size());
    link.weight = link.whole_weight;
  }
  for (const std::uint32_t m : members_) {
    const Flow& flow = flows_[m];
    if (!flow.followed) continue;
    for (const Place& place : places_of(flow)) {
      Link& link = links_[place.link];
      if (place.follows && link.touched == fills_) link.free -= place.share * flow.found;
    }
  }
}

void Sharing::fix(std::uint32_t index, double rate) {
  Flow& flow = flows_[index];
  flow.fixed = true;
  flow.found = rate;
  ++work_;
  for (const Place& place : places_of(flow)) {
    if (place.follows) continue;
    Link& link = links_[place.link];
    link.free -= place.share * rate;
    link.weight -= place.share * flow.weight;
    --link.open;
  }
}

void Sharing::saturate(std::uint32_t index, double level) {
  Link& link = links_[index];
  link.full = true;
  sweep(link);
  const bool holds = congested(link);
  for (const Entry& entry : link.entries) {
    const Flow& flow = flows_[entry.flow];
    if (flow.member != round_ || flow.fixed) continue;
    fix(entry.flow, level * flow.weight);
    if (holds) held_.push_back({entry.flow, index, level});
  }
  hold_back();
}

// Behind the link that holds it a flow holds all links of its way, and those the flows on them.
void Sharing::hold_back() {
  while (!held_.empty()) {
    const Held held = held_.back();
    held_.pop_back();
    const Flow& flow = flows_[held.flow];
    const auto way = places_of(flow).first(flow.path);
    for (const Place& place : way) {
      if (place.link == held.link) break;
      hold_on(place.link, held.level);
    }
  }
}

void Sharing::hold_on(std::uint32_t index, double level) {
  Link& link = links_[index];
  if (link.held) return;  // by a flow that has no more
  link.held = true;
  sweep(link);
  for (const Entry& entry : link.entries) {
    const Flow& flow = flows_[entry.flow];
    if (flow.member == round_ && !flow.fixed) push_cap({level * victim_, entry.flow, index});
  }
}

void Sharing::push_cap(const Cap& cap) {
  caps_.push_back(cap);
  std::push_heap(caps_.begin(), caps_.end(), std::greater<>());
}

// What follows a flow is known when its rate is; it is small, so that one more round is enough.
// True when anything follows.
bool Sharing::fill() {
  bool followed = false;
  for (const std::uint32_t m : members_) {
    flows_[m].found = flows_[m].rate;
    followed = followed || flows_[m].followed;
  }
  fill_links();
  if (followed) fill_links();
  return followed;
}

// Progressive filling: all members grow together until a link is full or one has reached its cap.
// A link is full no earlier than it seemed, since members that stop elsewhere leave it more; so a
// look at the earliest is enough.
void Sharing::fill_links() {
  open_links();
  while (!levels_.empty() || !caps_.empty()) {
    if (!caps_.empty() && (levels_.empty() || caps_.front().level <= levels_.front().first)) {
      take_cap();
      continue;
    }
    std::pop_heap(levels_.begin(), levels_.end(), std::greater<>());
    const auto [level, l] = levels_.back();
    const Link& link = links_[l];
    if (link.open == 0) {
      levels_.pop_back();
      continue;
    }
    const double now = std::max(level, std::max(0.0, link.free) / link.weight);
    if (now > level * (1 + kSame)) {
      levels_.back().first = now;
      std::push_heap(levels_.begin(), levels_.end(), std::greater<>());
      continue;
    }
    levels_.pop_back();
    saturate(l, now);
  }
}

void Sharing::take_cap() {
  std::pop_heap(caps_.begin(), caps_.end(), std::greater<>());
  const Cap cap = caps_.back();
  caps_.pop_back();
  if (flows_[cap.flow].fixed) return;
  fix(cap.flow, cap.level * flows_[cap.flow].weight);
  if (cap.link == kNone) return;
  held_.push_back({cap.flow, cap.link, cap.level});
  hold_back();
}

// The rates that were found hold. What they leave of links is what `fill` has left, unless there is
// more on them than it has counted.
void Sharing::settle(bool followed) {
  if (followed) {
    settle_rates();
  } else {
    for (const std::uint32_t m : members_) {
      Flow& flow = flows_[m];
      if (std::abs(flow.found - flow.rate) > kSame * flow.rate) flow.rate = flow.found;
    }
  }
  for (const std::uint32_t l : touched_) {
    Link& link = links_[l];
    const double capacity = capacity_of(link);
    if (!followed) link.used = capacity - link.free;
    const bool holds = link.entries.size() > link.left;
    link.full = link.full || (holds && capacity - link.used <= kFull * capacity);
  }
}

void Sharing::settle_rates() {
  for (const std::uint32_t m : members_) {
    Flow& flow = flows_[m];
    if (std::abs(flow.found - flow.rate) <= kSame * flow.rate) continue;
    for (const Place& place : places_of(flow)) {
      links_[place.link].used += place.share * (flow.found - flow.rate);
    }
    flow.rate = flow.found;
  }
}

std::span<const std::uint32_t> Sharing::solve() {
  ++round_;
  members_.clear();
  changed_.clear();
  for (const std::uint32_t f : started_) join(f);
  for (const std::uint32_t l : released_) expand(l);
  for (const std::uint32_t l : released_) {
    links_[l].full = links_[l].held = links_[l].released = false;
  }
  gather_from(0);
  started_.clear();
  released_.clear();
  while (!members_.empty()) {
    settle(fill());
    if (!gather_from_full_links()) break;
  }
  for (const std::uint32_t m : members_) {
    if (flows_[m].rate != flows_[m].before) changed_.push_back(m);
  }
  return changed_;
}

}  // namespace fabricast::flow
