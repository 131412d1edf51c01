#include "points.h"

#include <algorithm>

#include "base/yaml_text.h"

namespace fabricast::apps {

Points::Points(const std::string& grid_file, const CommonFlags& flags)
    : flags_(flags),
      known_(load_knowledge()),
      knowledge_(digest_of(known_)),
      grid_(scenario::Grid::load(grid_file)) {}

Question Points::question(std::size_t i) const {
  return question_of(grid_.document(i), grid_.base_file(), known_, flags_);
}

std::string Points::address(std::size_t i) const {
  return address_of(question(i), flags_, knowledge_);
}

network::PhaseCache& Points::phases_of(const Question& question) {
  base::yaml::Node shared = question.document;
  std::erase_if(shared.entries, [](const auto& entry) {
    const std::vector<std::string> apart = {"name", "fabrics", "budget", "constraints"};
    return std::ranges::count(apart, entry.first) > 0;
  });
  const std::lock_guard lock(mutex_);
  auto& phases = phases_[base::yaml::flow_text(shared)];
  if (!phases) phases = std::make_unique<network::PhaseCache>();
  return *phases;
}

store::Run Points::simulate(std::size_t i) {
  const Question question = this->question(i);
  ComparisonOptions options;
  options.resolution = flags_.resolution;
  options.quiet = true;
  options.lessons = &lessons_;
  if (!flags_.no_cache) options.phases = &phases_of(question);
  const report::Comparison comparison = compare_fabrics(known_, question.scenario, options);
  return run_of(question, address_of(question, flags_, knowledge_), flags_, comparison);
}

report::Row Points::row(std::size_t i) const {
  report::Row row;
  row.number = static_cast<std::int64_t>(i) + 1;
  row.labels = grid_.settings(i);
  return row;
}

}  // namespace fabricast::apps
