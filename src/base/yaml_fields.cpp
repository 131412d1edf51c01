#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/yaml.h"

namespace fabricast::base::yaml {

namespace {

constexpr std::size_t kLongestNumber = 60;
constexpr std::size_t kLongestName = 200;

struct Number {
  double value = 0;
  bool too_large = false;  ///< a number, but beyond the range of a double
};

/// A YAML number in decimal: "5", "-0.5", "100e6", "+1". Nothing for anything else, `.inf`
/// included.
std::optional<Number> read_number(const Node& node) {
  if (node.kind != Node::Kind::kScalar || node.quoted) return std::nullopt;
  std::string_view text = node.scalar;
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  // from_chars also takes "inf" and "nan", and "-" may not follow "+".
  if (digits.empty() || text.size() + 1 < node.scalar.size()) return std::nullopt;
  if (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9')) return std::nullopt;
  if (node.scalar.starts_with("+-")) return std::nullopt;
  // 010 is eight to YAML 1.1 and ten to YAML 1.2.
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') {
    return std::nullopt;
  }

  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Underflow is the number zero for every purpose here; an exponent without minus is overflow.
    number.too_large =
        text.find("e-") == std::string_view::npos && text.find("E-") == std::string_view::npos;
    number.value = 0;
    return number;
  }
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::string range_text(std::string_view what, double min, double max) {
  return fmt::format("{} from {} to {}", what, min, max);
}

std::string integer_range(std::int64_t min, std::int64_t max) {
  return fmt::format("a whole number from {} to {}", min, max);
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string Node::description() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kSequence:
      return items.empty() ? "an empty list" : "a list";
    case Kind::kMapping:
      return "a mapping";
    case Kind::kScalar:
      break;
  }
  if (read_number(*this)) {
    return "the number " + (scalar.size() <= kLongestNumber ? scalar : quote(scalar));
  }
  return "the text " + quote(scalar);
}

double number(const Node& node, double min, double max) {
  const std::optional<Number> found = read_number(node);
  if (!found || found->too_large || found->value < min || found->value > max) {
    throw input_error(node.where, node.description(), range_text("a number", min, max));
  }
  return found->value;
}

std::int64_t integer(const Node& node, std::int64_t min, std::int64_t max) {
  const auto refuse = [&] {
    return input_error(node.where, node.description(), integer_range(min, max));
  };
  const std::optional<Number> found = read_number(node);
  if (!found || found->too_large) throw refuse();

  std::int64_t value = 0;
  std::string_view text = node.scalar;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    // Written with a point or an exponent, or beyond 64 bits.
    if (found->value != std::floor(found->value) || std::abs(found->value) >= 0x1.0p63) {
      throw refuse();
    }
    value = static_cast<std::int64_t>(found->value);
  }
  if (value < min || value > max) throw refuse();
  return value;
}

bool boolean(const Node& node) {
  if (node.kind == Node::Kind::kScalar && !node.quoted) {
    const std::string& s = node.scalar;
    if (s == "true" || s == "True" || s == "TRUE") return true;
    if (s == "false" || s == "False" || s == "FALSE") return false;
  }
  throw input_error(node.where, node.description(), "`true` or `false`");
}

std::string text(const Node& node) {
  if (node.kind != Node::Kind::kScalar || node.scalar.empty()) {
    throw input_error(node.where,
                      node.kind == Node::Kind::kScalar ? "an empty text" : node.description(),
                      "text");
  }
  // Names and ids reach the terminal again in tables, where nothing escapes them.
  if (printable(node.scalar) != node.scalar) {
    throw input_error(node.where, node.description(), "text without control characters");
  }
  return node.scalar;
}

std::string name(const Node& node) {
  std::string result = text(node);
  if (result.size() > kLongestName) {
    throw input_error(node.where, fmt::format("a text of {} bytes", result.size()),
                      fmt::format("a name of at most {} bytes", kLongestName));
  }
  return result;
}

Fields::Fields(const Node& node) : node_(&node) {
  if (node.kind != Node::Kind::kMapping) {
    throw input_error(node.where, node.description(), "a mapping");
  }
}

bool Fields::has(std::string_view key) {
  return optional(key) != nullptr;
}

const Node* Fields::optional(std::string_view key) {
  known_.emplace(key);
  return node_->find(key);
}

const Node& Fields::required(std::string_view key, std::string_view allowed) {
  const Node* found = optional(key);
  if (found != nullptr) return *found;
  std::string message = "found nothing (the key is missing); allowed ";
  message += allowed;
  for (const auto& [name, value] : node_->entries) {
    const bool misspelt = !known_.contains(name) && near_miss(name, {std::string(key)}) == key;
    if (!misspelt) continue;
    message += fmt::format("; did you mean it by {} in line {}?", quote(name), value.where.line);
    break;
  }
  throw input_error(where(key), message);
}

double Fields::number(std::string_view key, double min, double max) {
  return yaml::number(required(key, range_text("a number", min, max)), min, max);
}

double Fields::number(std::string_view key, double min, double max, double fallback) {
  const Node* node = optional(key);
  return node == nullptr ? fallback : yaml::number(*node, min, max);
}

std::int64_t Fields::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  return yaml::integer(required(key, integer_range(min, max)), min, max);
}

std::int64_t Fields::integer(std::string_view key, std::int64_t min, std::int64_t max,
                             std::int64_t fallback) {
  const Node* node = optional(key);
  return node == nullptr ? fallback : yaml::integer(*node, min, max);
}

bool Fields::boolean(std::string_view key, bool fallback) {
  const Node* node = optional(key);
  return node == nullptr ? fallback : yaml::boolean(*node);
}

std::string Fields::text(std::string_view key) {
  return yaml::text(required(key, "text"));
}

std::string Fields::text(std::string_view key, std::string_view fallback) {
  const Node* node = optional(key);
  return node == nullptr ? std::string(fallback) : yaml::text(*node);
}

std::string Fields::name(std::string_view key, std::string_view fallback) {
  const Node* node = optional(key);
  return node == nullptr ? std::string(fallback) : yaml::name(*node);
}

namespace {

std::size_t choose(const Node& node, const std::vector<std::string>& choices) {
  if (node.kind == Node::Kind::kScalar) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (node.scalar == choices[i]) return i;
    }
    throw input_error(node.where, node.description(), one_of(choices),
                      near_miss(node.scalar, choices));
  }
  throw input_error(node.where, node.description(), one_of(choices));
}

}  // namespace

std::size_t Fields::choice(std::string_view key, const std::vector<std::string>& choices) {
  return choose(required(key, one_of(choices)), choices);
}

std::size_t Fields::choice(std::string_view key, const std::vector<std::string>& choices,
                           std::size_t fallback) {
  const Node* node = optional(key);
  return node == nullptr ? fallback : choose(*node, choices);
}

void Fields::finish() const {
  for (const auto& [name, value] : node_->entries) {
    if (known_.contains(name)) continue;
    const std::vector<std::string> choices(known_.begin(), known_.end());
    throw input_error(value.where, "an unknown key", one_of(choices), near_miss(name, choices));
  }
}

Location Fields::where(std::string_view key) const {
  const Node* node = node_->find(key);
  if (node != nullptr) return node->where;
  Location place = node_->where;
  if (!place.key.empty()) place.key += '.';
  place.key += key;
  return place;
}

}  // namespace fabricast::base::yaml
