#include "wishes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "commands.h"

namespace fabricast::apps {
namespace {

constexpr int kMostGpus = 1'000'000;
constexpr int kUsualNode = 8;
constexpr int kSmallNode = 4;
constexpr int kSmallCluster = 32;  ///< GPUs, up to which servers of four are usual (assumed)
// GPUs of servers without NVLink that share an adapter (assumed).
constexpr int kGpusPerAdapter = 4;
constexpr int kContext = 2048;
constexpr int kOutput = 256;
constexpr int kSequence = 4096;
constexpr int kLeastBatch = 512;
// Of the GPUs' peak, that the requests of nobody's choice ask for.
constexpr double kShare = 0.2;

/// "20M": a number with a decimal suffix.
double amount_of(const std::string& text, const char* flag) {
  const std::string wrong = fmt::format(
      "{}: found {}; allowed a number above 0, with k, M, B or T for its zeros, such as 20M", flag,
      base::quote(text));
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string suffix(end, text.data() + text.size());
  const std::map<std::string, double> scales = {{"", 1},    {"k", 1e3}, {"K", 1e3}, {"M", 1e6},
                                                {"B", 1e9}, {"G", 1e9}, {"T", 1e12}};
  const auto scale = scales.find(suffix);
  if (problem != std::errc() || scale == scales.end() || !(value > 0) || !std::isfinite(value)) {
    throw CLI::ValidationError(wrong);
  }
  return value * scale->second;
}

/// One server, or servers of eight, or, of clusters that do not fill those and are small, of four.
int per_node(int gpus) {
  if (gpus <= kUsualNode) return gpus;
  const bool fours = gpus % kUsualNode != 0 && gpus % kSmallNode == 0 && gpus <= kSmallCluster;
  return fours ? kSmallNode : kUsualNode;
}

/// An unfilled last server is simulated and billed full.
int whole_servers(int gpus) {
  const int size = per_node(gpus);
  return (gpus + size - 1) / size * size;
}

catalog::Precision precision_of(const Wishes& wishes, const catalog::Gpu& gpu) {
  const bool fp8 = gpu.fp8_tflops > 0 && !wishes.training;
  return fp8 ? catalog::Precision::kFp8 : catalog::Precision::kBf16;
}

std::string precision_text(const Wishes& wishes, const catalog::Gpu& gpu) {
  return wishes.precision.empty() ? std::string(catalog::name_of(precision_of(wishes, gpu)))
                                  : wishes.precision;
}

std::string cluster_text(const Wishes& wishes, const catalog::Gpu& gpu) {
  const int size = per_node(wishes.gpus);
  const int gpus = whole_servers(wishes.gpus);
  int nics = size;
  if (gpu.nvlink_gb_per_s <= 0) {
    nics = std::max(1, size / kGpusPerAdapter);
    while (size % nics != 0) --nics;
  }
  const double lane = gpu.pcie_gb_per_s * 8;
  return fmt::format(
      "cluster:\n  gpus: {}\n  gpu: {}\n  gpus_per_node: {}\n  nics_per_node: {}\n"
      "  nic_gbps: {}\n  racks: {{}}\n  host: {{ pcie: {} }}\n"
      "  topology: {{ kind: leaf-spine }}\n",
      gpus, gpu.id, size, nics, lane >= 400 ? 400 : 200,
      lane >= 800   ? "gen6-x16"
      : lane >= 400 ? "gen5-x16"
                    : "gen4-x16");
}

/// Requests per second that ask for a share of what the GPUs could compute.
double usual_qps(const Wishes& wishes, const catalog::Gpu& gpu, double parameters) {
  const double per_request = 2 * parameters * (kContext + kOutput);
  const double peak = gpu.peak_tflops(precision_of(wishes, gpu)) * 1e12 * wishes.gpus;
  const double qps = kShare * peak / per_request;
  return std::max(0.1, std::round(qps * 10) / 10);
}

std::string training_text(const Wishes& wishes, const catalog::Gpu& gpu,
                          const catalog::LanguageModel& model) {
  const int sequence = model.context > 0 ? std::min(kSequence, model.context) : kSequence;
  const int gpus = whole_servers(wishes.gpus);
  // A multiple of the GPUs, so that every layout can share it out.
  const int batch = (std::max(kLeastBatch, gpus) + gpus - 1) / gpus * gpus;
  return fmt::format(
      "workload:\n  kind: training\n  model: {}\n  precision: {}\n  sequence: {}\n"
      "  global_batch: {}\n  micro_batch: 1\n  parallelism: auto\n  tokens: {}\n",
      wishes.model, precision_text(wishes, gpu), sequence, batch, wishes.tokens);
}

std::string serving_text(const Wishes& wishes, const catalog::Gpu& gpu,
                         const catalog::LanguageModel& model, int tp) {
  const int context =
      model.context > 0 ? std::min(kContext, std::max(1, model.context - kOutput)) : kContext;
  const double qps = wishes.qps > 0 ? wishes.qps : usual_qps(wishes, gpu, model::parameters(model));
  return fmt::format(
      "workload:\n  kind: serving\n  model: {}\n  precision: {}\n  context: {}\n  output: {}\n"
      "  arrival: {{ kind: poisson, qps: {} }}\n  tp: {}\n"
      "  slo: {{ metric: ttft, percentile: 99, ms: {} }}\n",
      wishes.model, precision_text(wishes, gpu), context, kOutput, qps, tp,
      wishes.slo_ms > 0 ? wishes.slo_ms : 100);
}

std::string text_of(const Wishes& wishes, const catalog::Catalog& catalog,
                    const std::string& workload) {
  const std::string slug = wishes.model.substr(wishes.model.find_last_of('/') + 1);
  std::string text = fmt::format("name: {}-{}-{}\n{}", wishes.training ? "train" : "serve",
                                 wishes.gpus, slug, cluster_text(wishes, catalog.gpu(wishes.gpu)));
  text += "fabrics: [infiniband, roce-v2, tcp]\n";
  text += workload;
  if (wishes.budget > 0) {
    text += fmt::format("budget: {{ total: {}, currency: {} }}\n", wishes.budget, wishes.currency);
  }
  text += fmt::format("constraints: {{ existing_ethernet: {}, growth_gpus: {}{} }}\n",
                      wishes.existing_ethernet ? "true" : "false",
                      std::max(wishes.growth, wishes.growth > 0 ? whole_servers(wishes.gpus) : 0),
                      wishes.max_days > 0 ? fmt::format(", max_days: {}", wishes.max_days) : "");
  text += fmt::format("objective: {}\n", wishes.objective);
  return text;
}

catalog::LanguageModel model_of(const Wishes& wishes, const catalog::Catalog& catalog) {
  if (wishes.model.ends_with(".json")) return catalog::read_hugging_face_config(wishes.model);
  return catalog.model(wishes.model, {{}, 0, 0, "--model"});
}

base::yaml::Node* find(base::yaml::Node& node, const char* key) {
  for (auto& [name, value] : node.entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

/// The layout or the memory is in the way, which another layout may change.
bool is_fit(const base::Error& error) {
  if (error.kind() != base::ErrorKind::kInput) return false;
  const std::string& key = error.where().key;
  return key == "workload.model" || key == "workload.tp" || key == "workload.pp" ||
         key == "cluster.gpus" || key.starts_with("workload.parallelism");
}

/// At the flag that the user wrote in place of the scenario's key.
base::Error of_flag(const base::Error& error) {
  static const std::map<std::string, std::string> kFlags = {{"workload.precision", "--precision"},
                                                            {"budget.currency", "--currency"},
                                                            {"budget.total", "--budget"},
                                                            {"workload.tokens", "--tokens"},
                                                            {"workload.arrival.qps", "--qps"},
                                                            {"workload.slo.ms", "--slo-ms"},
                                                            {"constraints.growth_gpus", "--growth"},
                                                            {"constraints.max_days", "--max-days"}};
  const auto flag = kFlags.find(error.where().key);
  if (flag == kFlags.end()) return error;
  return base::input_error({{}, 0, 0, flag->second}, error.message());
}

}  // namespace

void add_wishes(CLI::App& command, Wishes& wishes) {
  const auto amount = [](double& target, const char* flag) {
    return [&target, flag](const std::string& text) { target = amount_of(text, flag); };
  };
  command.add_option("--gpus", wishes.gpus, "GPUs of the cluster")
      ->type_name("N")
      ->check(CLI::Range(1, kMostGpus));
  command.add_option("--gpu", wishes.gpu, "GPU, by catalogue id (default: h100-sxm-80gb)")
      ->type_name("ID");
  command
      .add_option("--model", wishes.model,
                  "Model, by catalogue id, or a Hugging Face config.json (default: llama2-70b)")
      ->type_name("ID");
  command
      .add_option_function<std::string>(
          "--task",
          [&wishes](const std::string& task) {
            wishes.training = task == "train" || task == "training";
          },
          "train or serve (default: train)")
      ->type_name("TASK")
      ->check(CLI::IsMember({"train", "serve", "training", "serving"}));
  command.add_option("--precision", wishes.precision, "fp32, bf16, int8, fp8 or fp4")
      ->type_name("P");
  command
      .add_option_function<std::string>("--budget", amount(wishes.budget, "--budget"),
                                        "What the whole cluster may cost, such as 20M")
      ->type_name("MONEY");
  command.add_option("--currency", wishes.currency, "Of the budget: CNY or USD (default: CNY)")
      ->type_name("CODE");
  command.add_flag("--existing-ethernet", wishes.existing_ethernet,
                   "There is a 100 Gb/s Ethernet already that could be used");
  command.add_option("--growth", wishes.growth, "GPUs that the cluster is to grow to")
      ->type_name("N")
      ->check(CLI::Range(0, kMostGpus));
  command
      .add_option("--slo-ms", wishes.slo_ms,
                  "Time to the first token that 99 % of requests meet (default: 100)")
      ->type_name("MS")
      ->check(CLI::Range(0.001, 1e9));
  command
      .add_option("--qps", wishes.qps,
                  "Requests per second (default: a fifth of what the GPUs could compute)")
      ->type_name("RATE")
      ->check(CLI::Range(1e-6, 1e9));
  command
      .add_option_function<std::string>("--tokens", amount(wishes.tokens, "--tokens"),
                                        "Tokens of the training run, such as 100B (default: 1B)")
      ->type_name("N");
  command.add_option("--max-days", wishes.max_days, "Days that the training run may take")
      ->type_name("DAYS")
      ->check(CLI::Range(1e-6, 1e5));
  command
      .add_option("--objective", wishes.objective,
                  "value: the work at the lowest cost (default); cheapest: to buy, of what does; "
                  "fastest: within the budget")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"value", "cheapest", "fastest"}));
}

void check_wishes(const CLI::App& command, const std::string& scenario, const Wishes& wishes) {
  if (scenario.empty()) {
    if (wishes.gpus == 0) {
      throw CLI::ValidationError("advise: missing --gpus N, or a scenario file");
    }
    if (wishes.growth > 0 && wishes.growth < wishes.gpus) {
      throw CLI::ValidationError(
          fmt::format("--growth: found {}; allowed 0, or at least the {} of --gpus", wishes.growth,
                      wishes.gpus));
    }
    if (command.get_option("--currency")->count() > 0 && wishes.budget <= 0) {
      throw CLI::ValidationError(
          "--currency: found without a budget; allowed beside --budget MONEY");
    }
    return;
  }
  for (const char* flag : {"--gpus", "--gpu", "--model", "--task", "--precision", "--budget",
                           "--currency", "--existing-ethernet", "--growth", "--slo-ms", "--qps",
                           "--tokens", "--max-days", "--objective"}) {
    if (command.get_option(flag)->count() > 0) {
      throw CLI::ValidationError(fmt::format(
          "{}: found beside a scenario file, which says that; allowed one of the two", flag));
    }
  }
}

base::yaml::Node document_of(const Wishes& wishes, const catalog::Catalog& catalog,
                             const scenario::Overrides& overrides) {
  const catalog::Gpu& gpu = catalog.gpu(wishes.gpu, {{}, 0, 0, "--gpu"});
  const catalog::LanguageModel model = model_of(wishes, catalog);
  const auto checked = [&](const std::string& workload) {
    base::yaml::Node document = base::yaml::parse(text_of(wishes, catalog, workload), "the flags");
    scenario::from_document(document, "flags", catalog, overrides);
    return document;
  };
  std::string why;
  const int most = wishes.training ? 1 : 64;
  for (int tp = 1; tp <= std::min(most, wishes.gpus); tp *= 2) {
    try {
      return checked(wishes.training ? training_text(wishes, gpu, model)
                                     : serving_text(wishes, gpu, model, tp));
    } catch (const base::Error& error) {
      if (!is_fit(error)) throw of_flag(error);
      why = error.message();
    }
  }
  throw NothingFits{
      {fmt::format("No design does this work: {}", why), fmt::format("没有可行的设计：{}", why)}};
}

advice::HouseQuestion question_of(const Wishes& wishes, const catalog::Catalog& catalog) {
  return {.gpus = wishes.gpus,
          .model_parameters_b = model::parameters(model_of(wishes, catalog)) * 1e-9,
          .training = wishes.training,
          .existing_ethernet = wishes.existing_ethernet,
          .has_budget = wishes.budget > 0,
          .high_end_gpu = catalog.gpu(wishes.gpu, {{}, 0, 0, "--gpu"}).nvlink_gb_per_s > 0,
          .growth_gpus = wishes.growth};
}

void say_assumed(const Wishes& wishes, const scenario::ValidScenario& asked,
                 const CommonFlags& flags) {
  if (flags.quiet || asked.cluster.gpus == wishes.gpus) return;
  std::fprintf(stderr, "note: %d GPUs in servers of %d: simulated and billed as %d\n", wishes.gpus,
               asked.cluster.topology.gpus_per_node, asked.cluster.gpus);
}

std::string subject_of(const Wishes& wishes) {
  return fmt::format("{} on {} x {}, {}", wishes.model, wishes.gpus, wishes.gpu,
                     wishes.training ? "training" : "serving");
}

base::yaml::Node resized(base::yaml::Node document, int gpus) {
  base::yaml::Node number;
  number.kind = base::yaml::Node::Kind::kScalar;
  number.scalar = std::to_string(gpus);
  if (base::yaml::Node* cluster = find(document, "cluster")) {
    if (base::yaml::Node* count = find(*cluster, "gpus")) count->scalar = number.scalar;
  }
  if (base::yaml::Node* workload = find(document, "workload")) {
    if (base::yaml::Node* layout = find(*workload, "parallelism")) {
      const base::Location where = layout->where;
      *layout = base::yaml::Node();
      layout->kind = base::yaml::Node::Kind::kScalar;
      layout->scalar = "auto";
      layout->where = where;
    }
  }
  // What it is to grow to is the asked cluster's.
  std::erase_if(document.entries, [](const auto& entry) { return entry.first == "constraints"; });
  return document;
}

}  // namespace fabricast::apps
