#include "store/digest.h"

#include <cstdint>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"

namespace fabricast::store {

struct Digest::State {
  XXH3_state_t* hash = XXH3_createState();

  State() {
    if (hash == nullptr || XXH3_128bits_reset(hash) == XXH_ERROR) {
      throw base::failure("no memory for a digest");
    }
  }
  ~State() { XXH3_freeState(hash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void update(const void* bytes, std::size_t count) const {
    XXH3_128bits_update(hash, bytes, count);
  }
};

Digest::Digest() : state_(std::make_unique<State>()) {}
Digest::~Digest() = default;

Digest& Digest::add(std::string_view part) {
  const std::uint64_t length = part.size();
  state_->update(&length, sizeof length);
  state_->update(part.data(), part.size());
  return *this;
}

std::string Digest::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->hash);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace fabricast::store
