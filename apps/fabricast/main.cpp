// The command line. Exit codes: 0 fine, 1 the program failed, 2 bad usage or input, 3 interrupted.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "commands.h"

namespace fabricast::apps {
namespace {

constexpr int kFine = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// Commands that the interface names and this version does not have.
const std::vector<std::string> kLater = {"console", "diagnose", "export",
                                         "mcp",     "schedule", "trace"};

/// The library's messages repeat the arguments as they are.
int complain(const std::string& message) {
  std::fprintf(stderr, "%s\n", base::printable(message).c_str());
  return kBadInput;
}

/// A first word that is no command; empty when there is nothing to complain about.
std::string unknown_command(const CLI::App& program, const std::string& word) {
  std::vector<std::string> commands;
  for (const auto* command : program.get_subcommands({})) commands.push_back(command->get_name());
  if (word.empty() || word[0] == '-' || std::ranges::count(commands, word) > 0) return {};
  const std::string allowed = "allowed: " + base::one_of(commands);
  if (std::ranges::count(kLater, word) > 0) {
    return "fabricast: " + base::quote(word) + " is not in this version; " + allowed;
  }
  const std::string near = base::near_miss(word, commands);
  return "fabricast: unknown command " + base::quote(word) + "; " + allowed +
         (near.empty() ? "" : "; did you mean `" + near + "`?");
}

int run(int argc, char** argv) {
  CLI::App program(
      "Forecasts what a GPU cluster does on InfiniBand, RoCE v2 and TCP Ethernet,\n"
      "what it costs, and which to choose.",
      "fabricast");
  Chosen chosen;
  program.set_version_flag("--version", "fabricast " FABRICAST_VERSION);
  program.require_subcommand(1);
  add_compare(program, chosen);
  add_advise(program, chosen);
  add_train(program, chosen);
  add_serve(program, chosen);
  add_bom(program, chosen);
  add_catalog(program, chosen);
  add_collective(program, chosen);
  add_flows(program, chosen);
  add_validate(program, chosen);
  add_sweep(program, chosen);
  add_results(program, chosen);
  add_calibrate(program, chosen);
  program.footer(
      "Examples:\n"
      "  fabricast compare examples/article/train-32-70b.yaml\n"
      "  fabricast train examples/article/train-32-70b.yaml --fabric roce-v2 --trace step.json\n"
      "  fabricast catalog gpus h100-sxm\n"
      "`fabricast COMMAND --help` shows the flags of a command.");
  if (argc > 1) {
    const std::string complaint = unknown_command(program, argv[1]);
    if (!complaint.empty()) return complain(complaint);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return program.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return complain(std::string("fabricast: ") + error.what() + " (see `fabricast --help`)");
  }
  chosen();
  return kFine;
}

}  // namespace
}  // namespace fabricast::apps

int main(int argc, char** argv) {
  using fabricast::base::Error;
  using fabricast::base::ErrorKind;
  fabricast::apps::exit_3_on_interrupt();
  try {
    return fabricast::apps::run(argc, argv);
  } catch (const Error& error) {
    const bool input = error.kind() == ErrorKind::kInput;
    std::fprintf(stderr, "%s%s\n", input ? "" : "fabricast: ", error.what());
    return input ? fabricast::apps::kBadInput : fabricast::apps::kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fabricast: %s\n", fabricast::base::printable(error.what()).c_str());
    return fabricast::apps::kFailed;
  }
}
