#pragma once
// The place for results: one SQLite file per user. A result is kept under the digest of everything
// that decides it (digest.h), so that what is found is what would be simulated. Several programs
// may use the file at once; each write is whole or absent, also when the program is killed.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/run.h"

namespace fabricast::store {

/// $FABRICAST_STORE, else fabricast/results.sqlite in $XDG_DATA_HOME, else in ~/.local/share (XDG
/// Base Directory Specification); empty when there is no home either.
std::string default_file();

/// Safe to use from several threads. Every function throws base::Error (failure) when the file
/// cannot be read or written.
class Store {
 public:
  /// Opens or makes the file, with its folder, and brings an older one to the newest version.
  /// Throws base::Error (failure) when it cannot be used: the message says why and names it.
  explicit Store(const std::string& file);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::string& file() const;

  /// Keeps a run; does nothing when there is one under its key.
  void add(const Run& run);
  std::optional<Run> find(std::string_view key) const;
  std::optional<Run> run(std::int64_t id) const;
  /// Every run, oldest first.
  void each(const std::function<void(const Run&)>& visit) const;

  /// Whatever else is worth computing once, by its kind ("calibration") and its own key.
  std::optional<std::string> get(std::string_view kind, std::string_view key) const;
  /// Takes the place of an earlier value.
  void put(std::string_view kind, std::string_view key, std::string_view value);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fabricast::store
