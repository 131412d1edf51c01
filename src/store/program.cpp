#include "store/program.h"

#include <cstring>
#include <span>

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

namespace fabricast::store {

namespace {

constexpr std::size_t kAlignment = 4;  // of the parts of a note (System V ABI, "Note Section")

std::size_t aligned(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

/// The build-id among the notes of one segment; empty when it is not there.
std::string among(std::span<const unsigned char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name_at = sizeof note;
    const std::size_t value_at = name_at + aligned(note.n_namesz);
    const std::size_t end = value_at + aligned(note.n_descsz);
    if (end > notes.size()) return {};
    const bool gnu = note.n_namesz == sizeof ELF_NOTE_GNU &&
                     std::memcmp(notes.data() + name_at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID) {
      std::string text;
      for (const unsigned char byte : notes.subspan(value_at, note.n_descsz)) {
        text += fmt::format("{:02x}", byte);
      }
      return text;
    }
    notes = notes.subspan(end);
  }
  return {};
}

/// Called for the program first, then for its libraries; stops after the program.
int look(dl_phdr_info* object, std::size_t /*size*/, void* result) {
  const std::span segments(object->dlpi_phdr, object->dlpi_phnum);
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, as the loader tells it
    const auto* notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    const std::string id = among({notes, segment.p_memsz});
    if (!id.empty()) *static_cast<std::string*>(result) = id;
  }
  return 1;
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(look, &id);
  return id;
}

}  // namespace fabricast::store
