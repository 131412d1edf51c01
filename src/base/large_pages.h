#pragma once
// Memory for the arrays that a million flows make: from a few megabytes on it comes in pages of
// 2 MiB where the system gives them on request, so that filling it does not stop every 4 KiB, and
// looking here and there does not miss the TLB each time.

#include <cstddef>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace fabricast::base {

/// An allocator for std::vector.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  explicit LargePages(const LargePages<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < kLeast) return static_cast<T*>(::operator new(bytes, kAlignment));
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void* const memory = std::aligned_alloc(kPage, whole);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, whole, MADV_HUGEPAGE);  // a wish: small pages do as well
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    if (n * sizeof(T) < kLeast) {
      ::operator delete(memory, kAlignment);
    } else {
      std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): the other half of aligned_alloc
    }
  }

  friend bool operator==(const LargePages& /*a*/, const LargePages& /*b*/) { return true; }

 private:
  static constexpr std::align_val_t kAlignment{alignof(T)};
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::size_t kLeast = 2 * kPage;
};

}  // namespace fabricast::base
