#pragma once
// The catalogue that the project ships, and copies of it with one passage changed.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "catalog/catalog.h"

namespace fabricast::catalog::testing {

inline std::string shipped_directory() {
  return std::string(FABRICAST_SOURCE_DIR) + "/catalog";
}

inline const Catalog& shipped() {
  static const Catalog catalog = Catalog::load(shipped_directory());
  return catalog;
}

/// A copy of the shipped catalogue in a directory of its own, removed at the end.
class Copy {
 public:
  Copy() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::temp_directory_path() /
                 (std::string("fabricast-") + test->test_suite_name() + "-" + test->name() + "-" +
                  std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::copy(shipped_directory(), directory_);
  }
  ~Copy() { std::filesystem::remove_all(directory_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  /// Replaces the first occurrence of `from`, which must exist; returns its line, from 1.
  int replace(const std::string& file, const std::string& from, const std::string& to) {
    std::ifstream in(directory_ / file);
    std::stringstream buffer;
    buffer << in.rdbuf();
    std::string text = buffer.str();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << file << " has no " << from;
    if (at == std::string::npos) return 0;
    int line = 1;
    for (std::size_t i = 0; i < at; ++i) line += text[i] == '\n' ? 1 : 0;
    text.replace(at, from.size(), to);
    std::ofstream(directory_ / file) << text;
    return line;
  }

  std::string directory() const { return directory_.string(); }

 private:
  std::filesystem::path directory_;
};

/// The input error of `call`; fails the test when there is none.
template <class Call>
base::Error input_error_of(Call call) {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
    return error;
  }
  ADD_FAILURE() << "no error";
  return base::failure("no error");
}

inline bool contains(const base::Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

}  // namespace fabricast::catalog::testing
