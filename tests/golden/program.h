#pragma once
// Starts the program as a user does and keeps what it said.

#include <string>
#include <vector>

#include <sys/types.h>

namespace fabricast::golden {

struct Execution {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Runs `fabricast` with these arguments in an empty folder of its own, with nothing on standard
/// input. Its results go to `store`; without one to a fresh store of its own, so that it simulates.
Execution fabricast(const std::vector<std::string>& arguments, const std::string& store = {});

/// Starts it without waiting for its end; what it says is lost.
pid_t start_fabricast(const std::vector<std::string>& arguments, const std::string& store);

/// The same two of any program, found in the PATH, with the environment as it is.
Execution run(const std::vector<std::string>& command, const std::string& store);
pid_t start(const std::vector<std::string>& command, const std::string& store);

/// A name in a new folder, removed when the test program ends.
std::string fresh_path(const std::string& name);

/// A new file with this text, removed when the test program ends.
std::string file_with(const std::string& text, const std::string& name = "scenario.yaml");

std::string read(const std::string& path);

}  // namespace fabricast::golden
