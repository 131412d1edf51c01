#pragma once
// Numbers for people, written the same way wherever they appear.

#include <string>

namespace fabricast::base {

/// Three significant digits without an exponent; whole numbers with separators from 1000 up:
/// "0.00123", "1.23", "12.3", "123", "12,345". Below 1e-6 it is "0".
std::string number(double value);

/// Two numbers that are not the same, with as many digits as it takes to tell them apart, at most
/// six; equal ones, and those that differ by less, come out alike.
struct NumberPair {
  std::string first;
  std::string second;
};
NumberPair distinct_numbers(double first, double second);

}  // namespace fabricast::base
