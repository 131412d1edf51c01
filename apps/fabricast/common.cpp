#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/error.h"
#include "commands.h"

namespace fabricast::apps {
namespace {

/// A flag whose feature does not exist yet says so instead of being ignored.
void refuse(const std::string& what, const std::string& instead) {
  throw CLI::ValidationError(what + " is not in this version; " + instead);
}

/// Complains before a long run instead of after it; empty when the file can be written.
std::string unwritable(std::string& path) {  // NOLINT: CLI11's signature
  if (path == "-") return {};
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (path.empty() || fs::is_directory(path, ignored)) return "`" + path + "` is no file name";
  const fs::path parent = fs::absolute(path).parent_path();
  if (!fs::is_directory(parent, ignored)) return "no folder `" + parent.string() + "`";
  if (::access(parent.c_str(), W_OK) != 0) return "cannot write in `" + parent.string() + "`";
  return {};
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
  const std::string draft = target.string() + "." + std::to_string(::getpid()) + ".part";
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

void add_common_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--json", flags.json, "Write the result as JSON (`-`: to standard output)")
      ->type_name("FILE")
      ->check(CLI::Validator(unwritable, ""));
  command
      .add_option_function<std::string>(
          "--html", [](const std::string&) { refuse("a report in HTML", "use `--json FILE`"); },
          "Not in this version")
      ->type_name("FILE");
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
  command
      .add_option_function<std::string>(
          "--resolution",
          [&flags](const std::string& resolution) {
            if (resolution == "flow") {
              refuse("flow-level simulation (`--resolution flow`)", "use `packet` or `auto`");
            }
            flags.resolution = resolution == "packet" ? Resolution::kPacket : Resolution::kAuto;
          },
          "packet: every packet; auto: extrapolate steady transfers (default)")
      ->type_name("MODE")
      ->check(CLI::IsMember({"packet", "flow", "auto"}));
  command.add_flag("--stats", flags.stats, "Add wall time, events and packet-hops per second");
  command.add_flag("--quiet", flags.quiet, "No progress on standard error");
  command.add_flag("--no-cache", flags.no_cache,
                   "Simulate every fabric from scratch, sharing no phase between fabrics");
}

void publish(const CommonFlags& flags, const std::string& table, const std::string& json) {
  if (flags.json_to_stdout()) {
    write_stdout(json);
    return;
  }
  if (!flags.json.empty()) write_file(flags.json, json);
  write_stdout(table);
}

}  // namespace fabricast::apps
