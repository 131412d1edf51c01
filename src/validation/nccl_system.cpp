#include "validation/nccl_system.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "validation/words.h"

namespace fabricast::validation {
namespace {

int whole(const std::string& text) {
  return text.empty() ? 0 : std::stoi(text.substr(0, 6));
}

struct Adapters {
  int count = 0;
  double gbps = 0;
};

/// "8x ConnectX-7 NDR 400G/node", "16x 200G RDMA ports/node", "8x dual-port ..., 2x200G each",
/// "800G per GPU", "ndr400x8": how many a node has, and the rate of each.
Adapters adapters_of(const std::string& text, int per_node, double usual_gbps) {
  Adapters adapters{per_node, usual_gbps};
  std::smatch match;
  static const std::regex kEach(R"((\d+)x(\d+)G each)", std::regex::icase);
  static const std::regex kRate(R"((\d+)\s*G\b)", std::regex::icase);
  static const std::regex kCount(R"(^\D*?(\d+)\s*x)", std::regex::icase);
  static const std::regex kName(R"((\d+)x(\d+))");
  if (std::regex_search(text, match, kCount) && !has(text, "per gpu")) {
    adapters.count = whole(match[1]);
  }
  if (std::regex_search(text, match, kEach)) {
    adapters.gbps = whole(match[1]) * whole(match[2]);
  } else if (std::regex_search(text, match, kRate)) {
    adapters.gbps = whole(match[1]);
  } else if (std::regex_match(text, match, kName)) {
    adapters = {whole(match[2]), static_cast<double>(whole(match[1]))};
  }
  // Several ports beside one GPU are one of their sum: a GPU's channels are spread over them.
  if (adapters.count > per_node) {
    adapters.gbps *= static_cast<double>(adapters.count) / per_node;
    adapters.count = per_node;
  }
  while (per_node % adapters.count != 0) --adapters.count;
  return adapters;
}

constexpr double kLargestGbps = 400;
constexpr int kPortsOfOneSwitch = 36;

double usual_gbps(const catalog::Gpu& gpu) {
  return gpu.compute_capability < 9 ? 200 : 400;
}

}  // namespace

LogDescription described_by_name(const std::string& file) {
  LogDescription log;
  log.file = file;
  std::smatch match;
  static const std::regex kName(R"(^[nr]ccl_([a-z]+)_([a-z0-9]+?)_(\d+)n_?(.*?)(\.txt)?$)");
  if (!std::regex_match(file, match, kName)) return log;
  log.collective = match[1];
  log.gpu = match[2];
  log.nodes = whole(match[3]);
  log.fabric = log.remarks = match[4];
  static const std::regex kRate(R"((\d{2,3})x(\d+))");
  std::smatch rate;
  const std::string rest = match[4];
  if (std::regex_search(rest, rate, kRate)) log.nics = rate[0];
  return log;
}

NcclSystem system_of(const LogDescription& log, const catalog::Catalog& catalog) {
  const catalog::Gpu* gpu = gpu_named(log.gpu, catalog);
  if (gpu == nullptr) return {"", fmt::format("no GPU `{}` in the catalogue", log.gpu)};
  if (log.nodes < 1) return {"", "neither an index nor the name says how many nodes"};
  int nodes = log.nodes;
  int gpus = log.gpus > 0 ? log.gpus : nodes * 8;
  // GPUs of a rack that are on one NVLink (NVL72) are one node here.
  static const std::regex kRacks(R"((\d+)[ _]?racks?)", std::regex::icase);
  std::smatch racks;
  if (std::regex_search(log.file, racks, kRacks)) nodes = std::min(nodes, whole(racks[1]));
  if (gpus % nodes != 0) return {"", fmt::format("{} GPUs over {} nodes", gpus, nodes)};
  const int per_node = gpus / nodes;
  Adapters adapters = adapters_of(log.nics, per_node, usual_gbps(*gpu));
  // One node has no use for its adapters; a rack of GPUs would need large switches for them.
  if (nodes == 1) adapters = {1, usual_gbps(*gpu)};
  // The largest adapter of the catalogue has 400 Gb/s.
  while (adapters.gbps > kLargestGbps) {
    adapters.gbps /= 2;
    adapters.count *= 2;
  }
  const bool direct = !has(log.remarks, "gdr 0") && !has(log.remarks, "nogdr");
  return {fmt::format("cluster:\n"
                      "  gpus: {}\n"
                      "  gpu: {}\n"
                      "  gpus_per_node: {}\n"
                      "  nics_per_node: {}\n"
                      "  nic_gbps: {:g}\n"
                      "  host: {{ gpudirect: {} }}\n"
                      "  topology: {{ kind: {} }}\n"
                      "fabric: {}\n",
                      gpus, gpu->id, per_node, adapters.count, adapters.gbps, direct,
                      nodes * adapters.count <= kPortsOfOneSwitch ? "single-switch" : "leaf-spine",
                      profile_named(log.fabric)),
          ""};
}

}  // namespace fabricast::validation
