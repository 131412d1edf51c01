#pragma once
// Five dimensions of a design, 0 to 100 each. The source article promises an "EEAAP" assessment and
// defines it nowhere; this reading of the letters is ours (docs/models/advice.md, section 4).

#include <vector>

#include "advice/advice.h"

namespace fabricast::advice {

struct Assessment {
  double efficiency = 0;
  double economy = 0;
  double adaptability = 0;
  double availability = 0;
  double performance = 0;
};

/// How one of the five comes about, for the report.
struct AssessmentAxis {
  const char* axis = "";  ///< member of the above
  Text name;
  Text formula;
};
const std::vector<AssessmentAxis>& assessment_axes();

/// What a design is held against: the best of all that can be built.
struct Yardstick {
  double cost = 0;  ///< lowest cost of a million tokens
  double pace = 0;  ///< shortest time per work
};

/// PRECONDITION: `topology` is the one that `outcome` was made on.
Assessment assess(const Outcome& outcome, const fabric::TopologySpec& topology,
                  const Yardstick& yardstick);

/// The most GPUs that a fabric of this kind and these switches can be built for, at most `limit`.
int reach(const fabric::TopologySpec& topology, int limit);

}  // namespace fabricast::advice
