// Figures of papers on small scenarios; the longer ones are in papers_slow_test.cpp. Those that
// could not be re-read are quoted from memory, and docs/models/peers.md says which.

#include <algorithm>

#include <gtest/gtest.h>

#include "irn.h"

namespace fabricast::packet {
namespace {

using namespace testing;

// Mittal et al., SIGCOMM 2018, section 4.4: 150 MB striped over many senders to one receiver end
// about as soon with IRN and no PFC as with RoCE and PFC (within a few per cent, from memory), here
// both under DCQCN. Without a control thirty windows meet a buffer of two of them, and the fixed
// timer of IBTA lets one of the senders use its seven retries up; the paper's has no such limit.
TEST(Irn, EndsAnIncastAsSoonAsRoceWithPfc) {
  const auto last = [](FabricProfile profile, std::uint32_t senders) {
    profile.ecn = roce().ecn;
    profile.ecn.kmin = Bytes(5'000);
    profile.ecn.kmax = Bytes(200'000);
    profile.ecn.pmax = 0.01;
    profile.congestion.control = catalog::RdmaCongestionControl::kDcqcn;
    auto network = network_on(irn_fabric(), profile);
    const auto done = completion_times(*network, incast(senders, Bytes(150'000'000 / senders)));
    return *std::max_element(done.begin(), done.end());
  };
  const Time wire = base::transmission_time(Bytes(150'000 * 1048LL), 40_gbps);
  for (const std::uint32_t senders : {10U, 30U}) {
    const Time lossless = last(irn_roce(), senders);
    const Time irn_without = last(without_pfc(irn()), senders);
    EXPECT_NEAR(irn_without / lossless, 1.0, 0.05) << senders << " senders";
    EXPECT_LT(irn_without / wire, 1.2) << "DCQCN leaves some of the link";
  }
}

}  // namespace
}  // namespace fabricast::packet
