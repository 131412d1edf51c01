// Max-min fairness: each case states the links, then what each flow must get.

#include "flow/sharing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace fabricast::flow {
namespace {

std::uint32_t flow_over(Sharing& sharing, const std::vector<Crossing>& crossings, double weight = 1,
                        double cap = kNoCap, std::uint32_t source = 0) {
  return sharing.add_flow({crossings, source, 0, weight, cap});
}

// Bertsekas and Gallager, Data Networks, figure 6.13 in its plainest form: one long flow over two
// links, a second flow on the first, two more on the second.
TEST(Sharing, gives_the_rest_to_those_who_can_use_it) {
  Sharing s;
  const auto a = s.add_link(1);
  const auto b = s.add_link(1);
  const auto both = flow_over(s, {{a}, {b}});
  const auto first = flow_over(s, {{a}});
  const auto second = flow_over(s, {{b}});
  const auto third = flow_over(s, {{b}});
  for (const auto f : {both, first, second, third}) s.start(f);
  s.solve();
  EXPECT_DOUBLE_EQ(s.rate(both), 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.rate(second), 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.rate(third), 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.rate(first), 2.0 / 3);
}

TEST(Sharing, follows_weights_and_caps) {
  Sharing s;
  const auto link = s.add_link(12);
  const auto heavy = flow_over(s, {{link}}, 3);
  const auto light = flow_over(s, {{link}}, 1);
  const auto capped = flow_over(s, {{link}}, 1, 2);
  for (const auto f : {heavy, light, capped}) s.start(f);
  s.solve();
  EXPECT_DOUBLE_EQ(s.rate(capped), 2);
  EXPECT_DOUBLE_EQ(s.rate(heavy), 7.5);
  EXPECT_DOUBLE_EQ(s.rate(light), 2.5);
}

TEST(Sharing, counts_a_link_as_often_as_a_flow_crosses_it) {
  Sharing s;
  const auto link = s.add_link(6);
  const auto twice = flow_over(s, {{link}, {link}});
  const auto once = flow_over(s, {{link}});
  s.start(twice);
  s.start(once);
  s.solve();
  EXPECT_DOUBLE_EQ(s.rate(twice), 2);
  EXPECT_DOUBLE_EQ(s.rate(once), 2);
}

TEST(Sharing, loses_to_congestion_where_several_sources_meet) {
  Sharing s;
  s.set_efficiency({1, 0.9, 0.8});
  const auto own = s.add_link(10);
  const auto met = s.add_link(10, true);
  const auto a = flow_over(s, {{own}, {met}}, 1, kNoCap, 1);
  const auto b = flow_over(s, {{own}, {met}}, 1, kNoCap, 1);
  const auto other = flow_over(s, {{met}}, 1, kNoCap, 2);
  s.start(a);
  s.start(b);
  s.solve();
  EXPECT_DOUBLE_EQ(s.rate(a) + s.rate(b), 10) << "one source";
  s.start(other);
  s.solve();
  EXPECT_DOUBLE_EQ(s.used(met), 9);
  s.stop(a);
  s.stop(b);
  s.solve();
  EXPECT_DOUBLE_EQ(s.rate(other), 10);
}

// A flow that shares its uplink with one of three into a port gets what that one gets, and passes
// it on to who shares its own adapter; without back-pressure all have what is left.
TEST(Sharing, holds_everything_behind_a_full_link) {
  for (const bool pressure : {false, true}) {
    Sharing s;
    if (pressure) s.set_victim(1);
    const auto adapter = s.add_link(9);
    const auto uplink = s.add_link(18, true);
    const auto port = s.add_link(9, true);
    const auto elsewhere = s.add_link(9, true);
    const auto flow = [&](const std::vector<Crossing>& way, std::uint32_t source) {
      const auto f = s.add_flow({way, source, static_cast<std::uint32_t>(way.size())});
      s.start(f);
      return f;
    };
    const auto held = flow({{s.add_link(9)}, {uplink}, {port}}, 1);
    flow({{s.add_link(9)}, {port}}, 2);
    flow({{s.add_link(9)}, {port}}, 3);
    const auto victim = flow({{adapter}, {uplink}, {elsewhere}}, 4);
    const auto neighbour = flow({{adapter}, {s.add_link(9, true)}}, 4);
    s.solve();
    EXPECT_DOUBLE_EQ(s.rate(held), 3);
    EXPECT_DOUBLE_EQ(s.rate(victim), pressure ? 3 : 4.5);
    EXPECT_DOUBLE_EQ(s.rate(neighbour), pressure ? 3 : 4.5);
    s.stop(held);
    s.solve();
    EXPECT_DOUBLE_EQ(s.rate(victim), 4.5);
    EXPECT_DOUBLE_EQ(s.rate(neighbour), 4.5);
    s.start(held);
    s.solve();
    EXPECT_DOUBLE_EQ(s.rate(neighbour), pressure ? 3 : 4.5);
  }
}

TEST(Sharing, works_out_only_what_a_change_can_reach) {
  Sharing s;
  std::vector<std::uint32_t> flows;
  for (int i = 0; i < 100; ++i) flows.push_back(flow_over(s, {{s.add_link(1)}}));
  for (const auto f : flows) s.start(f);
  s.solve();
  const std::uint64_t before = s.work();
  s.stop(flows[7]);
  s.start(flows[7]);
  s.solve();
  EXPECT_EQ(s.work() - before, 1U);
}

/// No flow can get more unless one that has no more loses: each is at its cap or crosses a full
/// link on which none has more for its weight.
void expect_max_min(const Sharing& s, const std::vector<std::vector<Crossing>>& crossings,
                    const std::vector<double>& capacity, const std::vector<double>& weight,
                    const std::vector<double>& cap, const std::vector<std::uint32_t>& flows) {
  std::vector<double> used(capacity.size());
  std::vector<double> highest(capacity.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (!s.active(flows[i])) continue;
    for (const Crossing& c : crossings[i]) {
      used[c.link] += c.share * s.rate(flows[i]);
      highest[c.link] = std::max(highest[c.link], s.rate(flows[i]) / weight[i]);
    }
  }
  for (std::size_t l = 0; l < capacity.size(); ++l) {
    EXPECT_LE(used[l], capacity[l] * (1 + 1e-9));
    EXPECT_NEAR(used[l], s.used(static_cast<std::uint32_t>(l)), 1e-9 * capacity[l]);
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (!s.active(flows[i])) continue;
    const double level = s.rate(flows[i]) / weight[i];
    const bool held = std::ranges::any_of(crossings[i], [&](const Crossing& c) {
      return used[c.link] >= capacity[c.link] * (1 - 1e-8) && highest[c.link] <= level * (1 + 1e-8);
    });
    EXPECT_TRUE(held || s.rate(flows[i]) >= cap[i] * (1 - 1e-9)) << "flow " << i;
  }
}

// Flows come and go on a random network; after every step what was changed in part must be max-min
// fair as a whole.
TEST(Sharing, stays_max_min_fair_through_random_changes) {
  for (std::uint64_t number = 0; number < 40; ++number) {
    SCOPED_TRACE("network " + std::to_string(number));
    base::RandomStream random(number, "sharing");
    Sharing s;
    std::vector<double> capacity;
    for (std::uint64_t l = 0; l < 5 + random.below(30); ++l) {
      capacity.push_back(1 + 9 * random.uniform());
      s.add_link(capacity.back());
    }
    std::vector<std::vector<Crossing>> crossings;
    std::vector<double> weight;
    std::vector<double> cap;
    std::vector<std::uint32_t> flows;
    for (int i = 0; i < 60; ++i) {
      auto& path = crossings.emplace_back();
      for (std::uint32_t l = 0; l < capacity.size(); ++l) {
        if (random.below(capacity.size()) < 3) path.push_back({l, 0.5 + random.uniform()});
      }
      if (path.empty()) path.push_back({0, 1});
      weight.push_back(random.below(2) == 0 ? 1 : 0.5 + random.uniform());
      cap.push_back(random.below(4) == 0 ? 0.1 + random.uniform() : kNoCap);
      flows.push_back(flow_over(s, path, weight.back(), cap.back()));
    }
    for (int step = 0; step < 60; ++step) {
      for (std::uint64_t k = 0; k <= random.below(3); ++k) {
        const auto f = flows[random.below(flows.size())];
        s.active(f) ? s.stop(f) : s.start(f);
      }
      s.solve();
      expect_max_min(s, crossings, capacity, weight, cap, flows);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace fabricast::flow
