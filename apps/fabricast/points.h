#pragma once
// The points of a sweep: each is checked, found in the store or simulated, and becomes a row.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "answers.h"
#include "report/row.h"
#include "scenario/grid.h"

namespace fabricast::apps {

class Points {
 public:
  /// Reads the grid and the catalogue. Throws base::Error (input) on a wrong grid.
  Points(const std::string& grid_file, const CommonFlags& flags);

  std::size_t size() const { return grid_.size(); }
  const scenario::Grid& grid() const { return grid_; }

  /// The address of a point. Throws base::Error (input) when it is no valid scenario. Safe to call
  /// from several threads.
  std::string address(std::size_t i) const;
  /// Simulates a point, on one thread. Throws base::Error as `compare_fabrics` does. Safe to call
  /// from several threads.
  store::Run simulate(std::size_t i);
  /// A row with the number of the point, from 1, and what it sets.
  report::Row row(std::size_t i) const;

 private:
  Question question(std::size_t i) const;
  network::PhaseCache& phases_of(const Question& question);

  CommonFlags flags_;
  Knowledge known_;
  std::string knowledge_;
  scenario::Grid grid_;
  Lessons lessons_{nullptr};
  std::mutex mutex_;
  /// Points that differ in their fabrics and money alone share phases, as the fabrics of one
  /// scenario do; by what they agree in.
  std::map<std::string, std::unique_ptr<network::PhaseCache>> phases_;
};

}  // namespace fabricast::apps
