#include "catalog/value_reader.h"

#include <algorithm>

namespace fabricast::catalog {

namespace {

using base::yaml::Node;

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> names = {"measured", "datasheet", "published", "calibrated",
                                                 "assumed"};
  return names;
}

/// The text of a value as people should see it again.
std::string text_of(const Node& node) {
  std::string text;
  const auto append = [&text](const std::string& part) {
    text += (text.empty() ? "" : ", ") + part;
  };
  switch (node.kind) {
    case Node::Kind::kSequence:
      for (const Node& item : node.items) append(item.scalar);
      return text;
    case Node::Kind::kMapping:
      for (const auto& [key, item] : node.entries) append(key + " " + item.scalar);
      return text;
    default:
      return node.scalar;
  }
}

base::Error missing(const Node& value, std::string_view what, std::string_view allowed) {
  return base::input_error(value.where, "a value without `" + std::string(what) + "`",
                           std::string(allowed));
}

}  // namespace

std::size_t choose(const Node& node, const std::vector<std::string>& choices) {
  const std::string found = base::yaml::text(node);
  const auto it = std::find(choices.begin(), choices.end(), found);
  if (it == choices.end()) {
    throw base::input_error(node.where, node.description(), base::one_of(choices),
                            base::near_miss(found, choices));
  }
  return static_cast<std::size_t>(it - choices.begin());
}

std::string_view name_of(ValueKind kind) {
  return kind_names()[static_cast<std::size_t>(kind)];
}

CatalogFile::CatalogFile(const std::string& path) : document_(base::yaml::parse_file(path)) {
  base::yaml::Fields fields(document_);
  const Node& sources = fields.required("sources");
  base::yaml::Fields source_fields(sources);  // refuses what is not a mapping
  for (const auto& [key, node] : sources.entries) sources_.emplace(key, base::yaml::text(node));
  entries_ = &fields.required("entries");
  base::yaml::Fields entry_fields(*entries_);
  if (entries_->entries.empty()) {
    throw base::input_error(entries_->where, "an empty mapping", "at least one entry");
  }
  fields.finish();
}

std::string CatalogFile::citation(const Node& source) const {
  std::string text = base::yaml::text(source);
  const auto known = sources_.find(text);
  if (known != sources_.end()) return known->second;
  if (text.find(' ') != std::string::npos) return text;
  std::vector<std::string> keys;
  for (const auto& [key, citation] : sources_) keys.push_back(key);
  throw base::input_error(source.where, source.description(),
                          "a key of `sources` in this file, or a citation in words",
                          base::near_miss(text, keys));
}

ValueReader::ValueReader(const CatalogFile& file, base::yaml::Fields& defaults)
    : file_(file), kind_(defaults.optional("kind")), source_(defaults.optional("source")) {}

ReadValue ValueReader::read(std::string key, const Node& node) const {
  ReadValue result;
  result.value.key = std::move(key);
  result.node = &node;
  const Node* kind = kind_;
  const Node* source = source_;
  std::string note;
  if (node.kind == Node::Kind::kMapping) {
    base::yaml::Fields fields(node);
    result.node = &fields.required("value");
    if (const Node* own = fields.optional("kind")) kind = own;
    if (const Node* own = fields.optional("source")) source = own;
    note = fields.text("note", "");
    fields.finish();
  }
  if (kind == nullptr) throw missing(node, "kind", "one of " + base::one_of(kind_names()));
  if (source == nullptr)
    throw missing(node, "source", "a key of `sources`, or a citation in words");
  result.value.kind = static_cast<ValueKind>(choose(*kind, kind_names()));
  result.value.source = file_.citation(*source);
  if (!note.empty()) result.value.source += "; " + note;
  result.value.text = text_of(*result.node);
  return result;
}

}  // namespace fabricast::catalog
