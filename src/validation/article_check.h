#pragma once
// The comparison article's training rows held against this program's: what its parameters were
// fitted to, what they foretell, and where the article contradicts itself or arithmetic. How the
// fit was made: docs/models/article.md.

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fabricast::validation {

/// A row of `training.csv`: one job on one fabric.
struct ArticleRow {
  std::string job;
  std::string fabric;
  int gpus = 0;
  double tokens = 0;
  double utilisation_pct = 0;
  double days = 0;
  double jitter_pct = 0;
};

/// Throws base::Error (input) when the folder has no such table or it lacks a column.
std::vector<ArticleRow> read_article(const std::string& directory);

/// What this program makes of a job on a fabric.
struct ArticleRun {
  double utilisation_pct = 0;
  double jitter_pct = 0;
  double days = 0;
  double step_s = 0;
};

/// What is known of a job whatever the fabric.
struct ArticleJob {
  double parameters = 0;
  double peak_flops = 0;  ///< of all GPUs at the job's precision
};

/// By job and the fabric's name in the scenario. The controls are named `tuned-infiniband` and
/// `tuned-roce-v2`: the catalogue's own profiles in the same jobs.
struct ArticleRuns {
  std::map<std::pair<std::string, std::string>, ArticleRun> runs;
  std::map<std::string, ArticleJob> jobs;
  std::map<std::string, double> one_node_step_s;  ///< 8 GPUs behind one NVSwitch, by fabric
};

/// A figure and how far it may be off. `met` is |off| <= allowed.
struct Finding {
  std::string job;
  std::string fabric;  ///< empty: of two fabrics
  double article = 0;
  double here = 0;
  double off = 0;
  double allowed = 0;
  bool blind = false;  ///< no parameter was fitted to it
  bool met() const { return off <= allowed && off >= -allowed; }
};

struct ArticleCheck {
  std::vector<Finding> utilisation;  ///< off: points
  /// off: natural logarithm of here / article.
  std::vector<Finding> jitter;
  /// Days on RoCE over days on InfiniBand; `article` is the ratio of its utilisations, which is
  /// what it should be. off: percent.
  std::vector<Finding> days;
  /// The article's own ratio of days over its ratio of utilisations, less 1, percent, by job.
  std::vector<std::pair<std::string, double>> contradictions;
  /// Of InfiniBand: 6 x parameters x tokens, at the peak of all GPUs, as simulated, as stated.
  struct Arithmetic {
    std::string job;
    double flop = 0;
    double at_peak_s = 0;
    double here_s = 0;
    double article_s = 0;
    /// Ten times what it takes here is no question of efficiency.
    bool contradicted() const { return article_s > 10 * here_s; }
  };
  std::vector<Arithmetic> arithmetic;
  /// Step of the second fabric over that of the first, less 1, percent (`here`, `off`).
  std::vector<Finding> controls;
};

/// Throws base::Error (input) when a row's job was not run.
ArticleCheck article_check(const std::vector<ArticleRow>& rows, const ArticleRuns& runs);

}  // namespace fabricast::validation
