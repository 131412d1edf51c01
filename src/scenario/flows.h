#pragma once
// Flows for the bare network, as a CSV file: `id,src,dst,bytes,start_us[,priority,depends_on]`. The
// first line names the columns; empty lines and lines that start with `#` are skipped.

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace fabricast::scenario {

struct FlowSpec {
  static constexpr std::size_t kNoFlow = static_cast<std::size_t>(-1);

  std::string id;
  std::uint32_t src = 0;  ///< GPU
  std::uint32_t dst = 0;  ///< GPU
  base::Bytes size;
  base::Time start;  ///< from the beginning; with a dependency: after that one is acknowledged
  unsigned traffic_class = 0;
  std::size_t depends_on = kNoFlow;  ///< position in the file
};

/// What a flow of the system may name.
struct FlowLimits {
  int gpus = 0;
  int traffic_classes = 1;
};

/// Throws base::Error (input) with line and column name: a missing column, a value that is no
/// number or out of range, a GPU or a class that the system does not have, an id twice, a
/// dependency on nothing or on itself in a circle.
std::vector<FlowSpec> read_flows(const std::string& path, const FlowLimits& limits);
/// The same from text; `file_name` is for messages.
std::vector<FlowSpec> parse_flows(const std::string& text, const std::string& file_name,
                                  const FlowLimits& limits);

}  // namespace fabricast::scenario
