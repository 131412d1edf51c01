#include "validation/nccl_check.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "base/statistics.h"
#include "calibrate/log.h"
#include "calibrate/op_named.h"
#include "calibrate/tables.h"
#include "collective/sampling.h"
#include "packet/packet_network.h"
#include "scenario/scenario.h"
#include "validation/nccl_system.h"

namespace fabricast::validation {
namespace {

namespace fs = std::filesystem;
using base::Bytes;

// As `fabricast collective` does it.
constexpr std::uint64_t kHopsPerRun = 20'000'000;

fs::path logs_in(const std::string& data) {
  const fs::path folder(data);
  const fs::path within = folder / "nccl";
  const fs::path found = fs::is_directory(within) ? within : folder;
  if (!fs::is_directory(found)) {
    throw base::input_error({data, 0, 0, ""}, "no folder", "a folder of measured data");
  }
  return found;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

struct Indexed {
  LogDescription log;
  std::string source;
};

std::map<std::string, Indexed> index_of(const fs::path& folder) {
  std::map<std::string, Indexed> index;
  const fs::path file = folder / "index.csv";
  if (!fs::exists(file)) return index;
  const calibrate::Table table(file.string());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    LogDescription log;
    log.file = table.text(i, "file");
    log.collective = table.text(i, "collective");
    log.gpu = table.text(i, "gpu");
    log.gpus = static_cast<int>(table.number(i, "num_gpus"));
    log.nodes = static_cast<int>(table.number(i, "nodes"));
    log.fabric = table.text(i, "fabric");
    log.nics = table.text(i, "nics");
    log.remarks = table.text(i, "health") + "; " + table.text(i, "caveats");
    const std::string file_name = log.file;
    index[file_name] = {std::move(log), table.text(i, "source")};
  }
  return index;
}

/// A system as it is simulated.
struct Bench {
  std::shared_ptr<const fabric::Fabric> fabric;
  collective::Machine machine;
  network::Factory packets;
};

Bench bench_of(const scenario::ValidScenario& system) {
  const scenario::FabricChoice& choice = system.fabrics.front();
  Bench bench;
  bench.fabric = std::make_shared<const fabric::Fabric>(fabric::build(choice.topology));
  bench.machine = collective::machine_of(system.cluster.gpu, bench.fabric->spec(), choice.profile,
                                         system.cluster.host.server.amd);
  bench.packets =
      packet::factory(bench.fabric, choice.profile, collective::node_links(system.cluster.gpu));
  return bench;
}

double predicted_us(const Bench& bench, collective::Op op, Bytes size, std::uint64_t seed) {
  const collective::Phase phase = collective::of_all_gpus(op, size, *bench.fabric, bench.machine);
  collective::SamplingSpec spec;
  spec.states = 1;
  spec.seed = seed;
  spec.hops_per_run = kHopsPerRun;
  return base::mean(collective::sample(phase, *bench.fabric, bench.packets, spec).seconds) * 1e6;
}

struct Timed {
  Bytes size;
  double us = 0;
};

/// Sizes and times of all runs of a log, out of place where it was measured. A row without bytes
/// moves nothing that could be forecast.
std::vector<Timed> rows_of(const calibrate::Log& log) {
  std::vector<Timed> rows;
  for (const calibrate::LogRun& run : log.runs) {
    for (const calibrate::LogRow& row : run.rows) {
      const std::optional<double> us = calibrate::time_us(row);
      if (row.size && row.size->count() > 0 && us) rows.push_back({*row.size, *us});
    }
  }
  return rows;
}

/// The rows of one log, or why there are none.
NcclCheck check_log(const catalog::Catalog& catalog, const fs::path& folder,
                    const Indexed& described, const NcclCheckOptions& options) {
  NcclCheck check;
  const std::string& name = described.log.file;
  const NcclSystem system = system_of(described.log, catalog);
  try {
    const std::vector<Timed> rows = rows_of(calibrate::read_log((folder / name).string()));
    if (!system.skipped.empty() || rows.empty()) {
      check.skipped.push_back({name, rows.empty() ? "no rows" : system.skipped});
      return check;
    }
    const collective::Op op =
        calibrate::op_named(described.log.collective.empty() ? name : described.log.collective);
    const scenario::ValidScenario valid = scenario::parse_system(system.yaml, name, catalog);
    const Bench bench = bench_of(valid);
    for (const Timed& row : rows) {
      NcclCheckRow checked{name, op, valid.cluster.gpus, row.size, row.us, 0, described.source};
      checked.predicted_us = predicted_us(bench, op, row.size, options.seed);
      check.rows.push_back(checked);
    }
  } catch (const base::Error& error) {
    check.skipped.push_back({name, error.what()});
  }
  return check;
}

}  // namespace

NcclCheck nccl_check(const catalog::Catalog& catalog, const NcclCheckOptions& options) {
  const fs::path folder = logs_in(options.data);
  const std::vector<std::string> names = names_in(folder);
  if (names.empty()) {
    throw base::input_error({folder.string(), 0, 0, ""}, "a folder without logs",
                            "logs of nccl-tests (*.txt)");
  }
  const std::map<std::string, Indexed> index = index_of(folder);
  if (options.progress != nullptr) {
    options.progress->next("logs", static_cast<std::int64_t>(names.size()));
  }
  std::vector<NcclCheck> checks(names.size());
  base::parallel_for(names.size(), options.threads, [&](std::size_t i) {
    const auto found = index.find(names[i]);
    const Indexed described =
        found != index.end() ? found->second : Indexed{described_by_name(names[i]), ""};
    checks[i] = check_log(catalog, folder, described, options);
    if (options.progress != nullptr) options.progress->advance();
  });
  NcclCheck all;
  for (NcclCheck& check : checks) {
    all.rows.insert(all.rows.end(), check.rows.begin(), check.rows.end());
    all.skipped.insert(all.skipped.end(), check.skipped.begin(), check.skipped.end());
  }
  return all;
}

}  // namespace fabricast::validation
