#include "article.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "answers.h"
#include "base/progress.h"
#include "comparison.h"

namespace fabricast::apps {
namespace {

using base::yaml::Node;

Node& entry(Node& mapping, const char* key) {
  for (auto& [name, node] : mapping.entries) {
    if (name == key) return node;
  }
  throw base::input_error(mapping.where, "no `" + std::string(key) + "`", "a scenario with one");
}

void add_controls(Node& document) {
  const Node more = base::yaml::parse(
      "- { profile: infiniband, name: tuned-infiniband }\n"
      "- { profile: roce-v2, name: tuned-roce-v2 }\n",
      "controls");
  Node& fabrics = entry(document, "fabrics");
  fabrics.items.insert(fabrics.items.end(), more.items.begin(), more.items.end());
}

/// All GPUs behind one NVSwitch: no fabric between them.
void put_in_one_node(Node& document) {
  Node& cluster = entry(document, "cluster");
  const std::string gpus = entry(cluster, "gpus").scalar;
  entry(cluster, "gpus_per_node").scalar = gpus;
  entry(cluster, "nics_per_node").scalar = gpus;
}

class Runner {
 public:
  Runner(const Knowledge& known, const CommonFlags& flags, base::Progress& progress)
      : known_(known), flags_(flags) {
    options_.threads = threads_of(flags);
    options_.quiet = true;
    options_.progress = &progress;
  }

  report::Comparison run(const Node& document, const std::string& file) {
    network::PhaseCache phases;
    options_.phases = &phases;
    scenario_ = scenario::from_document(document, file, known_.catalog, {flags_.seed});
    scenario::require_simulated(scenario_);
    return compare_fabrics(known_, scenario_, options_);
  }
  const scenario::ValidScenario& scenario() const { return scenario_; }

 private:
  const Knowledge& known_;
  const CommonFlags& flags_;
  ComparisonOptions options_;
  scenario::ValidScenario scenario_;
};

validation::ArticleJob job_of(const scenario::ValidScenario& scenario) {
  const auto& spec = std::get<scenario::TrainingSpec>(scenario.workload);
  return {model::parameters(spec.model),
          scenario.cluster.gpu.peak_tflops(spec.shape.precision) * 1e12 * scenario.cluster.gpus};
}

std::filesystem::path beside(const Knowledge& known) {
  return std::filesystem::path(known.directory) / "..";
}

std::string tables_in(const Knowledge& known, const std::string& data) {
  if (!data.empty()) return data;
  return (beside(known) / "validation" / "article").lexically_normal().string();
}

std::string example(const Knowledge& known, const std::string& job) {
  return (beside(known) / "examples" / "article" / (job + ".yaml")).lexically_normal().string();
}

validation::ArticleService service_of(const scenario::ValidScenario& scenario) {
  const auto& spec = std::get<scenario::ServingSpec>(scenario.workload);
  return {model::parameters(spec.model),
          scenario.cluster.gpu.peak_tflops(spec.shape.precision) * 1e12 * scenario.cluster.gpus};
}

}  // namespace

validation::ArticleCheck run_article(const std::string& data, const CommonFlags& flags) {
  const Knowledge known = load_knowledge();
  const auto rows = validation::read_article(tables_in(known, data));
  std::set<std::string> jobs;
  for (const validation::ArticleRow& row : rows) jobs.insert(row.job);

  base::Progress progress("simulating", 0, !flags.quiet);
  Runner runner(known, flags, progress);
  validation::ArticleRuns runs;
  int fewest = 0;
  for (const std::string& job : jobs) {
    const std::string file = example(known, job);
    Node document = base::yaml::parse_file(file);
    add_controls(document);
    for (const advice::Outcome& outcome : runner.run(document, file).outcomes) {
      const training::Result& result = outcome.training;
      runs.runs[{job, outcome.name}] = {result.gpu_utilisation_pct, result.jitter_pct, result.days,
                                        result.step_time_s};
    }
    runs.jobs[job] = job_of(runner.scenario());
    const int gpus = runner.scenario().cluster.gpus;
    if (fewest != 0 && gpus >= fewest) continue;
    fewest = gpus;
    put_in_one_node(document);
    runs.one_node_step_s.clear();
    for (const advice::Outcome& outcome : runner.run(document, file).outcomes) {
      runs.one_node_step_s[outcome.name] = outcome.training.step_time_s;
    }
  }
  return validation::article_check(rows, runs);
}

validation::ArticleServingCheck run_article_serving(const std::string& data,
                                                    const CommonFlags& flags) {
  const Knowledge known = load_knowledge();
  const auto rows = validation::read_article_serving(tables_in(known, data));
  std::set<std::string> jobs;
  for (const validation::ArticleServingRow& row : rows) jobs.insert(row.job);
  base::Progress progress("simulating", 0, !flags.quiet);
  Runner runner(known, flags, progress);
  validation::ArticleServingRuns runs;
  for (const std::string& job : jobs) {
    const std::string file = example(known, job);
    for (const advice::Outcome& outcome : runner.run(base::yaml::parse_file(file), file).outcomes) {
      const serving::Result& result = *outcome.serving;
      runs.runs[{job, outcome.name}] = {result.latency_ms.mean, result.capacity_qps.value,
                                        result.gpu_utilisation_pct, result.jitter_pct};
    }
    runs.jobs[job] = service_of(runner.scenario());
  }
  return validation::article_serving_check(rows, runs);
}

}  // namespace fabricast::apps
