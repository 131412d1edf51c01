#include "scenario/grid.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <variant>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace fabricast::scenario {

namespace {

using base::yaml::Fields;
using base::yaml::Node;

constexpr std::size_t kMostPoints = 1'000'000;

/// One step of a dotted key: into a mapping, or to an item of a list.
using Step = std::variant<std::string, std::size_t>;
using Path = std::vector<Step>;

base::Error no_key(const std::string& key, const base::Location& where) {
  return base::input_error(where, "the key " + base::quote(key),
                           "a dotted key of a scenario, such as `cluster.gpus` or "
                           "`fabrics[1].ecn.kmin_kb`");
}

/// "name", "name[3]", "name[0][1]" of a dotted key.
void add_steps(std::string_view word, const std::string& key, const base::Location& where,
               Path& path) {
  const std::size_t bracket = std::min(word.find('['), word.size());
  if (bracket == 0) throw no_key(key, where);
  path.emplace_back(std::string(word.substr(0, bracket)));
  word.remove_prefix(bracket);
  while (!word.empty()) {
    std::size_t index = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, problem] = std::from_chars(word.data() + 1, end, index);
    if (word[0] != '[' || problem != std::errc() || stop == end || *stop != ']') {
      throw no_key(key, where);
    }
    path.emplace_back(index);
    word.remove_prefix(static_cast<std::size_t>(stop - word.data()) + 1);
  }
}

Path path_of(const std::string& key, const base::Location& where) {
  Path path;
  std::size_t start = 0;
  while (start <= key.size()) {
    const std::size_t dot = std::min(key.find('.', start), key.size());
    add_steps(std::string_view(key).substr(start, dot - start), key, where, path);
    start = dot + 1;
  }
  return path;
}

/// A value of the grid, at its place in the file and under its key in the scenario.
void move_to(Node& node, const std::string& key) {
  node.where.key = key;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    move_to(node.items[i], fmt::format("{}[{}]", key, i));
  }
  for (auto& [name, child] : node.entries) move_to(child, fmt::format("{}.{}", key, name));
}

/// An entry of `fabrics` that is an id is short for a mapping with this `profile`.
void spell_out_profile(Node& node) {
  const bool entry = node.where.key.starts_with("fabrics[") && node.where.key.ends_with(']');
  if (!entry || node.kind != Node::Kind::kScalar) return;
  Node profile = node;
  profile.where.key += ".profile";
  node.kind = Node::Kind::kMapping;
  node.scalar.clear();
  node.entries = {{"profile", std::move(profile)}};
}

/// The value under `name`, made where the mapping has none.
Node& child(Node& node, const std::string& name, const base::Location& where) {
  spell_out_profile(node);
  if (node.kind == Node::Kind::kNull) node.kind = Node::Kind::kMapping;
  if (node.kind != Node::Kind::kMapping) {
    throw base::input_error(where,
                            fmt::format("{} in the base under `{}`, which has no `{}` to set",
                                        node.description(), node.where.key, name),
                            fmt::format("`{}` set as a whole", node.where.key));
  }
  const auto found =
      std::ranges::find(node.entries, name, [](const auto& entry) { return entry.first; });
  if (found != node.entries.end()) return found->second;
  Node fresh;
  fresh.where = where;
  fresh.where.key = node.where.key + (node.where.key.empty() ? "" : ".") + name;
  return node.entries.emplace_back(name, std::move(fresh)).second;
}

Node& item(Node& node, std::size_t index, const base::Location& where) {
  if (node.kind == Node::Kind::kSequence && index < node.items.size()) return node.items[index];
  const std::string found = node.kind == Node::Kind::kSequence
                                ? fmt::format("item {} of a list of {}", index, node.items.size())
                                : fmt::format("item {} of {}", index, node.description());
  throw base::input_error(where, fmt::format("{} (`{}` of the base)", found, node.where.key),
                          "an item that the base has, counted from 0");
}

/// The path has been checked when the grid was read.
void assign(Node& document, const std::string& key, const Node& value) {
  base::Location where = value.where;
  where.key = key;
  Node* node = &document;
  for (const Step& step : path_of(key, where)) {
    const auto* name = std::get_if<std::string>(&step);
    node = name != nullptr ? &child(*node, *name, where)
                           : &item(*node, std::get<std::size_t>(step), where);
  }
  *node = value;
  move_to(*node, key);
}

/// `axes`: every list is an axis of its own.
std::vector<std::vector<Grid::Settings>> read_axes(const Node& node) {
  if (node.kind != Node::Kind::kMapping || node.entries.empty()) {
    throw base::input_error(node.where, node.description(),
                            "a mapping of keys to lists, such as `cluster.gpus: [8, 16]`");
  }
  std::vector<std::vector<Grid::Settings>> axes;
  for (const auto& [key, values] : node.entries) {
    if (values.kind != Node::Kind::kSequence || values.items.empty()) {
      throw base::input_error(values.where, values.description(),
                              "a list of at least one value of " + base::quote(key));
    }
    std::vector<Grid::Settings>& axis = axes.emplace_back();
    for (const Node& value : values.items) axis.push_back({{key, value}});
  }
  return axes;
}

/// `points`: one axis that sets several keys at once.
std::vector<Grid::Settings> read_points(const Node& node) {
  if (node.kind != Node::Kind::kSequence || node.items.empty()) {
    throw base::input_error(node.where, node.description(), "a list of at least one mapping");
  }
  std::vector<Grid::Settings> points;
  for (const Node& point : node.items) {
    if (point.kind != Node::Kind::kMapping || point.entries.empty()) {
      throw base::input_error(point.where, point.description(),
                              "a mapping of keys to values, such as `{cluster.gpus: 8}`");
    }
    points.push_back(point.entries);
  }
  return points;
}

/// Whether setting one would change what setting the other sets.
bool overlap(const std::string& a, const std::string& b) {
  const auto& [shorter, longer] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
  return longer.starts_with(shorter) &&
         (longer.size() == shorter.size() || longer[shorter.size()] == '.' ||
          longer[shorter.size()] == '[');
}

void refuse_overlap(const std::string& key, const std::string& other, const base::Location& where) {
  if (!overlap(key, other)) return;
  throw base::input_error(
      where, fmt::format("{}, which overlaps {}", base::quote(key), base::quote(other)),
      "keys that are set once at a point");
}

/// The keys of all axes. Points of one axis are alternatives, which may set the same keys.
std::vector<std::string> keys_of(const std::vector<std::vector<Grid::Settings>>& axes) {
  std::vector<std::string> keys;
  for (const auto& axis : axes) {
    std::vector<std::string> of_axis;
    for (const Grid::Settings& settings : axis) {
      for (std::size_t i = 0; i < settings.size(); ++i) {
        const auto& [key, value] = settings[i];
        path_of(key, value.where);
        for (const std::string& other : keys) refuse_overlap(key, other, value.where);
        for (std::size_t j = 0; j < i; ++j) refuse_overlap(key, settings[j].first, value.where);
        if (std::ranges::count(of_axis, key) == 0) of_axis.push_back(key);
      }
    }
    keys.insert(keys.end(), of_axis.begin(), of_axis.end());
  }
  return keys;
}

std::size_t size_of(const std::vector<std::vector<Grid::Settings>>& axes, const Node& root) {
  std::size_t size = 1;
  for (const auto& axis : axes) {
    size *= axis.size();
    if (size > kMostPoints) {
      throw base::input_error(root.where, fmt::format("more than {} points", kMostPoints),
                              "fewer values");
    }
  }
  return size;
}

}  // namespace

Grid Grid::load(const std::string& path) {
  const Node root = base::yaml::parse_file(path);
  Fields fields(root);
  Grid grid;
  grid.files_ = {path};
  grid.base_file_ = path;
  const Node& base = fields.required("base", "the path of a scenario, or a scenario");
  const Node* axes = fields.optional("axes");
  const Node* points = fields.optional("points");
  fields.finish();
  if (axes == nullptr && points == nullptr) fields.required("axes", "what to vary, or `points`");
  if (axes != nullptr) grid.axes_ = read_axes(*axes);
  if (points != nullptr) grid.axes_.push_back(read_points(*points));
  grid.keys_ = keys_of(grid.axes_);
  grid.size_ = size_of(grid.axes_, root);

  if (base.kind == Node::Kind::kMapping) {
    grid.base_ = base;
    // Its keys are those of a scenario, not of the grid.
    grid.base_.where.key.clear();
    for (auto& [name, node] : grid.base_.entries) move_to(node, name);
  } else {
    grid.base_file_ = existing_file(directory_of(path), base::yaml::text(base), base.where);
    grid.files_.push_back(grid.base_file_);
    grid.base_ = base::yaml::parse_file(grid.base_file_);
  }
  return grid;
}

Grid::Settings Grid::settings(std::size_t i) const {
  std::vector<const Settings*> chosen(axes_.size());
  for (std::size_t axis = axes_.size(); axis-- > 0;) {
    chosen[axis] = &axes_[axis][i % axes_[axis].size()];
    i /= axes_[axis].size();
  }
  Settings result;
  for (const Settings* settings : chosen) {
    result.insert(result.end(), settings->begin(), settings->end());
  }
  return result;
}

Node Grid::document(std::size_t i) const {
  Node document = base_;
  for (const auto& [key, value] : settings(i)) assign(document, key, value);
  return document;
}

}  // namespace fabricast::scenario
