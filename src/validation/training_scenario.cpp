#include "validation/training_scenario.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "model/model.h"
#include "validation/words.h"

namespace fabricast::validation {
namespace {

constexpr int kUsualPerNode = 8;
constexpr int kRack = 72;  ///< GPUs of an NVL72
constexpr int kPortsOfOneSwitch = 36;
constexpr double kLargestGbps = 400;  ///< of the profiles' own adapters and switches

/// GPUs that NVLink joins. Of racks a job takes as many of each as divides it best: 64 of 72 in
/// 256.
int per_node(const TrainingRow& row, const catalog::Gpu& gpu) {
  int most = row.gpus_per_node > 0 ? row.gpus_per_node : kUsualPerNode;
  if (gpu.id.starts_with("gb")) most = kRack;
  most = std::min(most, row.gpus);
  while (row.gpus % most != 0) --most;
  return most;
}

/// Of a GPU: ConnectX-6 beside an A100, ConnectX-8 beside Blackwell Ultra, else ConnectX-7.
double usual_gbps(const catalog::Gpu& gpu) {
  if (gpu.id.starts_with("gb300") || gpu.id.starts_with("b300")) return 800;
  return gpu.architecture == "ampere" ? 200 : 400;
}

struct Nics {
  int count = 0;  ///< of a node
  double gbps = 0;
};

/// "Compute: 8x ConnectX-7 IB NDR 400Gb/s; Management: 2x100Gb/s": the most bandwidth named as
/// "so many x so much".
std::optional<Nics> largest_group(const std::string& text) {
  static const std::regex kGroup(R"((\d+)\s?x\s?[^;,]*?(\d+)\s*G(?!B|bE))");
  std::optional<Nics> most;
  for (std::sregex_iterator at(text.begin(), text.end(), kGroup), end; at != end; ++at) {
    const Nics nics{std::stoi((*at)[1].str().substr(0, 4)), std::stod((*at)[2].str().substr(0, 6))};
    if (nics.count > 0 && (!most || nics.count * nics.gbps > most->count * most->gbps)) most = nics;
  }
  return most;
}

/// The adapters of `node` GPUs, of which the table counts `counted` as one node.
Nics nics_of(const std::string& text, int counted, int node, double usual) {
  std::smatch match;
  static const std::regex kWhole(R"((\d+)\s*Gbps/node)");
  static const std::regex kRate(R"((\d+)\s*G(?!B|bE))");
  if (std::regex_search(text, match, kWhole)) return {node, std::stod(match[1]) / counted};
  if (const auto group = largest_group(text)) {
    // Several beside one GPU are one of their sum: a GPU's channels are spread over them.
    if (group->count >= counted) return {node, group->count * group->gbps / counted};
    Nics nics{std::max(1, group->count * node / counted), group->gbps};
    while (node % nics.count != 0) --nics.count;
    return nics;
  }
  if (std::regex_search(text, match, kRate)) return {node, std::stod(match[1])};
  return {node, usual};
}

/// Beyond 400 Gb/s the devices of the next generation.
std::string fabric_entry(const std::string& profile, double gbps) {
  if (gbps <= kLargestGbps) return profile;
  return fmt::format("{{ profile: {}, adapter: connectx-8-800g, switch: {} }}", profile,
                     profile == "infiniband" ? "q3400" : "sn5600");
}

std::string cluster_yaml(const TrainingRow& row, const catalog::Gpu& gpu) {
  const int node = per_node(row, gpu);
  const int nodes = row.gpus / node;
  const int counted = std::min(row.gpus_per_node > 0 ? row.gpus_per_node : kUsualPerNode, row.gpus);
  // One node has no use for its adapters.
  const Nics nics = nodes == 1 ? Nics{1, 400} : nics_of(row.nics, counted, node, usual_gbps(gpu));
  const char* kind = nodes * nics.count <= kPortsOfOneSwitch ? "single-switch" : "fat-tree";
  return fmt::format(
      "cluster:\n  gpus: {}\n  gpu: {}\n  gpus_per_node: {}\n  nics_per_node: {}\n"
      "  nic_gbps: {:g}\n  host: {{ pcie: {} }}\n  topology: {{ kind: {} }}\n"
      "fabrics: [{}]\n",
      row.gpus, gpu.id, node, nics.count, nics.gbps,
      nics.gbps > kLargestGbps ? "gen6-x16" : "gen5-x16", kind,
      fabric_entry(profile_named(row.fabric), nics.gbps));
}

/// Expert parallelism over more GPUs than hold replicas also divides tensor parallelism (Megatron's
/// expert-tensor parallelism of 1). Here experts are cut by it instead: as many GPUs hold as much.
int experts_over(int ep, int dp) {
  while (ep > 1 && (ep > dp || dp % ep != 0)) --ep;
  return ep;
}

std::string layout_yaml(const TrainingRow& row) {
  if (row.tp == 0) return "auto";
  const int others = row.tp * row.pp * row.cp;
  const int dp = row.gpus % others == 0 ? row.gpus / others : 1;
  return fmt::format("{{ tp: {}, pp: {}, cp: {}, dp: {}, ep: {}, vpp: {}, zero: {} }}", row.tp,
                     row.pp, row.cp, dp, experts_over(row.ep, dp), row.vpp,
                     row.pp > 1 ? std::min(row.zero, 1) : row.zero);
}

/// What TFLOP/s and the time of a step come to.
int batch_of(const TrainingRow& row, const catalog::LanguageModel& m) {
  const double flops = row.measured * 1e12 * row.step_s * row.gpus;
  return std::max(
      1, static_cast<int>(std::lround(flops / model::training_flops_per_token(m, row.sequence, {}) /
                                      row.sequence)));
}

}  // namespace

TrainingScenario scenario_of(const TrainingRow& row, const catalog::Catalog& catalog) {
  if (!row.skipped.empty()) return {"", row.skipped};
  const catalog::Gpu* gpu = gpu_named(row.gpu, catalog);
  if (gpu == nullptr) return {"", fmt::format("no GPU `{}` in the catalogue", row.gpu)};
  const catalog::LanguageModel* m = model_named(row.model, catalog);
  if (m == nullptr) return {"", fmt::format("no model `{}` in the catalogue", row.model)};
  if (row.global_batch == 0 && row.step_s == 0) return {"", "the table has no global batch"};
  const int batch = row.global_batch > 0 ? row.global_batch : batch_of(row, *m);
  std::string yaml = cluster_yaml(row, *gpu);
  yaml += fmt::format(
      "workload:\n  kind: training\n  model: {}\n  precision: {}\n"
      "  sequence: {}\n  global_batch: {}\n  micro_batch: {}\n"
      "  parallelism: {}\n",
      m->id, row.precision, row.sequence, batch, row.micro_batch, layout_yaml(row));
  if (!row.recompute.empty()) yaml += fmt::format("  recompute: {}\n", row.recompute);
  if (!row.finetune.empty()) yaml += fmt::format("  finetune: {}\n", row.finetune);
  yaml += "  failures: none\n  tokens: 1e9\n  iterations: 2\n";
  return {yaml, ""};
}

}  // namespace fabricast::validation
