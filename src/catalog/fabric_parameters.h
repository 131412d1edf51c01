#pragma once
// The table of everything that can be said about a fabric: key, member, unit, range, and the kinds
// of fabric it means something for. Reading, overriding, printing and digesting all walk this
// table.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/fabric_profile.h"

namespace fabricast::catalog {

struct FabricParameter {
  ParameterInfo info;
  bool whole = false;     ///< takes whole numbers only
  bool optional = false;  ///< a mechanism that is off unless stated: a profile need not have it
  std::function<double(const FabricProfile&)> get;
  std::function<void(FabricProfile&, double)> set;

  /// "ecn" of "ecn.kmin_kb".
  std::string_view group() const;
  /// "kmin_kb" of "ecn.kmin_kb".
  std::string_view name() const;
  bool applies_to(FabricKind kind) const;
  /// Reads a scalar into the profile. Throws base::Error (input).
  void read(FabricProfile& profile, const base::yaml::Node& node) const;
};

const std::vector<FabricParameter>& fabric_parameter_table();

/// Throws base::Error (input) on values that are fine one by one but not together, at the place of
/// the parameter in `node` (a mapping of groups), else at `node` itself.
void check(const FabricProfile& profile, const base::yaml::Node& node);

}  // namespace fabricast::catalog
