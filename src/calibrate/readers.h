#pragma once
// One reader per tool. Each is offered every line and says whether it knows it; headers open the
// table that the rows after them belong to. A reader remembers what a tool has said of the run at
// hand; what it found is in the Scan.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/lines.h"
#include "calibrate/log.h"

namespace fabricast::calibrate {

enum class Taken : std::uint8_t {
  kNo,     ///< not this tool's
  kRead,   ///< a measurement, or something about the run
  kNoise,  ///< the tool's, with nothing in it
};

/// What has been read so far.
struct Scan {
  std::vector<LogRun> runs;
  std::optional<Tool> table;  ///< whose header came last

  LogRun& begin(Tool tool, const Line& line);
  /// The last run where it is this tool's.
  LogRun* last(Tool tool);
};

/// nccl-tests src/util.cu and rccl-tests: `size count type [redop] [root]`, then time, algbw, busbw
/// and #wrong out of place and in place.
class NcclTestsReader {
 public:
  Taken take(const Line& line, Scan& scan);

 private:
  /// The lines that begin a run, in their order.
  enum class Stage : std::uint8_t { kNone, kVersion, kStart, kThreads, kDevices, kTable, kDone };
  struct Header {
    bool known = false;
    bool root = false;
    bool wrong = true;
    bool cpu_time = false;
    bool in_place_only = false;
    int placements = 2;
    std::size_t in_place_from = 0;  ///< where the first column of the second half ends
  };

  LogRun& at(Stage stage, const Line& line, Scan& scan);
  LogRun& current(const Line& line, Scan& scan);
  Taken about_run(std::string_view text, const Line& line, Scan& scan);
  bool device(std::string_view text, LogRun& run);
  void header(const Line& line);
  Taken nccl(const Line& line, Scan& scan);
  bool command(std::string_view text, Scan& scan);
  bool row(std::string_view text, const Line& line, Scan& scan);
  bool values(const std::vector<std::string_view>& words, LogRow& row) const;
  std::optional<Placement> placement(const std::vector<std::string_view>& words, std::size_t at,
                                     bool wrong) const;

  Stage stage_ = Stage::kNone;
  Header header_;
  std::string above_;  ///< the line above the header: which halves there are
  std::string op_;     ///< of a command line that was echoed
  std::string half_;   ///< a row that a message of NCCL broke
  std::string joined_;
  bool half_in_place_ = false;
};

/// perftest (ib_*_bw, ib_*_lat, raw_ethernet_*): src/perftest_parameters.{h,c}. MB/sec is MiB/s.
class PerftestReader {
 public:
  Taken take(const Line& line, Scan& scan);

 private:
  bool title(std::string_view text, const Line& line, Scan& scan);
  bool parameter(std::string_view text, LogRun& run) const;
  bool row(const Line& line, Scan& scan);

  Columns columns_;
  double gb_per_s_ = kGbPerMib;  ///< the unit of the table
  bool in_header_ = false;
  std::string op_;  ///< of a command line that was echoed
};

/// OSU micro-benchmarks: c/util/osu_util_mpi.c. MB/s is 1e6 bytes per second.
class OsuReader {
 public:
  Taken take(const Line& line, Scan& scan);

 private:
  bool row(const Line& line, LogRun& run);
  Columns columns_;
};

/// Intel MPI benchmarks: src_c/IMB_output.c. Mbytes/sec is 1e6 bytes per second, and 2^20 in older
/// versions, which shows in rows that have a time.
class ImbReader {
 public:
  Taken take(const Line& line, Scan& scan);

 private:
  bool row(const Line& line, LogRun& run);
  Columns columns_;
};

/// sockperf: src/client.cpp. MBps is MiB/s.
class SockperfReader {
 public:
  Taken take(const Line& line, Scan& scan);

 private:
  Taken statistics(std::string_view text, const Line& line, Scan& scan);
  LogRow& row(const Line& line, Scan& scan);
  bool done_ = true;  ///< the last row is complete
  std::string op_;
  std::optional<base::Bytes> size_;
};

/// iperf3's text: src/iperf_locale.c. The receiver's summary counts, of all streams where there are
/// several.
class Iperf3Reader {
 public:
  Taken take(const Line& line, Scan& scan);
  /// Makes rows of the summaries of the last run.
  void finish(Scan& scan);

 private:
  struct Summary {
    std::string role;  ///< "", "[TX-C]", "[RX-C]"
    std::string stream;
    bool receiver = false;
    LogRow row;
  };
  Taken interval(std::string_view text, const Line& line, Scan& scan);
  void rows_of(const std::string& role, LogRun& run) const;
  std::vector<Summary> summaries_;
  std::optional<double> cpu_pct_;
  int connected_ = 0;
};

/// Reads what NCCL or RCCL printed of itself; `text` begins after the rank.
Taken take_nccl_message(std::string_view text, NcclFacts& facts);
/// Whether NCCL said anything.
bool any(const NcclFacts& facts);
/// "2.29.3" of 22903, as NCCL codes it.
std::string nccl_version(int code);

/// Whether a line is the header of a table of measurements: CSV with names, separated by commas,
/// semicolons or tabs.
bool is_csv_header(std::string_view header);
/// Rows under `lines[first]`; lines that are none are given back.
std::vector<Line> read_csv(const std::vector<Line>& lines, std::size_t first, Scan& scan,
                           std::vector<std::string>& unknown_columns);

/// Reads a JSON document that `text` begins with: nccl-tests -J, perftest --out_json, iperf3 -J.
/// Closes what a killed tool left open. Returns how much of the text it took; 0: none.
std::size_t read_json(std::string_view text, const Line& line, Scan& scan);

}  // namespace fabricast::calibrate
