#pragma once
// The switches, adapters and cables of a bill, in words short enough for a column.

#include <cstdint>
#include <string>

#include "cost/cost.h"

namespace fabricast::report {

/// Pieces of one kind in the whole bill.
std::int64_t count_of(const cost::Bill& bill, cost::Part part);

/// The catalogue id of the first piece of that kind; empty when there is none.
std::string item_of(const cost::Bill& bill, cost::Part part);

/// The same in at most `width` cells: without "article-", then without its last words ("-400g"),
/// then cut. PRECONDITION: width > 1.
std::string model_of(const cost::Bill& bill, cost::Part part, int width);

}  // namespace fabricast::report
