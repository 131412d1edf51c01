// From the description of a published log to the system that is simulated.

#include "validation/nccl_system.h"

#include <gtest/gtest.h>

#include "scenario/scenario.h"

namespace fabricast::validation {
namespace {

catalog::Catalog shipped() {
  return catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
}

scenario::ValidScenario system(const LogDescription& log) {
  const catalog::Catalog catalog = shipped();
  const NcclSystem system = system_of(log, catalog);
  EXPECT_EQ(system.skipped, "");
  return scenario::parse_system(system.yaml, "log", catalog);
}

TEST(NcclSystem, takes_what_an_index_says) {
  const auto valid = system({.file = "nccl_allreduce_h100_4n.txt",
                             .collective = "allreduce",
                             .gpu = "H100-SXM-80GB",
                             .gpus = 32,
                             .nodes = 4,
                             .fabric = "IB",
                             .nics = "8x ConnectX-7 NDR 400G/node",
                             .remarks = "healthy"});
  EXPECT_EQ(valid.cluster.gpus, 32);
  EXPECT_EQ(valid.cluster.gpu.id, "h100-sxm-80gb");
  EXPECT_EQ(valid.cluster.topology.nics_per_node, 8);
  EXPECT_DOUBLE_EQ(valid.cluster.topology.nic_rate.gbps(), 400);
  EXPECT_EQ(valid.fabrics[0].profile.id, "infiniband");
}

TEST(NcclSystem, ports_beside_one_gpu_are_one_of_their_sum) {
  const auto valid = system({.file = "x",
                             .collective = "allreduce",
                             .gpu = "H100-SXM-80GB",
                             .gpus = 16,
                             .nodes = 2,
                             .fabric = "RoCEv2",
                             .nics = "16x 200G RDMA ports/node",
                             .remarks = ""});
  EXPECT_EQ(valid.cluster.topology.nics_per_node, 8);
  EXPECT_DOUBLE_EQ(valid.cluster.topology.nic_rate.gbps(), 400);
  EXPECT_EQ(valid.fabrics[0].profile.id, "roce-v2");
}

TEST(NcclSystem, a_rack_on_one_nvlink_is_one_node) {
  const auto valid = system({.file = "nccl_allreduce_gb200_18n_1rack.txt",
                             .collective = "allreduce",
                             .gpu = "GB200",
                             .gpus = 72,
                             .nodes = 18,
                             .fabric = "NVLink (NVL72)",
                             .nics = "",
                             .remarks = ""});
  EXPECT_EQ(valid.cluster.topology.gpus_per_node, 72);
  EXPECT_EQ(valid.cluster.topology.nodes, 1);
}

TEST(NcclSystem, gpudirect_is_off_where_the_log_says_so) {
  const auto valid = system({.file = "x",
                             .collective = "allreduce",
                             .gpu = "H100-80GB",
                             .gpus = 2,
                             .nodes = 2,
                             .fabric = "RoCEv2",
                             .nics = "1x 400G/node",
                             .remarks = "problem: GPUDirect RDMA off (GDR 0)"});
  EXPECT_FALSE(valid.cluster.host.gpudirect);
}

TEST(NcclSystem, a_name_tells_most_of_it) {
  const LogDescription log = described_by_name("nccl_allreduce_h100_2n_ib_ndr400x8_xe9680.txt");
  EXPECT_EQ(log.collective, "allreduce");
  EXPECT_EQ(log.gpu, "h100");
  EXPECT_EQ(log.nodes, 2);
  const auto valid = system(log);
  EXPECT_EQ(valid.cluster.gpus, 16);
  EXPECT_DOUBLE_EQ(valid.cluster.topology.nic_rate.gbps(), 400);
}

TEST(NcclSystem, a_gpu_that_nobody_knows_is_skipped_by_name) {
  LogDescription log = described_by_name("nccl_allreduce_q900_2n_ib.txt");
  EXPECT_EQ(system_of(log, shipped()).skipped, "no GPU `q900` in the catalogue");
}

}  // namespace
}  // namespace fabricast::validation
