#pragma once
// A tree of YAML written out again, always in the same way.

#include <string>

#include "base/yaml.h"

namespace fabricast::base::yaml {

enum class KeyOrder {
  kBytes,  ///< two trees that mean the same have the same text
  kFile,   ///< as a reader wrote them
};

/// One line in flow style, without comments. A text that could be read as something else is quoted;
/// `100e6` and `100000000` stay as they were written.
std::string flow_text(const Node& node, KeyOrder order = KeyOrder::kBytes);

/// A mapping with one line per key in byte order, each value in flow style. Reads back as the same
/// tree.
std::string block_text(const Node& mapping);

}  // namespace fabricast::base::yaml
