#include "store/migrations.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace fabricast::store {

namespace {

/// "FBRC": tells the file from one of another program (`PRAGMA application_id`).
constexpr std::int64_t kApplication = 0x46425243;

/// Migration i leads from version i to version i + 1. Files in the field have been through them:
/// none is ever changed, new ones are added at the end.
constexpr std::array kMigrations = {
    // 1: the runs, by their content address. AUTOINCREMENT: an id is never given twice.
    "CREATE TABLE runs ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  created TEXT NOT NULL,"
    "  key TEXT NOT NULL UNIQUE,"
    "  program TEXT NOT NULL,"
    "  scenario TEXT NOT NULL,"
    "  seed INTEGER NOT NULL,"
    "  resolution TEXT NOT NULL,"
    "  document TEXT NOT NULL,"
    "  result TEXT NOT NULL,"
    "  outcomes BLOB NOT NULL)",
    // 2: whatever else is worth computing once.
    "CREATE TABLE memo ("
    "  kind TEXT NOT NULL,"
    "  key TEXT NOT NULL,"
    "  value BLOB NOT NULL,"
    "  PRIMARY KEY (kind, key)) WITHOUT ROWID",
};

std::int64_t version_of(Database& database) {
  return database.number("PRAGMA user_version");
}

/// In this order: another program may fill the file between the two looks.
void require_own(Database& database) {
  const bool own = database.number("SELECT count(*) FROM sqlite_master") == 0 ||
                   database.number("PRAGMA application_id") == kApplication;
  if (own) return;
  throw base::failure(
      fmt::format("cannot use the store of results {} (it is a database of another program)",
                  base::quote(database.file())));
}

}  // namespace

int newest_version() {
  return static_cast<int>(kMigrations.size());
}

void migrate(Database& database, int to) {
  require_own(database);
  database.log_ahead();
  if (version_of(database) < to) {
    Transaction transaction(database);
    // Another program may have been faster.
    for (std::int64_t version = version_of(database); version < to; ++version) {
      database.run(kMigrations.at(static_cast<std::size_t>(version)));
      database.run(fmt::format("PRAGMA user_version = {}", version + 1));
    }
    database.run(fmt::format("PRAGMA application_id = {}", kApplication));
    transaction.commit();
  }
  const std::int64_t version = version_of(database);
  if (version > newest_version()) {
    throw base::failure(fmt::format(
        "cannot use the store of results {} (a newer program wrote it: its version is {}, and this "
        "program knows {}; name another file in FABRICAST_STORE, or use the newer program)",
        base::quote(database.file()), version, newest_version()));
  }
}

}  // namespace fabricast::store
