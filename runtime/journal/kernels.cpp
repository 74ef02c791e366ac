#include "runtime/journal/kernels.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tessera::runtime::journal {
namespace {

struct Search {
  std::uintptr_t address;  // in the file looked for
  std::array<std::uint64_t, 2> kernels{};
};

const std::byte* at(const dl_phdr_info& file, const ElfW(Phdr) & part) {
  return reinterpret_cast<const std::byte*>(file.dlpi_addr + part.p_vaddr);
}

void look_at_notes(const std::byte* p, const std::byte* end, Search& search) {
  const auto padded = [](std::size_t n) { return (n + 3) / 4 * 4; };
  ElfW(Nhdr) note;
  while (static_cast<std::size_t>(end - p) >= sizeof note) {
    std::memcpy(&note, p, sizeof note);
    p += sizeof note;
    if (static_cast<std::size_t>(end - p) < padded(note.n_namesz) + padded(note.n_descsz)) return;
    const bool gnu = note.n_namesz == 4 && std::memcmp(p, ELF_NOTE_GNU, 4) == 0;
    p += padded(note.n_namesz);
    if (gnu && note.n_type == NT_GNU_BUILD_ID)
      std::memcpy(search.kernels.data(), p, std::min<std::size_t>(sizeof search.kernels, note.n_descsz));
    p += padded(note.n_descsz);
  }
}

int look_at_file(dl_phdr_info* file, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const auto* const from = file->dlpi_phdr;
  const auto* const to = from + file->dlpi_phnum;
  const bool its = std::any_of(from, to, [&](const ElfW(Phdr) & part) {
    const auto begin = reinterpret_cast<std::uintptr_t>(at(*file, part));
    return part.p_type == PT_LOAD && search.address >= begin && search.address < begin + part.p_memsz;
  });
  if (!its) return 0;
  std::for_each(from, to, [&](const ElfW(Phdr) & part) {
    if (part.p_type == PT_NOTE) look_at_notes(at(*file, part), at(*file, part) + part.p_memsz, search);
  });
  return 1;
}

}  // namespace

std::array<std::uint64_t, 2> kernels_of(const abi::Program& program) {
  Search search{reinterpret_cast<std::uintptr_t>(&program), {}};
  dl_iterate_phdr(look_at_file, &search);
  return search.kernels;
}

}  // namespace tessera::runtime::journal
