#include "scenario/flows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/read_file.h"

namespace fabricast::scenario {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of the file
constexpr double kLongestUs = 1e11;                       // a day and four hours
constexpr double kMostFlowBytes = 1e15;

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names = {"id",       "src",      "dst",       "bytes",
                                                 "start_us", "priority", "depends_on"};
  return names;
}
constexpr std::size_t kRequired = 5;  // the first of them

class Reader {
 public:
  Reader(std::string file, const FlowLimits& limits) : file_(std::move(file)), limits_(limits) {}

  void header(int line, const std::vector<std::string_view>& cells) {
    for (const std::string_view cell : cells) {
      const auto found = std::find(columns().begin(), columns().end(), cell);
      const std::string name(cell);
      if (found == columns().end()) {
        throw base::input_error(at(line, {}), "the column " + base::quote(name),
                                base::one_of(columns()), base::near_miss(name, columns()));
      }
      order_.push_back(static_cast<std::size_t>(found - columns().begin()));
    }
    for (std::size_t c = 0; c < kRequired; ++c) {
      if (std::count(order_.begin(), order_.end(), c) != 1) {
        throw base::input_error(at(line, columns()[c]), "not one column of this name",
                                "a first line `id,src,dst,bytes,start_us[,priority,depends_on]`");
      }
    }
  }
  bool has_header() const { return !order_.empty(); }

  void row(int line, const std::vector<std::string_view>& cells) {
    if (cells.size() != order_.size()) {
      throw base::input_error(at(line, {}), fmt::format("{} columns", cells.size()),
                              fmt::format("{}, as the first line names", order_.size()));
    }
    FlowSpec flow;
    std::string depends_on;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& name = columns()[order_[i]];
      const std::string_view cell = cells[i];
      if (name == "id") flow.id = id(line, cell);
      if (name == "src") flow.src = gpu(line, name, cell);
      if (name == "dst") flow.dst = gpu(line, name, cell);
      if (name == "bytes") {
        const double bytes = number(line, name, cell, 1, kMostFlowBytes);
        if (bytes != std::floor(bytes)) {
          throw base::input_error(at(line, name), "the number " + std::string(cell),
                                  "a whole number of bytes");
        }
        flow.size = base::Bytes::from(bytes);
      }
      if (name == "start_us") {
        flow.start = base::Time::seconds(number(line, name, cell, 0, kLongestUs) * 1e-6);
      }
      if (name == "priority" && !cell.empty()) {
        flow.traffic_class = whole(line, name, cell, limits_.traffic_classes,
                                   "the traffic classes of the fabric, `classes.count`");
      }
      if (name == "depends_on") depends_on = std::string(cell);
    }
    if (flow.src == flow.dst) {
      throw base::input_error(at(line, "dst"), "the GPU that sends", "another one");
    }
    if (!places_.emplace(flow.id, flows_.size()).second) {
      throw base::input_error(at(line, "id"), "a second flow " + base::quote(flow.id),
                              "ids that differ");
    }
    waits_.push_back({line, depends_on});
    flows_.push_back(std::move(flow));
  }

  std::vector<FlowSpec> finish() {
    if (flows_.empty()) throw base::input_error(at(0, {}), "no flows", "at least one");
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (waits_[i].on.empty()) continue;
      const auto found = places_.find(waits_[i].on);
      if (found == places_.end()) {
        throw base::input_error(at(waits_[i].line, "depends_on"),
                                "the flow " + base::quote(waits_[i].on), "an id of this file");
      }
      flows_[i].depends_on = found->second;
    }
    refuse_circles();
    return std::move(flows_);
  }

 private:
  struct Wait {
    int line = 0;
    std::string on;
  };

  base::Location at(int line, std::string_view column) const {
    return {file_, line, 0, std::string(column)};
  }

  std::string id(int line, std::string_view cell) const {
    if (cell.empty()) throw base::input_error(at(line, "id"), "nothing", "a name or a number");
    if (base::printable(cell) != cell) {
      throw base::input_error(at(line, "id"), base::quote(cell), "printable text");
    }
    return std::string(cell);
  }

  double number(int line, const std::string& column, std::string_view cell, double min,
                double max) const {
    double value = 0;
    const auto [stop, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (problem != std::errc() || stop != cell.data() + cell.size() || !(value >= min) ||
        !(value <= max)) {
      throw base::input_error(at(line, column), cell.empty() ? "nothing" : base::quote(cell),
                              fmt::format("a number from {:g} to {:g}", min, max));
    }
    return value;
  }

  unsigned whole(int line, const std::string& column, std::string_view cell, int below,
                 std::string_view of_what) const {
    unsigned value = 0;
    const auto [stop, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (problem != std::errc() || stop != cell.data() + cell.size() ||
        value >= static_cast<unsigned>(below)) {
      throw base::input_error(at(line, column), cell.empty() ? "nothing" : base::quote(cell),
                              fmt::format("a whole number from 0 to {} ({})", below - 1, of_what));
    }
    return value;
  }
  std::uint32_t gpu(int line, const std::string& column, std::string_view cell) const {
    return whole(line, column, cell, limits_.gpus, "the GPUs of the system, `cluster.gpus`");
  }

  /// Follows every chain of dependencies to its beginning, each flow once.
  void refuse_circles() const {
    std::vector<std::size_t> seen_from(flows_.size(), FlowSpec::kNoFlow);
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      for (std::size_t f = i; f != FlowSpec::kNoFlow; f = flows_[f].depends_on) {
        if (seen_from[f] == i) {
          throw base::input_error(at(waits_[i].line, "depends_on"),
                                  "flows that wait for one another in a circle",
                                  "a chain with a beginning");
        }
        if (seen_from[f] != FlowSpec::kNoFlow) break;
        seen_from[f] = i;
      }
    }
  }

  std::string file_;
  FlowLimits limits_;
  std::vector<std::size_t> order_;  ///< column of each cell
  std::vector<FlowSpec> flows_;
  std::vector<Wait> waits_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace

std::vector<FlowSpec> parse_flows(const std::string& text, const std::string& file_name,
                                  const FlowLimits& limits) {
  Reader reader(file_name, limits);
  base::csv::for_each_line(text, [&](int line, std::string_view content) {
    const auto cells = base::csv::split(content);
    reader.has_header() ? reader.row(line, cells) : reader.header(line, cells);
  });
  return reader.finish();
}

std::vector<FlowSpec> read_flows(const std::string& path, const FlowLimits& limits) {
  return parse_flows(base::read_file(path, kMostBytes), path, limits);
}

}  // namespace fabricast::scenario
