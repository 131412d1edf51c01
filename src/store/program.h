#pragma once
// Which program is running, to the byte.

#include <string>

namespace fabricast::store {

/// The GNU build-id of the running executable in hexadecimal (ELF note NT_GNU_BUILD_ID, which the
/// linker makes of everything it links); empty when it was linked without one. A rebuilt program
/// has another, so that it is not answered with what an older one computed.
std::string build_id();

}  // namespace fabricast::store
