// Tables with named columns as runs of rows.

#include <algorithm>
#include <map>

#include "calibrate/csv_columns.h"
#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

char separator_of(std::string_view header) {
  for (const char c : {'\t', ';', ','}) {
    if (header.find(c) != std::string_view::npos) return c;
  }
  return '\0';
}

/// Cells, without the quotes around them.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) cell = std::string(trim(cell));
  return cells;
}

std::string_view header_text(std::string_view line) {
  line = trim(line);
  if (line.starts_with("# ")) line = trim(line.substr(1));
  return line;
}

std::vector<CsvColumn> columns_of(const std::vector<std::string>& names) {
  std::vector<CsvColumn> columns;
  for (const std::string& name : names) columns.push_back(csv_column(name));
  return columns;
}

void set(std::optional<Placement>& half, std::optional<double> Placement::* member,
         std::optional<double> value) {
  if (!value) return;
  if (!half) half.emplace();
  (*half).*member = value;
}

void set_wrong(std::optional<Placement>& half, std::optional<std::int64_t> value) {
  if (!value || *value < 0) return;
  if (!half) half.emplace();
  half->wrong = value;
}

/// One measured cell into its place.
void put(LogRow& row, const CsvColumn& column, const std::string& cell) {
  const auto value = measured(scaled(number(cell), column.factor));
  switch (column.quantity) {
    case Quantity::kSize:
      if (const auto size = scaled(number(cell), column.factor);
          size && *size >= 0 && *size < 4e18) {
        row.size = base::Bytes::from(*size);
      }
      break;
    case Quantity::kTime:
      set(row.out_of_place, &Placement::time_us, value);
      break;
    case Quantity::kAlgbw:
      set(row.out_of_place, &Placement::algbw_gb_per_s, value);
      break;
    case Quantity::kBusbw:
      set(row.out_of_place, &Placement::busbw_gb_per_s, value);
      break;
    case Quantity::kInPlaceTime:
      set(row.in_place, &Placement::time_us, value);
      break;
    case Quantity::kInPlaceAlgbw:
      set(row.in_place, &Placement::algbw_gb_per_s, value);
      break;
    case Quantity::kInPlaceBusbw:
      set(row.in_place, &Placement::busbw_gb_per_s, value);
      break;
    case Quantity::kWrong:
      set_wrong(row.out_of_place, whole(cell));
      break;
    case Quantity::kInPlaceWrong:
      set_wrong(row.in_place, whole(cell));
      break;
    case Quantity::kLatencyMin:
      row.latency.min_us = value;
      break;
    case Quantity::kLatency:
      row.latency.typical_us = value;
      break;
    case Quantity::kLatencyAvg:
      row.latency.avg_us = value;
      break;
    case Quantity::kLatencyMax:
      row.latency.max_us = value;
      break;
    case Quantity::kLatencyP99:
      row.latency.p99_us = value;
      break;
    case Quantity::kLatencyP999:
      row.latency.p999_us = value;
      break;
    case Quantity::kBandwidth:
      row.bandwidth_gb_per_s = value;
      break;
    case Quantity::kPeak:
      row.peak_gb_per_s = value;
      break;
    case Quantity::kMessages:
      row.messages_per_s = value;
      break;
    case Quantity::kCpu:
      row.cpu_pct = value;
      break;
    default:
      break;
  }
}

/// What tells the run of a row; rows that differ in it are of different runs.
void describe(LogRun& run, const CsvColumn& column, const std::string& cell) {
  switch (column.quantity) {
    case Quantity::kOp:
      run.op = cell;
      break;
    case Quantity::kRanks:
      run.ranks = count_of(cell);
      break;
    case Quantity::kNodes:
      run.nodes = count_of(cell);
      break;
    case Quantity::kDevice:
      add_new(run.devices, cell);
      break;
    case Quantity::kQps:
      run.qps = count_of(cell);
      break;
    case Quantity::kTxDepth:
      run.tx_depth = count_of(cell);
      break;
    case Quantity::kMtu:
      run.mtu_b = count_of(cell);
      break;
    case Quantity::kDirection:
      run.bidirectional = small(cell).find("bidir") != std::string::npos;
      break;
    default:
      break;
  }
}

/// A row of a table.
class CsvRow {
 public:
  CsvRow(const std::vector<CsvColumn>& columns, const std::vector<std::string>& cells, int line)
      : columns_(columns), cells_(cells) {
    row_.line = line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].op.empty()) put(row_, columns[i], cells[i]);
      if (columns[i].quantity >= Quantity::kOp) key_ += cells[i] + '\x1f';
      const std::string flag = small(cells[i]);
      in_place_ = in_place_ || (columns[i].quantity == Quantity::kInPlace &&
                                (flag == "1" || flag == "true" || flag == "yes"));
    }
    if (in_place_) std::swap(row_.in_place, row_.out_of_place);
  }

  const std::string& key() const { return key_; }
  bool measured_plainly() const {
    return row_.out_of_place || row_.in_place || row_.bandwidth_gb_per_s || row_.peak_gb_per_s ||
           row_.messages_per_s || time_us(row_) || row_.latency.min_us || row_.latency.p99_us;
  }
  LogRun run(const Line& line, const std::string& op) const {
    LogRun run;
    run.tool = Tool::kCsv;
    run.line = line.number;
    for (std::size_t i = 0; i < columns_.size(); ++i) describe(run, columns_[i], cells_[i]);
    if (!op.empty()) run.op = op;
    return run;
  }
  const LogRow& row() const { return row_; }
  /// The row with the cell of a column that is named after a test.
  std::optional<LogRow> of_test(std::size_t column) const {
    LogRow row = row_;
    put(row, columns_[column], cells_[column]);
    if (!row.bandwidth_gb_per_s && !row.latency.typical_us) return std::nullopt;
    return row;
  }

 private:
  const std::vector<CsvColumn>& columns_;
  const std::vector<std::string>& cells_;
  LogRow row_;
  std::string key_;
  bool in_place_ = false;
};

/// Rows by the run that their columns tell, and by the test where columns are named after tests.
class CsvRuns {
 public:
  CsvRuns(const std::vector<CsvColumn>& columns, Scan& scan) : columns_(columns), scan_(scan) {}

  /// False where nothing was measured.
  bool add(const CsvRow& row, const Line& line) {
    bool taken = row.measured_plainly();
    if (taken) add(row, line, "", row.row());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].op.empty()) continue;
      const auto measured = row.of_test(i);
      if (measured) add(row, line, columns_[i].op, *measured);
      taken = taken || measured;
    }
    return taken;
  }

 private:
  void add(const CsvRow& row, const Line& line, const std::string& op, const LogRow& measured) {
    const auto [found, added] = runs_.try_emplace(row.key() + op, scan_.runs.size());
    if (added) scan_.runs.push_back(row.run(line, op));
    scan_.runs[found->second].rows.push_back(measured);
  }

  const std::vector<CsvColumn>& columns_;
  Scan& scan_;
  std::map<std::string, std::size_t> runs_;
};

}  // namespace

bool is_csv_header(std::string_view header) {
  header = header_text(header);
  const char separator = separator_of(header);
  if (separator == '\0' || header.size() > kLongestLine) return false;
  const auto columns = columns_of(cells_of(header, separator));
  return std::ranges::any_of(columns,
                             [](const CsvColumn& c) { return is_measurement(c.quantity); });
}

std::vector<Line> read_csv(const std::vector<Line>& lines, std::size_t first, Scan& scan,
                           std::vector<std::string>& unknown_columns) {
  const std::string_view header = header_text(lines[first].text);
  const char separator = separator_of(header);
  const auto names = cells_of(header, separator);
  const auto columns = columns_of(names);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].quantity == Quantity::kNone) add_new(unknown_columns, names[i]);
  }
  std::vector<Line> strange;
  CsvRuns runs(columns, scan);
  for (std::size_t at = first + 1; at < lines.size(); ++at) {
    const Line& line = lines[at];
    std::vector<std::string> cells;
    if (line.text.size() <= kLongestLine) cells = cells_of(line.text, separator);
    if (cells.size() != columns.size() || !runs.add(CsvRow(columns, cells, line.number), line)) {
      strange.push_back(line);
    }
  }
  scan.table = Tool::kCsv;
  return strange;
}

}  // namespace fabricast::calibrate
