#pragma once
// The bytes of an input file.

#include <cstddef>
#include <string>

namespace fabricast::base {

/// Reads a regular file, a device or a pipe (`/dev/stdin`, a shell's `<(...)`) to its end. A pipe
/// is waited for as long as somebody has it open for writing, and 3 s for somebody to open it.
/// Throws base::Error (input) when it cannot be read, is a directory, is longer than `most` bytes,
/// or is a pipe that nobody writes to.
std::string read_file(const std::string& path, std::size_t most);

}  // namespace fabricast::base
