#pragma once
// One table per kind of record says which keys it has, in which range, and which member each fills.
// The table drives reading, the provenance in `Entry`, and the error messages.

#include <functional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/value_reader.h"

namespace fabricast::catalog {

/// Bounds of a language model, whether the catalogue or its own configuration describes it: well
/// above what is trained, and low enough that nothing computed from them overflows or never ends.
inline constexpr int kMostLayers = 10'000;
inline constexpr int kMostHidden = 1 << 20;
inline constexpr int kMostFeedForward = 1 << 22;
inline constexpr int kMostHeads = 4096;
inline constexpr int kMostHeadDim = 1 << 16;
inline constexpr int kMostVocabulary = 1 << 24;
inline constexpr int kMostExperts = 1 << 16;
inline constexpr int kMostContext = 1 << 28;

template <class Record>
struct RecordParameter {
  std::string key;  ///< ends in the unit
  bool required = true;
  /// Throws base::Error (input) when the node is not in range.
  std::function<void(Record&, const base::yaml::Node&)> read;
};

const std::vector<RecordParameter<Gpu>>& parameters_of(const Gpu*);
const std::vector<RecordParameter<Adapter>>& parameters_of(const Adapter*);
const std::vector<RecordParameter<Slot>>& parameters_of(const Slot*);
const std::vector<RecordParameter<Host>>& parameters_of(const Host*);
const std::vector<RecordParameter<ServingEngine>>& parameters_of(const ServingEngine*);
const std::vector<RecordParameter<Switch>>& parameters_of(const Switch*);
const std::vector<RecordParameter<Cable>>& parameters_of(const Cable*);
const std::vector<RecordParameter<LanguageModel>>& parameters_of(const LanguageModel*);
const std::vector<RecordParameter<Price>>& parameters_of(const Price*);
const std::vector<RecordParameter<Reliability>>& parameters_of(const Reliability*);

/// What keys of a record cannot say one by one. Throws base::Error (input) at `where`.
void check(const Gpu& gpu, const base::Location& where);
void check(const Adapter& adapter, const base::Location& where);
void check(const Slot& slot, const base::Location& where);
void check(const Host& host, const base::Location& where);
void check(const ServingEngine& engine, const base::Location& where);
void check(const Switch& network_switch, const base::Location& where);
void check(const Cable& cable, const base::Location& where);
void check(const LanguageModel& model, const base::Location& where);
void check(const Price& price, const base::Location& where);
void check(const Reliability& reliability, const base::Location& where);

}  // namespace fabricast::catalog
