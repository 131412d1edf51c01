#include "base/yaml_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricast::base::yaml {

namespace {

constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-/()";

/// Text of which no character means anything to YAML where it stands.
bool plain(const std::string& text) {
  return !text.empty() && text.find_first_not_of(kPlain) == std::string::npos && text != "-";
}

/// JSON's escapes, which YAML shares.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string scalar_text(const Node& node) {
  return node.quoted || !plain(node.scalar) ? quoted(node.scalar) : node.scalar;
}

std::string key_text(const std::string& key) {
  return plain(key) ? key : quoted(key);
}

std::vector<const std::pair<std::string, Node>*> in_order(const Node& mapping, KeyOrder order) {
  std::vector<const std::pair<std::string, Node>*> entries;
  for (const auto& entry : mapping.entries) entries.push_back(&entry);
  if (order == KeyOrder::kBytes) {
    std::ranges::sort(entries, {}, [](const auto* entry) { return entry->first; });
  }
  return entries;
}

}  // namespace

std::string flow_text(const Node& node, KeyOrder order) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kScalar:
      return scalar_text(node);
    case Node::Kind::kSequence:
      for (const Node& item : node.items)
        text += (text.empty() ? "" : ", ") + flow_text(item, order);
      return "[" + text + "]";
    case Node::Kind::kMapping:
      for (const auto* entry : in_order(node, order)) {
        text += (text.empty() ? "" : ", ") + key_text(entry->first) + ": " +
                flow_text(entry->second, order);
      }
      return "{" + text + "}";
  }
  return text;
}

std::string block_text(const Node& mapping) {
  std::string text;
  for (const auto* entry : in_order(mapping, KeyOrder::kBytes)) {
    text += key_text(entry->first) + ": " + flow_text(entry->second) + "\n";
  }
  return text;
}

}  // namespace fabricast::base::yaml
