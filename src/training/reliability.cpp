#include "training/reliability.h"

#include <algorithm>
#include <cmath>

namespace fabricast::training {
namespace {

constexpr double kHour = 3600;

double per_hour(const std::vector<FailureCause>& causes) {
  double sum = 0;
  for (const FailureCause& cause : causes) sum += cause.per_day / 24;
  return sum;
}

/// Seconds that the job waits for its checkpoint to be written.
double write_time(const scenario::TrainingSpec& spec, const fabric::TopologySpec& cluster,
                  double checkpoint_gb, double network_gb_per_s) {
  using To = scenario::CheckpointSpec::To;
  const scenario::CheckpointSpec& checkpoint = spec.checkpoint;
  if (checkpoint.to == To::kLocal) return checkpoint_gb / cluster.nodes / checkpoint.gb_per_s;
  const double gpus = static_cast<double>(cluster.nodes) * cluster.gpus_per_node;
  double rate = checkpoint.gb_per_s > 0 ? checkpoint.gb_per_s
                                        : spec.reliability.storage_gb_per_s_per_gpu * gpus;
  if (rate <= 0) return 0;
  const double adapters = static_cast<double>(cluster.nodes) * cluster.nics_per_node;
  if (network_gb_per_s > 0) rate = std::min(rate, adapters * network_gb_per_s);
  return checkpoint_gb / rate;
}

}  // namespace

std::vector<FailureCause> failure_causes(const catalog::Reliability& rates,
                                         const fabric::Fabric& fabric) {
  const fabric::TopologySpec& cluster = fabric.spec();
  const fabric::Sizing& sizing = fabric.sizing();
  const bool network = cluster.nodes > 1;
  const double gpus = static_cast<double>(cluster.nodes) * cluster.gpus_per_node;
  const auto outside = [&](double count) { return network ? count : 0; };
  const FailureCause all[] = {
      {"gpu", gpus, rates.gpu_mtbf_h},
      {"host", static_cast<double>(cluster.nodes), rates.host_mtbf_h},
      {"adapter", outside(static_cast<double>(cluster.nodes) * cluster.nics_per_node),
       rates.adapter_mtbf_h},
      {"link",
       outside(static_cast<double>(sizing.endpoint_cables + sizing.leaf_spine_cables +
                                   sizing.spine_core_cables)),
       rates.link_mtbf_h},
      {"switch", outside(static_cast<double>(sizing.leaves) + sizing.spines + sizing.cores),
       rates.switch_mtbf_h},
      {"software", gpus, rates.software_mtbf_gpu_h}};
  std::vector<FailureCause> causes;
  for (FailureCause cause : all) {
    if (cause.count <= 0 || cause.mtbf_h <= 0) continue;
    cause.per_day = 24 * cause.count / cause.mtbf_h;
    causes.push_back(cause);
  }
  return causes;
}

double daly_interval_s(double write_s, double mtbf_s) {
  if (write_s >= 2 * mtbf_s) return mtbf_s;
  const double x = write_s / (2 * mtbf_s);
  return std::sqrt(2 * write_s * mtbf_s) * (1 + std::sqrt(x) / 3 + x / 9) - write_s;
}

double daly_stretch(double interval_s, double write_s, double recovery_s, double mtbf_s) {
  return mtbf_s * std::exp(recovery_s / mtbf_s) * std::expm1((interval_s + write_s) / mtbf_s) /
         interval_s;
}

ReliabilityReport reliability(const scenario::TrainingSpec& spec, const fabric::Fabric& fabric,
                              double work_s, double network_gb_per_s) {
  ReliabilityReport r;
  r.causes = failure_causes(spec.reliability, fabric);
  r.checkpoint_gb = model::checkpoint_bytes(spec.model, spec.shape.precision) * 1e-9;
  r.write_s = write_time(spec, fabric.spec(), r.checkpoint_gb, network_gb_per_s);
  r.recovery_s = 60 * (spec.reliability.detect_min + spec.reliability.restart_min);
  const double rate = per_hour(r.causes);
  if (rate > 0) r.mtbf_h = 1 / rate;
  if (spec.checkpoint.every_s) {
    r.interval_s = *spec.checkpoint.every_s;
  } else if (rate > 0) {
    // What costs nothing to write is written all the time; a second is as good as that.
    r.interval_s = std::max(1.0, daly_interval_s(r.write_s, r.mtbf_h * kHour));
  }
  // A run that is over before the first checkpoint is due writes none on its way.
  const bool writes = r.interval_s > 0 && r.interval_s < work_s;
  if (!writes) r.interval_s = 0;
  const double interval = writes ? r.interval_s : work_s;
  const double write = writes ? r.write_s : 0;
  double stretch = 1 + write / interval;
  if (rate > 0) stretch = daly_stretch(interval, write, r.recovery_s, r.mtbf_h * kHour);
  r.goodput_pct = 100 / stretch;
  r.checkpoint_pct = 100 * write / interval / stretch;
  if (rate > 0) {
    r.interruptions = work_s * stretch / (r.mtbf_h * kHour);
    // Recoveries fail, too: one that succeeds takes M (e^(R/M) - 1), which is this share of all.
    r.recovery_pct = -100 * std::expm1(-r.recovery_s / (r.mtbf_h * kHour));
    r.lost_pct = 100 - r.goodput_pct - r.checkpoint_pct - r.recovery_pct;
  }
  return r;
}

}  // namespace fabricast::training
