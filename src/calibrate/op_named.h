#pragma once
// Collectives by the names that people and tools give them.

#include <string_view>

#include "collective/schedule.h"

namespace fabricast::calibrate {

/// "allreduce", "all_reduce_perf", "osu_alltoall", "nccl_alltoall_h100_2n.txt", ... Throws
/// base::Error (failure) on what names none.
collective::Op op_named(std::string_view text);

}  // namespace fabricast::calibrate
