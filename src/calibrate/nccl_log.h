#pragma once
// Logs of nccl-tests (and rccl-tests) as their rows. The tool prints
//   size count type redop root time algbw busbw #wrong time algbw busbw #wrong
// out of place, then in place; older versions print no root. Everything else of a log is skipped.

#include <string>
#include <vector>

#include "base/units.h"
#include "collective/schedule.h"

namespace fabricast::calibrate {

struct NcclRow {
  base::Bytes size;
  double time_us = 0;           ///< out of place
  double in_place_time_us = 0;  ///< 0: not printed
};

/// Rows with a size and a time above 0, in the order of the log. Throws base::Error (input) on a
/// file that cannot be read.
std::vector<NcclRow> read_nccl_log(const std::string& path);
/// The same from text.
std::vector<NcclRow> parse_nccl_log(const std::string& text);

/// "allreduce", "all_reduce_perf", "alltoall", ... as people name files and tools. Throws
/// base::Error (failure) on what names none.
collective::Op op_named(std::string_view text);

}  // namespace fabricast::calibrate
