#include "calibrate/op_named.h"

#include <array>
#include <string>
#include <utility>

#include "base/error.h"

namespace fabricast::calibrate {

collective::Op op_named(std::string_view text) {
  using collective::Op;
  std::string letters;
  for (const char c : text) {
    if (c != '_' && c != '-') letters += c;
  }
  static constexpr std::array<std::pair<std::string_view, Op>, 6> kOps = {
      {{"allreduce", Op::kAllReduce},
       {"allgather", Op::kAllGather},
       {"reducescatter", Op::kReduceScatter},
       {"alltoall", Op::kAllToAll},
       {"sendrecv", Op::kSendRecv},
       {"broadcast", Op::kBroadcast}}};
  for (const auto& [name, op] : kOps) {
    if (letters.find(name) != std::string::npos) return op;
  }
  throw base::failure("no collective is named in " + std::string(text));
}

}  // namespace fabricast::calibrate
