#pragma once
// The one exception type. An input error knows where it is (file, line, column, key), what was
// found, what is allowed and the near miss; it ends the program with exit code 2. Anything else is
// a failure of the program itself (exit code 1).

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace fabricast::base {

/// A place in an input file. Line and column count from 1; 0 means unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  std::string key;  ///< dotted path: "cluster.topology.kind"

  /// "file:line:col: key", leaving out what is unknown; printable, whatever the names hold.
  std::string text() const;
};

enum class ErrorKind {
  kInput,    ///< the user's input is wrong: exit code 2
  kFailure,  ///< the program failed: exit code 1
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, Location where, std::string_view message);

  ErrorKind kind() const { return kind_; }
  const Location& where() const { return where_; }
  /// What went wrong, without the place; printable, whatever the user wrote.
  const std::string& message() const { return message_; }
  /// "file:line:col: key: message".
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  ErrorKind kind_;
  Location where_;
  std::string message_;
  std::string text_;
};

/// `text` without what would act on a terminal: control characters (C0, DEL, C1), characters that
/// reverse the direction of writing or end a line, and bytes that are not UTF-8 appear as "\x1b".
std::string printable(std::string_view text);
/// Text of the user as it appears in a message: between backticks, printable, at most 60 bytes of
/// it.
std::string quote(std::string_view text);

/// "found <found>; allowed <allowed>", and "; did you mean `x`?" when `near_miss` is not empty.
Error input_error(Location where, std::string_view found, std::string_view allowed,
                  std::string_view near_miss = {});
/// An input error whose message is free text.
Error input_error(Location where, std::string_view message);
/// A failure of the program: a broken invariant, an unreadable installation.
Error failure(std::string_view message);

/// The candidate closest to `word` (Damerau-Levenshtein distance at most a third of its length, or
/// a unique prefix); empty when none is near.
std::string near_miss(std::string_view word, const std::vector<std::string>& candidates);

/// "`a`, `b` or `c`".
std::string one_of(const std::vector<std::string>& choices);

}  // namespace fabricast::base
