// Coefficients of the catalogue from measurements: a GPU's kernel curves from tables of kernel
// times.

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "calibrate/gpu.h"
#include "commands.h"

namespace fabricast::apps {
namespace {

struct CalibrateFlags {
  std::string gpu;
  std::string data;
  std::string output = "-";
};

void calibrate_gpu(const CalibrateFlags& flags) {
  check_output("--output", flags.output == "-" ? "" : flags.output, {});
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  const catalog::Gpu& gpu = known.gpu(flags.gpu, {"", 0, 0, "--gpu"});
  write_result(flags.output,
               calibrate::calibration_yaml(known, gpu, calibrate::tables_for(gpu, flags.data)));
}

}  // namespace

void add_calibrate(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<CalibrateFlags>();
  auto* command = program.add_subcommand(
      "calibrate", "Fits a GPU's kernel coefficients to tables of measured kernels");
  command
      ->add_option("--gpu", flags->gpu, "GPU of the catalogue; an unambiguous beginning is enough")
      ->required();
  command
      ->add_option("--data", flags->data,
                   "Folder with gemm_NAME.csv, attention_context_NAME.csv, "
                   "attention_generation_NAME.csv; NAME is the first word of the GPU's id")
      ->required();
  command->add_option("--output", flags->output, "File for the YAML; `-` is standard output");
  command->footer(
      "Prints the coefficients as they stand in catalog/gpus.yaml, with the error in sample and\n"
      "over every third row, which is held out of the fit.\n"
      "Columns: dtype, m, n, k, latency_us of GEMMs; attn_dtype, kv_dtype, batch, isl, step,\n"
      "q_heads, kv_heads, head_dim, latency_us of attention (docs/models/gpu.md).\n"
      "Example:\n"
      "  fabricast calibrate --gpu h100-sxm --data measured/compute");
  command->callback([flags, &chosen] { chosen = [flags] { calibrate_gpu(*flags); }; });
}

}  // namespace fabricast::apps
