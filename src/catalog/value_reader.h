#pragma once
// How a catalogue file is laid out: `sources` maps short keys to citations, `entries` maps ids to
// mappings of values. A value is `{value: 989.4, kind: datasheet, source: nvidia-h100}`; an entry
// whose values all have one origin states `kind` and `source` once and writes them plainly.
// Whatever the form, a value without kind or source is refused here.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "catalog/catalog.h"

namespace fabricast::catalog {

/// The index of a scalar in `choices`. Throws base::Error (input) with the near miss.
std::size_t choose(const base::yaml::Node& node, const std::vector<std::string>& choices);

/// A value with the node that holds it, for typed reading.
struct ReadValue {
  Value value;
  const base::yaml::Node* node = nullptr;
};

/// One parsed file of the catalogue; owns the document that the entries' nodes point into.
class CatalogFile {
 public:
  /// Throws base::Error (input) when the file cannot be read or has other parts than `sources` and
  /// `entries`.
  explicit CatalogFile(const std::string& path);

  const std::vector<std::pair<std::string, base::yaml::Node>>& entries() const {
    return entries_->entries;
  }
  /// The citation behind `source`: that of a key of `sources`, or the text itself when it is more
  /// than one word. Throws base::Error (input) on an unknown key.
  std::string citation(const base::yaml::Node& source) const;

 private:
  base::yaml::Node document_;
  std::map<std::string, std::string> sources_;
  const base::yaml::Node* entries_ = nullptr;
};

/// Reads the values of one entry. PRECONDITION: `file` outlives the results.
class ValueReader {
 public:
  /// `defaults` is the mapping whose `kind`, `source` and `note` hold for values without their own.
  ValueReader(const CatalogFile& file, base::yaml::Fields& defaults);

  /// Throws base::Error (input) when kind or source is missing, naming the key.
  ReadValue read(std::string key, const base::yaml::Node& node) const;

 private:
  const CatalogFile& file_;
  const base::yaml::Node* kind_ = nullptr;
  const base::yaml::Node* source_ = nullptr;
};

}  // namespace fabricast::catalog
