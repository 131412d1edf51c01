#pragma once
// The one door to YAML (and to JSON, which is a subset). Text becomes a tree of plain nodes that
// know where they stand; `Fields` reads a mapping key by key, remembers which keys were read, and
// refuses the rest by name. No other room sees the YAML library.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fabricast::base::yaml {

/// A node of a parsed document; owns its children.
struct Node {
  enum class Kind { kNull, kScalar, kSequence, kMapping };

  // Defined where a pair that holds a Node is complete; Clang asks for it sooner otherwise.
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  Kind kind = Kind::kNull;
  std::string scalar;   ///< text of a scalar
  bool quoted = false;  ///< a quoted scalar is text, never a number or a boolean
  std::vector<Node> items;
  std::vector<std::pair<std::string, Node>> entries;  ///< in file order, keys unique
  Location where;                                     ///< `where.key` is the dotted path

  const Node* find(std::string_view key) const;
  /// "the number 5", "the text `abc`", "a list", "a mapping", "nothing": for error messages.
  std::string description() const;
};

/// Parses UTF-8 text. Throws base::Error (input) with a location on: invalid UTF-8, syntax errors,
/// duplicate keys, merge keys (`<<`), an empty document, more than 200,000 nodes, nesting deeper
/// than 64.
Node parse(std::string_view text, const std::string& file_name);
/// Reads a file of at most 16 MiB and parses it. Throws base::Error (input) when it cannot be read,
/// is a directory, is empty, or is a pipe that nobody writes to.
Node parse_file(const std::string& path);

/// Typed reading of scalars. Each throws base::Error (input) naming what was found and allowed.
/// Integers accept `100e6`; `1_000` and `010` are refused; a number must be finite; a text must not
/// be empty and be printable as it stands.
double number(const Node& node, double min, double max);
std::int64_t integer(const Node& node, std::int64_t min, std::int64_t max);
bool boolean(const Node& node);
std::string text(const Node& node);
/// A text of at most 200 bytes: what heads a column of a table or is a key of the result.
std::string name(const Node& node);

/// A mapping being read. Every getter marks its key as known, present or not; `finish()` throws on
/// the first key that nobody asked for, with the near miss among the known ones.
class Fields {
 public:
  /// Throws base::Error (input) when `node` is not a mapping.
  explicit Fields(const Node& node);

  bool has(std::string_view key);
  /// The node under `key`, or null.
  const Node* optional(std::string_view key);
  /// Throws base::Error (input) "missing" at the mapping's own place when absent; `allowed` says
  /// what should stand there, and a key that nobody has asked for so far and that looks like it is
  /// pointed at.
  const Node& required(std::string_view key, std::string_view allowed = "a value");

  double number(std::string_view key, double min, double max);
  double number(std::string_view key, double min, double max, double fallback);
  std::int64_t integer(std::string_view key, std::int64_t min, std::int64_t max);
  std::int64_t integer(std::string_view key, std::int64_t min, std::int64_t max,
                       std::int64_t fallback);
  bool boolean(std::string_view key, bool fallback);
  std::string text(std::string_view key);
  std::string text(std::string_view key, std::string_view fallback);
  std::string name(std::string_view key, std::string_view fallback);
  /// The index in `choices` of the text under `key`; near misses are suggested.
  std::size_t choice(std::string_view key, const std::vector<std::string>& choices);
  std::size_t choice(std::string_view key, const std::vector<std::string>& choices,
                     std::size_t fallback);

  void finish() const;
  const Node& node() const { return *node_; }
  /// The place of `key` when present, else of the mapping with the key appended to the path.
  Location where(std::string_view key) const;

 private:
  const Node* node_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace fabricast::base::yaml
