#include "calibrate/op_named.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::calibrate {
namespace {

TEST(OpNamed, names_of_operations_are_those_that_people_use) {
  using collective::Op;
  EXPECT_EQ(op_named("allreduce"), Op::kAllReduce);
  EXPECT_EQ(op_named("all_gather_perf"), Op::kAllGather);
  EXPECT_EQ(op_named("osu_alltoall"), Op::kAllToAll);
  EXPECT_EQ(op_named("nccl_alltoall_h100_2n.txt"), Op::kAllToAll);
  EXPECT_THROW(op_named("nccl.txt"), base::Error);
}

}  // namespace
}  // namespace fabricast::calibrate
