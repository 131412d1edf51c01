#pragma once
// Points of a sweep as work for the ranks of a job: rank 0 hands out numbers as workers ask, and
// alone writes; a worker sends back what became of its point. Meanwhile rank 0 works, too.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "points.h"
#include "ranks.h"

namespace fabricast::apps {

struct PointResult {
  std::optional<store::Run> run;
  std::string error;  ///< why there is none
};

/// Simulates a point; an error of it is its result.
PointResult point_result(Points& points, std::size_t i);

/// Rank 0: hands out the numbers, one at a time, to the other ranks and to a thread of its own, and
/// calls `finish`, from two threads, for each as it comes back; returns when all are done and every
/// worker knows.
void hand_out(Ranks& ranks, Points& points, const std::vector<std::size_t>& numbers,
              const std::function<void(std::size_t, const PointResult&)>& finish);

/// Any other rank: simulates what it is given until there is no more. `open` is called when the
/// first point comes: rank 0 has checked the grid by then.
void follow(Ranks& ranks, const std::function<std::unique_ptr<Points>()>& open);

}  // namespace fabricast::apps
