#pragma once
// SQLite with the errors of this house. Private to this room.

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace fabricast::store {

/// One connection. Safe to use from several threads, one statement at a time.
class Database {
 public:
  /// Opens or makes `file`; who finds it busy waits for half a minute. Throws base::Error (failure)
  /// that names the file and why it cannot be used.
  explicit Database(const std::string& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& file() const { return file_; }
  /// From now on writes go to a log beside the file: readers do not wait for writers, and what is
  /// committed survives the end of the program, however it ends. Throws base::Error (failure).
  void log_ahead();
  /// Runs statements that return nothing. Throws base::Error (failure).
  void run(const std::string& sql);
  /// The whole number that a statement returns first.
  std::int64_t number(const std::string& sql);

 private:
  friend class Statement;
  [[noreturn]] void fail() const;

  std::string file_;
  sqlite3* handle_ = nullptr;
};

/// One statement with its parameters; `step` walks over its rows.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Values for the question marks, in their order. A text may hold any bytes.
  Statement& text(std::string_view value);
  Statement& number(std::int64_t value);
  Statement& blob(std::string_view value);
  /// True while there is a row. Throws base::Error (failure).
  bool step();
  /// Of the row, by column from 0.
  std::string text_at(int column) const;
  std::int64_t number_at(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
  int bound_ = 0;
};

/// All or nothing of what is written while it lives; taken back unless `commit` was called. Nobody
/// else writes meanwhile.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace fabricast::store
