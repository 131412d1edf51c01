// Damaged scenarios: whatever a slip of the keyboard or a broken transfer leaves of a file, it is
// accepted or refused with a place, never a crash and never another exception.

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/random.h"
#include "examples.h"

namespace fabricast::scenario {
namespace {

constexpr std::array kPieces = {
    "-1",  "0",  "1e18", "1e999", "[",  "]",  "{", "}",    ": ",        "*a",       "&a ",
    "!x ", "~",  "\"",   "'",     "\n", "- ", "#", "\t",   "\xff",      "网",       "auto",
    "3",   "64", "128",  "1e6",   "? ", ",",  "|", ".inf", "rail-only", "fat-tree", "fp32",
};

/// One to four small damages: a byte changed, some bytes lost, a piece put in, a value replaced.
std::string damaged(std::string text, base::RandomStream& random) {
  const std::uint64_t damages = 1 + random.below(4);
  for (std::uint64_t i = 0; i < damages; ++i) {
    const std::size_t at = random.below(text.size());
    const char* piece = kPieces[random.below(kPieces.size())];
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, 1 + random.below(6));
        break;
      case 2:
        text.insert(at, piece);
        break;
      default: {
        const std::size_t colon = text.find(": ", at);
        if (colon == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_of(",}\n", colon), text.size());
        text.replace(colon + 2, end - std::min(end, colon + 2), piece);
      }
    }
  }
  return text;
}

TEST(Mutation, a_damaged_scenario_is_accepted_or_refused_with_a_place) {
  const std::string original = testing::full_example();
  int refused = 0;
  constexpr int kTries = 2000;
  for (std::uint64_t i = 0; i < kTries; ++i) {
    base::RandomStream random(1, "mutation", i);
    const std::string text = damaged(original, random);
    try {
      require_simulated(testing::accepted(text));
    } catch (const base::Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), base::ErrorKind::kInput) << error.what() << "\n" << text;
      EXPECT_EQ(error.where().file, "job.yaml") << error.what() << "\n" << text;
      EXPECT_GT(error.where().line, 0) << error.what() << "\n" << text;
    }
  }
  // Most damage matters; were it all refused or all accepted, the test would show nothing.
  EXPECT_GT(refused, kTries / 2);
  EXPECT_LT(refused, kTries);
}

}  // namespace
}  // namespace fabricast::scenario
