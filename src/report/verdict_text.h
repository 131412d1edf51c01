#pragma once
// The verdict in words: the two voices, what would change the choice, what to try next.

#include <string>

#include "advice/advice.h"

namespace fabricast::report {

/// Paragraphs of at most 80 cells. Reasons that only repeat rows of the table above are left to it.
std::string verdict_text(const advice::Verdict& verdict, bool chinese);

}  // namespace fabricast::report
