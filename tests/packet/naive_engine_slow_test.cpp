// The fast engine against the naive one, to the picosecond, on random scenarios.

#include "naive_cases.h"

namespace fabricast::packet {
namespace {

TEST(AgainstTheNaiveEngine, EveryTimeAndCounterIsTheSameIn10000Scenarios) {
  testing::expect_agreement_without_loss(10'000);
}

TEST(AgainstTheNaiveEngine, EveryTimeAndCounterIsTheSameIn10000ScenariosWithLosses) {
  testing::expect_agreement_with_losses(10'000);
}

TEST(AgainstTheNaiveEngine, EveryTimeAndCounterIsTheSameIn10000ScenariosUnderCongestionControl) {
  testing::expect_agreement_with_control(10'000);
}

}  // namespace
}  // namespace fabricast::packet
