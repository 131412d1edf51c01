#include "report/outcomes.h"

#include <gtest/gtest.h>

#include "sample.h"

namespace fabricast::report {
namespace {

TEST(Outcomes, come_back_to_the_last_bit) {
  advice::Outcome outcome = sample_outcome("mine", catalog::FabricKind::kTcp);
  outcome.training.step_times_s = {0.1, 1.0 / 3, 5e-324, 1e308};
  outcome.training.counters.events = 0xffff'ffff'ffff'ffffU;
  outcome.training.counters.paused = base::Time::picoseconds(-3);
  outcome.host = fabric::HostLimit{base::Rate::bits_per_second(7), fabric::HostLinkKind::kMemory};
  const std::vector<advice::Outcome> outcomes = {outcome,
                                                 sample_outcome("b", catalog::FabricKind::kRoceV2)};
  const std::vector<advice::Outcome> back = unpacked(packed(outcomes));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].name, "mine");
  EXPECT_EQ(back[0].kind, catalog::FabricKind::kTcp);
  EXPECT_EQ(back[0].training.step_times_s, outcome.training.step_times_s);
  EXPECT_EQ(back[0].training.counters.events, outcome.training.counters.events);
  EXPECT_EQ(back[0].training.counters.paused, outcome.training.counters.paused);
  EXPECT_EQ(back[0].training.phases.at(0).name, "dp gradients");
  EXPECT_EQ(back[0].host->link, fabric::HostLinkKind::kMemory);
  EXPECT_EQ(back[0].bill.lines.at(0).item, "switch-x");
  EXPECT_FALSE(back[1].host);
  EXPECT_EQ(packed(back), packed(outcomes));
}

TEST(Outcomes, that_cannot_be_read_back_are_a_failure) {
  EXPECT_THROW(unpacked(""), base::Error);
  EXPECT_THROW(unpacked("\x81\x80"), base::Error);
}

}  // namespace
}  // namespace fabricast::report
