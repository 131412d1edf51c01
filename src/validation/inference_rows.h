#pragma once
// Published measurements of serving as the tables of measured/inference have them: what was run, in
// one form for all tables, and what came out. What the tables leave open is filled in here, once
// and for all rows; docs/how-to/validate.md says with what.

#include <optional>
#include <string>
#include <vector>

namespace fabricast::validation {

/// How a benchmark offers its requests.
enum class Load {
  kClosed,   ///< so many clients, each of which sends its next request when it has an answer
  kAtOnce,   ///< all of them at the beginning
  kServer,   ///< Poisson, as fast as the limits of MLPerf's server scenario allow
  kOffline,  ///< MLPerf's offline scenario: all at once, steady state
  kTrace,    ///< as a file says, each with a length of its own
};

struct Measure {
  std::string kind;      ///< "inference_ttft", ...
  std::string quantity;  ///< with its unit: "ttft_ms"
  double value = 0;
};

/// One measured run in the words of its table. Counts are 0, texts empty, where it does not say.
struct InferenceRow {
  std::string file;  ///< without its folder
  std::string path;
  int line = 0;
  std::string name;  ///< "Qwen/Qwen3-32B on h100_sxm, trtllm, tp 2, 1024 in, 512 out, 8 clients"
  std::string source;

  std::string model;
  std::string gpu;
  std::string engine;     ///< the catalogue's
  std::string precision;  ///< the scenario's; empty: the narrowest that the GPU computes in
  Load load = Load::kClosed;
  int input = 0;
  int output = 0;
  bool ranged = false;  ///< lengths are drawn from 80 % to 100 % of these
  int clients = 0;
  int gpus = 0;  ///< of the whole service; 0: those of one replica
  int tp = 0;    ///< 0: the layout is not said
  int pp = 1;
  int dp = 1;  ///< attention ranks
  int ep = 1;
  bool disaggregated = false;
  int prefill_tp = 0;
  int prefill_workers = 0;
  int decode_workers = 0;
  int most_sequences = 0;  ///< of a batch
  int most_tokens = 0;     ///< of a batch

  std::vector<Measure> measures;
  std::string skipped;  ///< why it is not predicted
  bool predictable =
      true;  ///< false: it measures something else, which no forecast is held against
};

/// Rows of one CSV file, whose columns say which table it is. Throws base::Error (input) with the
/// place of the cell on what cannot be read; none of a file of other columns.
std::optional<std::vector<InferenceRow>> read_inference_rows(const std::string& path);

}  // namespace fabricast::validation
