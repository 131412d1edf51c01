#pragma once
// Many scenarios from one: a base scenario and axes over its keys. A grid file names the base and
// what varies; each of its points is the base with some values replaced, an ordinary document for
// the one door (scenario.h). Values keep their place in the grid file, so that what is wrong with
// one is told there.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"

namespace fabricast::scenario {

class Grid {
 public:
  /// What is set at a point: dotted keys ("fabrics[1].ecn.kmin_kb") with their values.
  using Settings = std::vector<std::pair<std::string, base::yaml::Node>>;

  /// Reads a grid file: `base` (the path of a scenario seen from the grid's folder, or a scenario
  /// as a mapping), `axes` (a mapping of keys to lists of values: the product of all lists) and
  /// `points` (a list of mappings of keys to values: one axis that sets several keys at once); at
  /// least one of the two. Throws base::Error (input) on the first thing that is wrong with the
  /// grid; what is wrong with a point is the door's to say.
  static Grid load(const std::string& path);

  /// At least 1, at most 1,000,000.
  std::size_t size() const { return size_; }
  /// Every key that some point sets, in the order written.
  const std::vector<std::string>& keys() const { return keys_; }
  /// The values of point `i` from 0: the last axis varies fastest, `points` fastest of all.
  Settings settings(std::size_t i) const;
  /// The base with the values of point `i`. Throws base::Error (input) at the place of a value that
  /// has no place in the base.
  base::yaml::Node document(std::size_t i) const;

  /// The file that relative paths in a point are seen from: the base, or the grid that holds it.
  const std::string& base_file() const { return base_file_; }
  /// All that was read.
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::string base_file_;
  std::vector<std::string> files_;
  base::yaml::Node base_;
  std::vector<std::vector<Settings>> axes_;
  std::vector<std::string> keys_;
  std::size_t size_ = 1;
};

}  // namespace fabricast::scenario
