#pragma once
// How the advice room writes quantities, in both languages.

#include <string>

#include "advice/advice.h"
#include "base/number.h"

namespace fabricast::advice {

/// "infiniband, roce-v2": the names of some outcomes.
std::string list_of(const std::vector<Outcome>& outcomes, const std::vector<std::size_t>& some);

/// "1,011,200 CNY".
std::string money(double amount, const std::string& currency);

}  // namespace fabricast::advice
