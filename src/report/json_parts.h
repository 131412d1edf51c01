#pragma once
// Objects that several faces share. Private to this room, and to its *json.cpp.

#include <nlohmann/json.hpp>

#include "report/advise.h"
#include "report/report.h"

namespace fabricast::report {

using Json = nlohmann::ordered_json;  // keys stay in the order of the interface

/// JSON has no NaN and no infinity: a metric that has no value must be absent, not null.
void put(Json& object, const char* key, double value);

Json network_json(const network::NetworkMetrics& metrics, bool packets);
Json collective_json(const collective::PhaseReport& phase);
/// A value, and beside it the ends of what it may be.
void put_banded(Json& object, const std::string& key, double value, const cost::Band& band);
Json sizing_json(const fabric::Sizing& sizing);
Json claims_json(const std::vector<advice::Claim>& claims);
Json verdict_json(const advice::Verdict& verdict);
/// What `json` writes.
Json comparison_json(const Comparison& comparison);
/// What `advise_json` writes.
Json advice_json(const AdviseReport& report);
Json bom_lines_json(const cost::Bill& bill);
Json serving_json(const serving::Result& result, const scenario::ServingSpec& spec);

}  // namespace fabricast::report
