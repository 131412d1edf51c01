#include <gtest/gtest.h>

#include "random_traffic.h"

namespace fabricast::packet {
namespace {

using namespace testing;

TEST(RandomTrafficAtLength, LosesNothingOnLosslessFabricsAndDeliversEverythingOnAll) {
  for (std::uint64_t n = 1000; n < 11000; ++n) {
    expect_invariants(FabricKind::kInfiniBand, n);
    expect_invariants(FabricKind::kRoceV2, n);
    expect_invariants(FabricKind::kTcp, n);
  }
}

TEST(RandomTrafficAtLength, UnderFaultsArrivesOrTheRunSaysWhyNot) {
  for (std::uint64_t n = 1000; n < 11000; ++n) {
    expect_invariants_under_faults(FabricKind::kInfiniBand, n);
    expect_invariants_under_faults(FabricKind::kRoceV2, n);
    expect_invariants_under_faults(FabricKind::kTcp, n);
  }
}

}  // namespace
}  // namespace fabricast::packet
