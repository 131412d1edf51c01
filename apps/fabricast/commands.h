#pragma once
// What the subcommands share: the flags of every command, and one function per subcommand that adds
// itself to the command line and, when chosen, leaves its work in `Chosen`.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "fabric/fabric.h"
#include "network/node_links.h"
#include "training/training.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace fabricast::apps {

using collective::Resolution;

/// The flags that every command takes.
struct CommonFlags {
  std::string json;  ///< file; "-" is standard output; empty: none
  std::string html;  ///< file of the report; empty: none
  bool chinese = false;
  std::optional<std::uint64_t> seed;  ///< stands above the scenario's
  int threads = 0;                    ///< 0: all cores
  Resolution resolution = Resolution::kAuto;
  bool stats = false;
  bool quiet = false;
  bool no_cache = false;
  std::string prices;  ///< file; empty: as the scenario says. Of commands that take `--prices`

  /// Standard output carries JSON alone.
  bool json_to_stdout() const { return json == "-"; }
};

/// The work of the subcommand that was chosen; empty before.
using Chosen = std::function<void()>;

/// Adds the common flags. `flags` must live until the command has run.
void add_common_flags(CLI::App& command, CommonFlags& flags);

/// Adds `--html FILE`, before the common flags of a command that writes a report.
void add_html_flag(CLI::App& command, CommonFlags& flags);

/// Adds `--prices FILE`.
void add_prices_flag(CLI::App& command, CommonFlags& flags);

/// Leaves flags that every command takes, but that change nothing in this one, out of its help.
void hide_flags(CLI::App& command, const std::vector<const char*>& flags);

void add_compare(CLI::App& program, Chosen& chosen);
void add_advise(CLI::App& program, Chosen& chosen);
void add_bom(CLI::App& program, Chosen& chosen);
void add_catalog(CLI::App& program, Chosen& chosen);
void add_collective(CLI::App& program, Chosen& chosen);
void add_train(CLI::App& program, Chosen& chosen);
void add_serve(CLI::App& program, Chosen& chosen);
void add_flows(CLI::App& program, Chosen& chosen);
void add_validate(CLI::App& program, Chosen& chosen);
void add_sweep(CLI::App& program, Chosen& chosen);
void add_results(CLI::App& program, Chosen& chosen);
void add_calibrate(CLI::App& program, Chosen& chosen);

/// Writes the two faces of a result where the flags say: the table to standard output unless that
/// carries JSON, the JSON to its file (complete or not at all). Throws base::Error (failure) when a
/// file or standard output cannot be written.
void publish(const CommonFlags& flags, const std::string& table, const std::string& json);

/// The same with a third face, rows as CSV for `csv` (empty: none; `-`: standard output, which then
/// carries CSV alone).
struct Faces {
  std::string table;
  std::string json;
  std::string csv;
};
void publish(const CommonFlags& flags, const std::string& csv, const Faces& faces);

/// Complains before a long run instead of after it when the two would take the place of one
/// another, or of one of `inputs`, or cannot be written. Throws base::Error (input).
void check_outputs(const CommonFlags& flags, const char* flag, const std::string& file,
                   const std::vector<std::string>& inputs);

/// What the user may not expect of what was asked (scenario::notes), on standard error unless
/// quiet.
void say_notes(const scenario::ValidScenario& scenario, const CommonFlags& flags);

/// Says on standard error when InfiniBand is not routed by the engine that was asked for: OpenSM
/// routes by minhop where ftree finds no fat-tree, and tells its log.
void note_routing(const fabric::Fabric& fabric, const catalog::FabricProfile& profile);

/// Complains about a file that a result cannot be written to, before a long run instead of after
/// it. Throws base::Error (input) at `flag`: when one of `inputs` would be overwritten, or the file
/// cannot be made. Does nothing for an empty path and for `-`.
void check_output(const char* flag, const std::string& path,
                  const std::vector<std::string>& inputs);

/// Writes one more file of a result (`-`: standard output), complete or not at all. Throws as
/// above.
void write_result(const std::string& path, const std::string& text);

/// The command of this process as a shell would take it again.
std::string command_line();
/// What the operating system says of this process.
double peak_rss_mb();
/// As the user said, else all cores; at least 1.
int threads_of(const CommonFlags& flags);
/// From now on an interrupt (SIGINT, SIGTERM) ends the program with exit code 3.
void exit_3_on_interrupt();
/// What an interrupt tells the user from now on, at first that nothing was written; null: nothing.
/// `message` must live until the program ends.
void say_on_interrupt(const char* message);

}  // namespace fabricast::apps
