// `./dev bench`: the three workloads of workloads.h on one thread, the first on two as well, what
// large fabrics take to set up, and a loop that calibrates the machine, so that ratios hold on any.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "measure.h"
#include "workloads.h"

namespace {

using namespace fabricast;
using namespace fabricast::base::literals;
using nlohmann::json;

json to_json(const bench::Outcome& outcome) {
  const auto& fct = outcome.completion_us;
  return {{"wall_s", outcome.wall_s},
          {"set_up_s", outcome.set_up_s},
          {"packet_hops", outcome.counters.packet_hops},
          {"events", outcome.counters.events},
          {"mean_fct_us",
           std::accumulate(fct.begin(), fct.end(), 0.0) / static_cast<double>(fct.size())},
          {"max_fct_us", *std::max_element(fct.begin(), fct.end())},
          {"last_us", outcome.last_us},
          {"pause_frames", outcome.counters.pause_frames},
          {"ecn_marked_packets", outcome.counters.ecn_marked_packets}};
}

void print(const std::string& name, const json& w) {
  const double wall = w.at("wall_s");
  const double hops = w.at("packet_hops");
  const double events = w.at("events");
  std::cout << fmt::format(
      "{:<12} set-up {:5.2f} s  run {:5.2f} s  {:5.1f} M packet-hops/s  {:4.2f} events/hop  "
      "{:6.1f} MB"
      "  mean {:9.2f} us  max {:9.2f} us  last {:9.2f} us\n",
      name, w.at("set_up_s").get<double>(), wall, hops / wall * 1e-6, events / hops,
      w.at("peak_rss_mb").get<double>(), w.at("mean_fct_us").get<double>(),
      w.at("max_fct_us").get<double>(), w.at("last_us").get<double>());
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--json") file = argv[i + 1];
    if (std::string(argv[i]) == "--only") only = argv[i + 1];
  }
  const auto pfc = bench::profile({});
  const auto dcqcn = bench::profile({.dcqcn = true});
  const auto permutation = [](const catalog::FabricProfile& profile, int ports, int hosts,
                              base::Bytes bytes, int threads = 1) {
    const auto begin = std::chrono::steady_clock::now();
    const auto fabric = bench::fat_tree(ports, hosts);
    const std::chrono::duration<double> built = std::chrono::steady_clock::now() - begin;
    bench::Outcome outcome = bench::permutation(profile, fabric, bytes, {.threads = threads});
    outcome.set_up_s += built.count();
    return to_json(outcome);
  };
  const std::vector<std::pair<std::string, std::function<json()>>> workloads = {
      {"w1", [&] { return permutation(pfc, 8, 128, 100'000'000_B); }},
      {"w1_2_threads", [&] { return permutation(pfc, 8, 128, 100'000'000_B, 2); }},
      {"w1_dcqcn", [&] { return permutation(dcqcn, 8, 128, 100'000'000_B); }},
      {"w2", [&] { return to_json(bench::incast(pfc, 50'000'000_B)); }},
      {"w3", [&] { return to_json(bench::ring(pfc, 256_KiB)); }},
      {"hosts_1024", [&] { return permutation(pfc, 16, 1024, 1'000'000_B); }},
      {"hosts_16384", [&] { return permutation(pfc, 64, 16384, 100'000_B); }},
  };
  json result;
  result["calibration_s"] = only.empty() ? bench::calibration_s() : 0.0;
  std::cout << fmt::format("calibration {:.2f} s\n", result["calibration_s"].get<double>());
  for (const auto& [name, workload] : workloads) {
    if (!only.empty() && name != only) continue;
    result[name] = bench::in_a_process(workload);
    print(name, result[name]);
  }
  if (!file.empty()) std::ofstream(file) << result.dump(2) << '\n';
  return 0;
}
