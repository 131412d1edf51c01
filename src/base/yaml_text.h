#pragma once
// A tree of YAML written out again, always in the same way.

#include <string>

#include "base/yaml.h"

namespace fabricast::base::yaml {

/// One line in flow style with the keys of every mapping in byte order: two trees that mean the
/// same have the same text, whatever their order of keys, comments and layout. A text that could be
/// read as something else is quoted; `100e6` and `100000000` stay as they were written.
std::string flow_text(const Node& node);

/// A mapping with one line per key, each value in flow style. Reads back as the same tree.
std::string block_text(const Node& mapping);

}  // namespace fabricast::base::yaml
