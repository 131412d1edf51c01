// What is trained where a run trains less than everything, and the FLOPs that remain.

#include <algorithm>

#include <fmt/format.h>

#include "model/layer.h"
#include "model/model.h"

namespace fabricast::model {

namespace {

/// Adapters under tensor parallelism are cut like their matrix: B by its columns beside a whole A,
/// or A by its rows before a whole B.
double held_adapter_weights(const Matrix& x, const Finetuning& finetuning, int tp) {
  const Adapters adapters = adapters_of(x, finetuning);
  const double a = x.in / (x.split == Split::kRows ? tp : 1) * adapters.count;
  const double b = adapters.out / (x.split == Split::kColumns ? tp : 1);
  return (a + b) * finetuning.rank * x.copies;
}

bool is_target(const Part& part, const Finetuning& finetuning) {
  return std::ranges::find(finetuning.targets, part.name) != finetuning.targets.end();
}

/// FLOPs of one token through a matrix, forward and backward: a frozen one passes gradients on and
/// has none of its own.
double training_flops(const Matrix& x, const Finetuning& finetuning) {
  const double passes = finetuning.full() ? 3 : 2;
  return 2 * x.token_share *
         (passes * x.in * x.out * x.copies + 3 * adapter_weights(x, finetuning) * x.copies);
}

}  // namespace

std::string to_string(const Finetuning& finetuning) {
  if (finetuning.full()) return "full fine-tuning";
  if (finetuning.kind == FinetuningKind::kLora)
    return fmt::format("LoRA of rank {}", finetuning.rank);
  return fmt::format("LongLoRA of rank {} in groups of {}", finetuning.rank, finetuning.group);
}

Adapters adapters_of(const Matrix& x, const Finetuning& finetuning) {
  Adapters adapters;
  for (const Part& part : x.parts) {
    if (!is_target(part, finetuning)) continue;
    ++adapters.count;
    adapters.out += part.out;
  }
  return adapters;
}

double adapter_weights(const Matrix& x, const Finetuning& finetuning) {
  const Adapters adapters = adapters_of(x, finetuning);
  return finetuning.rank * (x.in * adapters.count + adapters.out);
}

std::vector<std::string> adapter_targets(const catalog::LanguageModel& m) {
  std::vector<std::string> names;
  for (const int layer : {0, m.layers - 1}) {
    for (const Matrix& x : layer_matrices(m, layer)) {
      for (const Part& part : x.parts) {
        if (std::ranges::find(names, part.name) == names.end()) names.emplace_back(part.name);
      }
    }
  }
  return names;
}

StageParameters count_trained(const catalog::LanguageModel& m, const Parallelism& p, int stage,
                              const Finetuning& finetuning) {
  if (finetuning.full()) return count_stage(m, p, stage);
  StageParameters sum;
  const bool norms = finetuning.kind == FinetuningKind::kLongLora;
  const StageLayers layers = stage_layers(m, p.pp, stage);
  for (int layer = layers.first; layer < layers.first + layers.count; ++layer) {
    for (const Matrix& x : layer_matrices(m, layer)) {
      const double held = held_adapter_weights(x, finetuning, p.tp);
      (x.expert ? sum.expert : sum.shared) += x.expert ? held / p.ep : held;
    }
    if (norms) sum.shared += layer_vectors(m);
  }
  if (norms && holds_embedding(stage)) {
    sum.shared += static_cast<double>(m.vocabulary) * m.hidden / p.tp;
  }
  if (norms && holds_output_head(p, stage)) sum.shared += m.hidden;
  return sum;
}

double trained_parameters(const catalog::LanguageModel& m, const Finetuning& finetuning) {
  const StageParameters all = count_trained(m, {}, 0, finetuning);
  return all.shared + all.expert;
}

double stage_parameters(const catalog::LanguageModel& m, const Parallelism& p, int stage,
                        const Finetuning& finetuning) {
  StageParameters held = count_stage(m, p, stage);
  if (!finetuning.full()) {
    const StageParameters adapters = count_trained(
        m, p, stage,
        {.kind = FinetuningKind::kLora, .rank = finetuning.rank, .targets = finetuning.targets});
    held.shared += adapters.shared;
    held.expert += adapters.expert;
  }
  return held.shared + held.expert;
}

double stage_trained_parameters(const catalog::LanguageModel& m, const TrainingShape& shape,
                                int stage) {
  const StageParameters trained = count_trained(m, shape.parallelism, stage, shape.finetuning);
  return trained.shared + trained.expert;
}

double training_flops_per_token(const catalog::LanguageModel& m, int sequence,
                                const Finetuning& finetuning) {
  // A frozen head passes gradients on, too.
  double flops = (finetuning.full() ? 3 : 2) * output_head_flops(m, sequence) / sequence;
  const bool groups = finetuning.kind == FinetuningKind::kLongLora;
  const int attended = groups ? finetuning.group : sequence;
  for (int layer = 0; layer < m.layers; ++layer) {
    for (const Matrix& x : layer_matrices(m, layer)) flops += training_flops(x, finetuning);
    flops += 3 * forward_flops(m, layer, attended).attention / attended;
  }
  return flops;
}

}  // namespace fabricast::model
