#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "commands.h"
#include "packet/packet_network.h"

namespace fabricast::apps {
namespace {

/// Where the result is written until it is complete.
std::string draft_of(const std::filesystem::path& target) {
  return target.string() + "." + std::to_string(::getpid()) + ".part";
}

/// Why a result cannot be written there, by trying; empty when it can.
std::string obstacle(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path target = fs::weakly_canonical(path, problem);
  if (problem) return problem.message();
  const fs::file_status status = fs::status(target, problem);
  if (path.empty() || fs::is_directory(status) || !target.has_filename()) return "no file name";
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return ::access(target.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  }
  const std::string draft = draft_of(target);
  constexpr int kReadable = 0600;
  const int file =  // NOLINTNEXTLINE: POSIX's own signature
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadable);
  if (file < 0) return std::strerror(errno);
  ::close(file);
  fs::remove(draft, problem);
  return {};
}

/// Complains before a long run instead of after it; empty when the file can be written.
std::string unwritable(std::string& path) {  // NOLINT: CLI11's signature
  if (path == "-") return {};
  const std::string why = obstacle(path);
  if (why.empty()) return {};
  return "found `" + path + "`, which cannot be written (" + why +
         "); allowed a file in a folder that can be written to, or `-`";
}

/// Empty when there is such a resolution.
std::string unknown_resolution(std::string& mode) {  // NOLINT: CLI11's signature
  if (mode == "packet" || mode == "flow" || mode == "auto") return {};
  return "found " + base::quote(mode) + "; allowed `packet`, `flow` or `auto`";
}

/// A whole decimal number from 0 to 2^63 - 1, as a scenario's `seed` is.
std::uint64_t seed_of(const std::string& text) {
  std::int64_t seed = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, seed);
  if (problem != std::errc() || stop != end || seed < 0) {
    throw CLI::ValidationError("--seed: found `" + text +
                               "`; allowed a whole number from 0 to 9223372036854775807");
  }
  return static_cast<std::uint64_t>(seed);
}

bool write_to(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return static_cast<bool>(file);
}

/// A regular file is complete or untouched: a draft of a name of its own beside it takes its place.
/// Links are followed, and a device or a pipe is written to.
void write_file(const std::string& path, const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path target = fs::weakly_canonical(path, problem);
  const fs::file_status status = fs::status(target, problem);
  const base::Error cannot = base::failure("cannot write `" + path + "`");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (!write_to(target.string(), text)) throw cannot;
    return;
  }
  const std::string draft = draft_of(target);
  bool done = !fs::exists(draft, problem) && write_to(draft, text);
  if (done) {
    if (fs::exists(status)) fs::permissions(draft, status.permissions(), problem);
    fs::rename(draft, target, problem);
    done = !problem;
  }
  if (!done) {
    fs::remove(draft, problem);
    throw cannot;
  }
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw base::failure("cannot write to standard output");
}

}  // namespace

void add_html_flag(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--html", flags.html, "Write the report as one HTML file (to look at, to send)")
      ->type_name("FILE")
      ->check(CLI::Validator(unwritable, ""));
}

void add_common_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--json", flags.json, "Write the result as JSON (`-`: to standard output)")
      ->type_name("FILE")
      ->check(CLI::Validator(unwritable, ""));
  if (command.get_option_no_throw("--html") == nullptr) {
    // A flag of every command says so where there is nothing to show.
    command
        .add_option_function<std::string>(
            "--html",
            [&command](const std::string&) {
              throw CLI::ValidationError(fmt::format(
                  "--html: found on `{}`, which writes no report; allowed on `compare` and "
                  "`advise`, here `--json FILE`",
                  command.get_name()));
            },
            "Not of this command")
        ->group("");
  }
  command
      .add_option_function<std::string>(
          "--lang", [&flags](const std::string& language) { flags.chinese = language == "zh"; },
          "Language of the tables: en or zh")
      ->type_name("LANG")
      ->check(CLI::IsMember({"en", "zh"}));
  command
      .add_option_function<std::string>(
          "--seed", [&flags](const std::string& text) { flags.seed = seed_of(text); },
          "Seed of all random draws (default: the scenario's)")
      ->type_name("N");
  command.add_option("--threads", flags.threads, "Threads (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  static const std::map<std::string, Resolution> kResolutions = {
      {"packet", Resolution::kPacket}, {"flow", Resolution::kFlow}, {"auto", Resolution::kAuto}};
  command
      .add_option_function<std::string>(
          "--resolution",
          [&flags](const std::string& mode) { flags.resolution = kResolutions.at(mode); },
          "packet: every packet; flow: max-min sharing; auto: packets, or flows where packets "
          "would "
          "take minutes (default)")
      ->type_name("MODE")
      ->check(CLI::Validator(unknown_resolution, "{packet,flow,auto}"));
  command.add_flag("--stats", flags.stats, "Add wall time, events and packet-hops per second");
  command.add_flag("--quiet", flags.quiet, "No progress and no notes on standard error");
  command.add_flag(
      "--no-cache", flags.no_cache,
      "Simulate every fabric from scratch; neither read nor write the store of results");
}

void add_prices_flag(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--prices", flags.prices,
                  "Your own prices, by catalogue id, above the scenario's and the catalogue's")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void hide_flags(CLI::App& command, const std::vector<const char*>& flags) {
  for (const char* flag : flags) command.get_option(flag)->group("");
}

void check_output(const char* flag, const std::string& path,
                  const std::vector<std::string>& inputs) {
  if (path.empty() || path == "-") return;
  for (const std::string& input : inputs) {
    std::error_code no_such_file;
    if (std::filesystem::equivalent(path, input, no_such_file)) {
      throw base::input_error({path, 0, 0, flag}, "a file that is read", "another file");
    }
  }
  const std::string why = obstacle(path);
  if (why.empty()) return;
  throw base::input_error({path, 0, 0, flag}, "a path that cannot be written (" + why + ")",
                          "a file in a folder that can be written to, or `-`");
}

void note_routing(const fabric::Fabric& fabric, const catalog::FabricProfile& profile) {
  const std::string why = packet::routing_fallback(fabric, profile);
  if (why.empty()) return;
  std::fprintf(stderr,
               "`%s`: note: `paths.engine: ftree` finds no fat-tree (%s) and hands over to minhop, "
               "as OpenSM does; `updn` is free of credit loops on any tree\n",
               profile.name.c_str(), why.c_str());
}

void write_result(const std::string& path, const std::string& text) {
  path == "-" ? write_stdout(text) : write_file(path, text);
}

void publish(const CommonFlags& flags, const std::string& table, const std::string& json) {
  if (flags.json_to_stdout()) {
    write_stdout(json);
    return;
  }
  if (!flags.json.empty()) write_file(flags.json, json);
  write_stdout(table);
}

void publish(const CommonFlags& flags, const std::string& csv, const Faces& faces) {
  if (!csv.empty()) write_result(csv, faces.csv);
  if (!flags.json.empty()) write_result(flags.json, faces.json);
  if (csv != "-" && !flags.json_to_stdout()) write_stdout(faces.table);
}

void check_outputs(const CommonFlags& flags, const char* flag, const std::string& file,
                   const std::vector<std::string>& inputs) {
  check_output("--json", flags.json, inputs);
  check_output(flag, file, inputs);
  if (file.empty() || file != flags.json) return;
  throw base::input_error({file, 0, 0, flag}, "the place of `--json`", "a file of its own");
}

void say_notes(const scenario::ValidScenario& scenario, const CommonFlags& flags) {
  if (flags.quiet) return;
  for (const std::string& note : scenario::notes(scenario)) {
    std::fprintf(stderr, "%s\n", note.c_str());
  }
}

}  // namespace fabricast::apps
