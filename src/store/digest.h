#pragma once
// Content addresses: a digest of everything that decides a result.

#include <memory>
#include <string>
#include <string_view>

namespace fabricast::store {

/// XXH3 of 128 bits (Y. Collet, xxHash 0.8) over parts that keep their borders: "ab", "c" and "a",
/// "bc" differ. Not for adversaries; for the results of one user.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  Digest& add(std::string_view part);
  /// 32 hexadecimal digits.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fabricast::store
