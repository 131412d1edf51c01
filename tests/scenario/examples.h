#pragma once
// A scenario to change one thing in, and what comes of it.

#include <string>

#include "catalog/catalog.h"
#include "scenario/scenario.h"

namespace fabricast::scenario::testing {

/// The project's own catalogue, read once.
const catalog::Catalog& known();

/// The scenario of the reference (docs: interface), every key present. The file is "job.yaml".
std::string full_example();

/// `full_example` with every occurrence of one piece of text replaced. Fails the test when the
/// piece is not there.
std::string changed(const std::string& piece, const std::string& replacement);
std::string changed(std::string text, const std::string& piece, const std::string& replacement);

ValidScenario accepted(const std::string& text);
/// The message that reading `text` as "job.yaml" ends with; "accepted" when it is not refused.
std::string refusal(const std::string& text);
/// The same of `require_simulated`, for what parses.
std::string not_simulated(const std::string& text);

}  // namespace fabricast::scenario::testing
