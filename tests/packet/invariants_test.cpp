#include <gtest/gtest.h>

#include "random_traffic.h"

namespace fabricast::packet {
namespace {

using namespace testing;

TEST(RandomTraffic, OnInfiniBandLosesNothingAndRepeatsExactly) {
  for (std::uint64_t n = 0; n < 100; ++n) expect_invariants(FabricKind::kInfiniBand, n);
}

TEST(RandomTraffic, OnRoceWithPfcLosesNothingAndRepeatsExactly) {
  for (std::uint64_t n = 0; n < 100; ++n) expect_invariants(FabricKind::kRoceV2, n);
}

TEST(RandomTraffic, OnTcpDeliversEverythingAndRepeatsExactly) {
  for (std::uint64_t n = 0; n < 100; ++n) expect_invariants(FabricKind::kTcp, n);
}

TEST(RandomTraffic, UnderFaultsArrivesOrTheRunSaysWhyNot) {
  for (std::uint64_t n = 0; n < 100; ++n) {
    expect_invariants_under_faults(FabricKind::kInfiniBand, n);
    expect_invariants_under_faults(FabricKind::kRoceV2, n);
    expect_invariants_under_faults(FabricKind::kTcp, n);
  }
}

}  // namespace
}  // namespace fabricast::packet
