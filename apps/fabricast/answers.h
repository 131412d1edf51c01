#pragma once
// What the store of results is asked and told: a comparison under the digest of everything that
// decides it.

#include <memory>
#include <optional>
#include <string>

#include "base/yaml.h"
#include "commands.h"
#include "comparison.h"
#include "store/store.h"

namespace fabricast::apps {

/// A checked scenario with what it was read from.
struct Question {
  scenario::ValidScenario scenario;
  base::yaml::Node document;
};

/// Reads and checks a scenario file. Throws base::Error (input).
Question question_of(const std::string& path, const Knowledge& known, const CommonFlags& flags);
/// The same of a document; `file` is for messages and for paths relative to it.
Question question_of(base::yaml::Node document, const std::string& file, const Knowledge& known,
                     const CommonFlags& flags);

/// The digest of what the catalogue's files hold.
std::string digest_of(const Knowledge& known);

/// The content address of a comparison: of the scenario as it means (its name, seed and the files
/// that it refers to included), of the resolution, of what is known (`knowledge`: `digest_of` it),
/// and of this very build of the program.
std::string address_of(const Question& question, const CommonFlags& flags,
                       const std::string& knowledge);

/// The user's store; null with --no-cache. One that cannot be used is told on standard error in one
/// line, unless --quiet, and null: a run does not depend on it.
std::unique_ptr<store::Store> open_store(const CommonFlags& flags);

/// The run under `address`; none without a store, or where it cannot be read, outcomes included.
std::optional<store::Run> recall(const store::Store* store, const std::string& address);

/// Keeps a comparison under its address; does nothing without a store. One that cannot be written
/// is told as above.
void keep(store::Store* store, const store::Run& run, const CommonFlags& flags);

/// A comparison as the store keeps it.
store::Run run_of(const Question& question, const std::string& address, const CommonFlags& flags,
                  const report::Comparison& comparison);

}  // namespace fabricast::apps
