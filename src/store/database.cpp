#include "store/database.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"

namespace fabricast::store {

namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::milliseconds kBreath{20};

base::Error unusable(const std::string& file, std::string_view why) {
  return base::failure(
      fmt::format("cannot use the store of results {} ({})", base::quote(file), why));
}

void make_folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem) throw unusable(file, problem.message());
}

}  // namespace

Database::Database(const std::string& file) : file_(file) {
  make_folder_of(file);
  try {
    if (sqlite3_open_v2(file.c_str(), &handle_,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                        nullptr) != SQLITE_OK) {
      fail();
    }
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_timeout(handle_, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() {
  sqlite3_close(handle_);
}

/// The busy timeout does not cover this switch, which needs the file for itself for a moment.
void Database::log_ahead() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const int outcome =
        sqlite3_exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (outcome == SQLITE_OK) break;
    const int primary = outcome & 0xff;
    const bool busy = primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
    if (!busy || std::chrono::steady_clock::now() > deadline) fail();
    std::this_thread::sleep_for(kBreath);
  }
  // With the log, a crash of the program loses nothing that was committed, and one of the machine
  // at most the last of it (sqlite.org/pragma.html#pragma_synchronous).
  run("PRAGMA synchronous = NORMAL");
}

void Database::fail() const {
  throw unusable(file_, handle_ == nullptr ? "no memory" : sqlite3_errmsg(handle_));
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Database::number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number_at(0) : 0;
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  if (sqlite3_prepare_v2(database.handle_, sql.data(), static_cast<int>(sql.size()), &handle_,
                         nullptr) != SQLITE_OK) {
    database.fail();
  }
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement& Statement::text(std::string_view value) {
  if (sqlite3_bind_text64(handle_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8) != SQLITE_OK) {
    database_.fail();
  }
  return *this;
}

Statement& Statement::number(std::int64_t value) {
  if (sqlite3_bind_int64(handle_, ++bound_, value) != SQLITE_OK) database_.fail();
  return *this;
}

Statement& Statement::blob(std::string_view value) {
  if (sqlite3_bind_blob64(handle_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT) !=
      SQLITE_OK) {
    database_.fail();
  }
  return *this;
}

bool Statement::step() {
  const int outcome = sqlite3_step(handle_);
  if (outcome == SQLITE_ROW) return true;
  if (outcome != SQLITE_DONE) database_.fail();
  return false;
}

std::string Statement::text_at(int column) const {
  const void* bytes = sqlite3_column_blob(handle_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::int64_t Statement::number_at(int column) const {
  return sqlite3_column_int64(handle_, column);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const base::Error&) {  // NOLINT(bugprone-empty-catch): SQLite has already rolled back
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace fabricast::store
