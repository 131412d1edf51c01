#pragma once
// The comparison article's inference rows held against this program's. What it leaves open is
// declared once in its examples; required is the order of the two fabrics and, of 70B, which side
// of 100 ms each is on. Ratios are printed with their residuals. docs/models/article.md.

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fabricast::validation {

/// A row of `inference.csv`, or what this program makes of it.
struct ServingFigures {
  double latency_ms = 0;  ///< of a whole answer, mean
  double max_qps = 0;
  double utilisation_pct = 0;
  double jitter_pct = 0;
};

struct ArticleServingRow {
  std::string job;
  std::string fabric;
  int gpus = 0;
  double context_tokens = 0;
  double offered_qps = 0;
  ServingFigures figures;
};

/// Throws base::Error (input) when the folder has no such table or it lacks a column.
std::vector<ArticleServingRow> read_article_serving(const std::string& directory);

/// What is known of a job whatever the fabric.
struct ArticleService {
  double parameters = 0;
  double peak_flops = 0;  ///< of all GPUs at the job's precision
};

struct ArticleServingRuns {
  std::map<std::pair<std::string, std::string>, ServingFigures> runs;  ///< by job and fabric
  std::map<std::string, ArticleService> jobs;
};

/// RoCE v2 over InfiniBand, of one figure of one job.
struct ServingRatio {
  std::string job;
  std::string figure;  ///< "latency", "capacity", "utilisation", "jitter"
  double article = 0;
  double here = 0;
  bool right_order = false;  ///< both on the same side of 1
  double residual_pct() const { return 100 * (here / article - 1); }
};

struct ServingClaim {
  std::string id;
  std::string verdict;  ///< holds, partly, contradicted
  std::string evidence;
};

struct ArticleServingCheck {
  std::vector<ArticleServingRow> rows;
  std::vector<ServingFigures> here;  ///< of each row
  std::vector<ServingRatio> ratios;
  std::vector<ServingClaim> claims;
  /// Of the largest model: mean latency on InfiniBand within the article's limit, on RoCE beyond.
  bool limit_separates = false;
  double limit_ms = 100;
};

/// Throws base::Error (input) when a row's job was not run.
ArticleServingCheck article_serving_check(const std::vector<ArticleServingRow>& rows,
                                          const ArticleServingRuns& runs);

}  // namespace fabricast::validation
