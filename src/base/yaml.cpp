#include "base/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

// Building from parser events, not through YAML::Node: a bomb of aliases is then stopped before it
// is expanded, a deep document before it is recursed into, and every node keeps its mark.
#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>

#include "base/read_file.h"
#include "base/table.h"

namespace fabricast::base::yaml {

namespace {

constexpr std::size_t kMaxNodes = 200'000;
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxFileBytes = 16U << 20;
// A path of keys longer than this helps nobody, and each node keeps one.
constexpr std::size_t kMaxPathBytes = 1024;

/// Turns byte positions into lines and columns; columns count characters.
class Lines {
 public:
  Lines(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
    blocks_.push_back(0);
    for (std::size_t i = 0; i + kBlock <= text.size(); i += kBlock) {
      blocks_.push_back(blocks_.back() + starts_in(text.substr(i, kBlock)));
    }
  }

  Location at_offset(std::size_t offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto line = static_cast<std::size_t>(after - starts_.begin()) - 1;
    return at(line, offset - starts_[line]);
  }

  /// The parser's marks count lines and bytes of a line from 0; -1 means unknown.
  Location at_mark(const YAML::Mark& mark) const {
    if (mark.is_null()) return {file_, 0, 0, {}};
    return at(std::min(static_cast<std::size_t>(mark.line), starts_.size() - 1),
              static_cast<std::size_t>(mark.column));
  }

 private:
  Location at(std::size_t line, std::size_t byte) const {
    const std::size_t start = starts_[line];
    const std::size_t offset = start + std::min(byte, text_.size() - start);
    const std::size_t characters = characters_before(offset) - characters_before(start);
    return {file_, static_cast<int>(line) + 1, static_cast<int>(characters) + 1, {}};
  }

  /// Characters that begin before `offset`. Looks at less than a block: a line of megabytes would
  /// otherwise be counted again for each of its nodes.
  std::size_t characters_before(std::size_t offset) const {
    const std::size_t block = offset / kBlock;
    return blocks_[block] + starts_in(text_.substr(block * kBlock, offset % kBlock));
  }

  static std::size_t starts_in(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
  }

  static constexpr std::size_t kBlock = 256;

  std::string_view text_;
  std::string file_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> blocks_;  ///< characters that begin before each block of kBlock bytes
};

std::size_t tree_size(const Node& node) {
  std::size_t size = 1;
  for (const Node& item : node.items) size += tree_size(item);
  for (const auto& [key, value] : node.entries) size += tree_size(value);
  return size;
}

/// A copy of an anchored node stands under another key than its original.
void move_path(Node& node, std::size_t old_prefix, const std::string& new_prefix) {
  node.where.key = new_prefix + node.where.key.substr(old_prefix);
  for (Node& item : node.items) move_path(item, old_prefix, new_prefix);
  for (auto& [key, value] : node.entries) move_path(value, old_prefix, new_prefix);
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const Lines& lines) : lines_(lines) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_leaf(make(Node::Kind::kNull, mark), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(Node::Kind::kScalar, mark);
    node.scalar = value;
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!node.quoted) refuse_tag(tag, node.where);
    add_leaf(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Node here = make(Node::Kind::kNull, mark);
    const auto original = anchors_.find(anchor);
    if (original == anchors_.end()) {
      throw input_error(here.where, "an alias to a node that contains it",
                        "an alias to an earlier node");
    }
    count(tree_size(original->second), here.where);
    Node copy = original->second;
    move_path(copy, copy.where.key.size(), here.where.key);
    add_leaf(std::move(copy), YAML::NullAnchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(Node::Kind::kSequence, mark), tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(Node::Kind::kMapping, mark), tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Node node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;
    std::string key;
    Location key_where;
    std::map<std::string, int, std::less<>> key_lines;
  };

  bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == Node::Kind::kMapping &&
           !stack_.back().has_key;
  }

  void count(std::size_t nodes, const Location& where) {
    nodes_ += nodes;
    if (nodes_ > kMaxNodes) {
      throw input_error(where, fmt::format("more than {} nodes, aliases expanded", kMaxNodes),
                        fmt::format("at most {}", kMaxNodes));
    }
  }

  /// An empty node at the place where the next child of the open node stands.
  Node make(Node::Kind kind, const YAML::Mark& mark) {
    Node node;
    node.kind = kind;
    node.where = lines_.at_mark(mark);
    if (!stack_.empty()) {
      const Frame& parent = stack_.back();
      std::string& path = node.where.key;
      path = parent.node.where.key;
      if (parent.node.kind == Node::Kind::kSequence) {
        path += fmt::format("[{}]", parent.node.items.size());
      } else if (parent.has_key) {
        path += (path.empty() ? "" : ".") + parent.key;
        // The parser marks an absent value at the next token, which may be lines away.
        if (kind == Node::Kind::kNull) {
          node.where.line = parent.key_where.line;
          node.where.column = parent.key_where.column;
        }
      }
    }
    count(1, node.where);
    return node;
  }

  static void refuse_tag(const std::string& tag, const Location& where) {
    constexpr std::string_view kCoreSchema = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with(kCoreSchema)) return;
    throw input_error(where, "the tag " + quote(tag), "values without tags of their own");
  }

  void open(Node node, const std::string& tag, YAML::anchor_t anchor) {
    refuse_tag(tag, node.where);
    if (expects_key()) {
      throw input_error(
          node.where, node.kind == Node::Kind::kMapping ? "a mapping as a key" : "a list as a key",
          "text as a key");
    }
    if (stack_.size() >= kMaxDepth) {
      throw input_error(node.where, fmt::format("nesting deeper than {} levels", kMaxDepth),
                        fmt::format("at most {}", kMaxDepth));
    }
    Frame frame;
    frame.node = std::move(node);
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    remember(frame.anchor, frame.node);
    attach(std::move(frame.node));
  }

  void add_leaf(Node node, YAML::anchor_t anchor) {
    if (expects_key()) {
      take_key(std::move(node));
      return;
    }
    remember(anchor, node);
    attach(std::move(node));
  }

  void take_key(Node node) {
    Frame& parent = stack_.back();
    if (node.kind != Node::Kind::kScalar) {
      throw input_error(node.where, node.description() + " as a key", "text as a key");
    }
    if (node.scalar == "<<" && !node.quoted) {
      throw input_error(node.where, "the merge key `<<`", "keys written out; `<<` is not read");
    }
    if (printable(node.scalar) != node.scalar) {
      throw input_error(node.where, "the key " + quote(node.scalar),
                        "keys without control characters");
    }
    if (parent.node.where.key.size() + node.scalar.size() >= kMaxPathBytes) {
      throw input_error(node.where, "a key too long to be meant",
                        fmt::format("paths of at most {} bytes", kMaxPathBytes));
    }
    const auto [first, inserted] = parent.key_lines.emplace(node.scalar, node.where.line);
    if (!inserted) {
      std::string& path = node.where.key;
      path += (path.empty() ? "" : ".") + node.scalar;
      throw input_error(
          node.where,
          fmt::format("a second value for this key (the first is in line {})", first->second),
          "each key once");
    }
    parent.has_key = true;
    parent.key = std::move(node.scalar);
    parent.key_where = node.where;
  }

  void remember(YAML::anchor_t anchor, const Node& node) {
    if (anchor == YAML::NullAnchor) return;
    count(tree_size(node), node.where);  // the copy takes memory too
    anchors_.insert_or_assign(anchor, node);
  }

  void attach(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.kind == Node::Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
    } else {
      parent.node.entries.emplace_back(std::move(parent.key), std::move(node));
      parent.has_key = false;
    }
  }

  const Lines& lines_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t nodes_ = 0;
  Node root_;
};

/// What no YAML file may hold (YAML 1.2.2, section 5.1). The parser takes byte 4 for the end of the
/// input, so this is checked before it sees the text.
void refuse_bad_bytes(std::string_view text, const Lines& lines) {
  std::size_t bad = 0;
  if (!valid_utf8(text, &bad)) {
    throw input_error(
        lines.at_offset(bad),
        fmt::format("the byte 0x{:02x}, which is not UTF-8", static_cast<unsigned char>(text[bad])),
        "text in UTF-8");
  }
  const auto* control = std::find_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
  });
  if (control != text.end()) {
    throw input_error(
        lines.at_offset(static_cast<std::size_t>(control - text.begin())),
        fmt::format("the control character 0x{:02x}", static_cast<unsigned char>(*control)),
        "printable text");
  }
}

}  // namespace

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

Node parse(std::string_view text, const std::string& file_name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const Lines lines(text, file_name);
  refuse_bad_bytes(text, lines);

  TreeBuilder builder(lines);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      throw input_error({file_name, 0, 0, {}}, "nothing (the file is empty)", "a YAML mapping");
    }
    Node root = builder.take();
    TreeBuilder second(lines);
    if (parser.HandleNextDocument(second)) {
      throw input_error(second.take().where, "a second document", "one document in a file");
    }
    return root;
  } catch (const YAML::Exception& error) {
    throw input_error(lines.at_mark(error.mark), "text that is not YAML (" + error.msg + ")",
                      "valid YAML");
  }
}

Node parse_file(const std::string& path) {
  return parse(read_file(path, kMaxFileBytes), path);
}

}  // namespace fabricast::base::yaml
