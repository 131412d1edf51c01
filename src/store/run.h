#pragma once
// One comparison that has been simulated, as the store keeps it.

#include <cstdint>
#include <string>

namespace fabricast::store {

struct Run {
  std::int64_t id = 0;   ///< given by the store, never twice
  std::string created;   ///< given by the store: UTC, ISO 8601
  std::string key;       ///< content address
  std::string program;   ///< version of the program that made it
  std::string scenario;  ///< its name
  std::uint64_t seed = 0;
  std::string resolution;
  std::string document;  ///< the scenario in canonical YAML, without name and seed
  std::string result;    ///< JSON, as `compare --json` writes it
  std::string outcomes;  ///< the same with every bit, for the program that made it
};

}  // namespace fabricast::store
