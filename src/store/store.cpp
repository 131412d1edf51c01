#include "store/store.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "store/database.h"
#include "store/migrations.h"

namespace fabricast::store {

namespace {

constexpr const char* kColumns =
    "SELECT id, created, key, program, scenario, seed, resolution, document, result, outcomes "
    "FROM runs ";

Run run_at(const Statement& row) {
  Run run;
  run.id = row.number_at(0);
  run.created = row.text_at(1);
  run.key = row.text_at(2);
  run.program = row.text_at(3);
  run.scenario = row.text_at(4);
  run.seed = static_cast<std::uint64_t>(row.number_at(5));
  run.resolution = row.text_at(6);
  run.document = row.text_at(7);
  run.result = row.text_at(8);
  run.outcomes = row.text_at(9);
  return run;
}

std::optional<Run> first(Statement& statement) {
  if (!statement.step()) return std::nullopt;
  return run_at(statement);
}

/// Empty when the variable is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

}  // namespace

std::string default_file() {
  std::string chosen = variable("FABRICAST_STORE");
  if (!chosen.empty()) return chosen;
  std::filesystem::path data = variable("XDG_DATA_HOME");
  if (!data.is_absolute()) {  // the specification: a relative one is not valid and to be ignored
    const std::string home = variable("HOME");
    if (home.empty()) return {};
    data = std::filesystem::path(home) / ".local" / "share";
  }
  return (data / "fabricast" / "results.sqlite").string();
}

struct Store::State {
  explicit State(const std::string& file) : database(file) { migrate(database); }

  Database database;
  std::mutex mutex;  ///< one transaction at a time on the one connection
};

Store::Store(const std::string& file) : state_(std::make_unique<State>(file)) {}
Store::~Store() = default;

const std::string& Store::file() const {
  return state_->database.file();
}

void Store::add(const Run& run) {
  const std::lock_guard lock(state_->mutex);
  Statement statement(
      state_->database,
      "INSERT INTO runs (created, key, program, scenario, seed, resolution, document, result, "
      "outcomes) VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (key) DO NOTHING");
  statement.text(run.key)
      .text(run.program)
      .text(run.scenario)
      .number(static_cast<std::int64_t>(run.seed))
      .text(run.resolution)
      .text(run.document)
      .text(run.result)
      .blob(run.outcomes)
      .step();
}

std::optional<Run> Store::find(std::string_view key) const {
  const std::lock_guard lock(state_->mutex);
  Statement statement(state_->database, std::string(kColumns) + "WHERE key = ?");
  return first(statement.text(key));
}

std::optional<Run> Store::run(std::int64_t id) const {
  const std::lock_guard lock(state_->mutex);
  Statement statement(state_->database, std::string(kColumns) + "WHERE id = ?");
  return first(statement.number(id));
}

void Store::each(const std::function<void(const Run&)>& visit) const {
  const std::lock_guard lock(state_->mutex);
  Statement statement(state_->database, std::string(kColumns) + "ORDER BY id");
  while (statement.step()) visit(run_at(statement));
}

std::optional<std::string> Store::get(std::string_view kind, std::string_view key) const {
  const std::lock_guard lock(state_->mutex);
  Statement statement(state_->database, "SELECT value FROM memo WHERE kind = ? AND key = ?");
  if (!statement.text(kind).text(key).step()) return std::nullopt;
  return statement.text_at(0);
}

void Store::put(std::string_view kind, std::string_view key, std::string_view value) {
  const std::lock_guard lock(state_->mutex);
  Statement statement(state_->database,
                      "INSERT INTO memo (kind, key, value) VALUES (?, ?, ?) "
                      "ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value");
  statement.text(kind).text(key).blob(value).step();
}

}  // namespace fabricast::store
