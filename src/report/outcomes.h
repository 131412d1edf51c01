#pragma once
// Outcomes as bytes and back, to the last bit: what a store keeps so that a question asked again is
// answered with the same report. For the program that wrote them only: no version, no key names.

#include <string>
#include <string_view>
#include <vector>

#include "advice/advice.h"

namespace fabricast::report {

std::string packed(const std::vector<advice::Outcome>& outcomes);
/// Throws base::Error (failure) on bytes that `packed` of this program has not written.
std::vector<advice::Outcome> unpacked(std::string_view bytes);

}  // namespace fabricast::report
