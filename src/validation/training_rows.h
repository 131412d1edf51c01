#pragma once
// Published measurements of training as the tables of measured/training have them: what was run, in
// one form for all tables, and what came out. What the tables leave open is filled in here, once
// and for all rows, and docs/models/training.md says with what.

#include <optional>
#include <string>
#include <vector>

namespace fabricast::validation {

/// One measured run in the words of its table. Counts are 0, texts empty, where it does not say.
struct TrainingRow {
  std::string file;  ///< without its folder
  int line = 0;
  std::string name;  ///< "LLAMA3_70B on 64 x DGX-GB300, MXFP8"
  std::string source;

  std::string model;
  std::string gpu;
  int gpus = 0;
  int gpus_per_node = 0;
  std::string fabric;
  std::string nics;  ///< of a node, in words

  std::string precision;  ///< the scenario's
  int sequence = 0;
  int global_batch = 0;  ///< sequences; 0: what `tflops` in `step_s` stands for
  int micro_batch = 1;
  int tp = 0;  ///< 0: the layout is not said
  int pp = 1;
  int cp = 1;
  int ep = 1;
  int vpp = 1;
  int zero = 1;
  std::string recompute;  ///< the scenario's; empty: not said
  std::string finetune;   ///< the scenario's, as YAML; empty: all weights

  std::string quantity;  ///< "tokens_per_s_per_gpu", "step_time_s" or "tflops_per_gpu"
  double measured = 0;
  double step_s = 0;          ///< beside `tflops_per_gpu`, where it is known
  bool whole_square = false;  ///< `tflops_per_gpu` counts attention without its causal mask

  std::string skipped;   ///< why it is not predicted
  bool measures = true;  ///< false: the table has no figure that could be predicted
};

/// Rows of one CSV file, whose columns say which table it is. Throws base::Error (input) with the
/// place of the cell on what cannot be read; none of a file of other columns.
std::optional<std::vector<TrainingRow>> read_training_rows(const std::string& path);

}  // namespace fabricast::validation
