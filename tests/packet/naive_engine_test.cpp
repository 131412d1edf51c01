// The fast engine against the naive one, to the picosecond, on random scenarios.

#include "naive_cases.h"

namespace fabricast::packet {
namespace {

TEST(AgainstTheNaiveEngine, EveryTimeAndCounterIsTheSameIn300Scenarios) {
  testing::expect_agreement_without_loss(300);
}

TEST(AgainstTheNaiveEngine, EveryTimeAndCounterIsTheSameIn300ScenariosWithLosses) {
  testing::expect_agreement_with_losses(300);
}

TEST(AgainstTheNaiveEngine, EveryTimeAndCounterIsTheSameIn300ScenariosUnderCongestionControl) {
  testing::expect_agreement_with_control(300);
}

}  // namespace
}  // namespace fabricast::packet
