#pragma once
// The faces of one service in detail: tables, JSON (docs/serve.schema.json), and its requests one
// by one as CSV.

#include <string>

#include "report/report.h"

namespace fabricast::report {

struct ServeReport {
  const scenario::ValidScenario* scenario = nullptr;
  advice::Outcome outcome;  ///< of a service
  double peak_rss_mb = 0;
};

/// At most 80 cells wide.
std::string serve_table(const ServeReport& report, const TerminalOptions& options);
std::string serve_json(const ServeReport& report);

/// Columns of a trace of requests, and one of its lines; times in seconds since the start.
std::string request_csv_header();
std::string request_csv(const serving::RequestRecord& request);

}  // namespace fabricast::report
