#include "cli/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tessera::cli {
namespace {

// Reads a T at `offset`, or leaves `out` alone when the file is too short for that.
template <class T>
bool at(const std::string& bytes, std::uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace

std::vector<Symbol> read_symbols(const std::filesystem::path& object) {
  std::ifstream in(object, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<Symbol> symbols;
  Elf64_Ehdr head;
  if (!at(bytes, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return symbols;
  if (head.e_ident[EI_CLASS] != ELFCLASS64) return symbols;
  for (unsigned k = 0; k < head.e_shnum; ++k) {
    Elf64_Shdr table, names;
    if (!at(bytes, head.e_shoff + k * sizeof table, table) || table.sh_type != SHT_SYMTAB) continue;
    if (!at(bytes, head.e_shoff + table.sh_link * sizeof names, names)) continue;
    for (std::uint64_t o = 0; o + sizeof(Elf64_Sym) <= table.sh_size; o += sizeof(Elf64_Sym)) {
      Elf64_Sym s;
      if (!at(bytes, table.sh_offset + o, s)) break;
      const auto binding = ELF64_ST_BIND(s.st_info);
      const std::uint64_t name = names.sh_offset + s.st_name;
      if (binding == STB_LOCAL || s.st_name == 0 || name >= bytes.size()) continue;
      symbols.push_back({bytes.c_str() + name, s.st_shndx != SHN_UNDEF, binding != STB_GLOBAL});
    }
  }
  return symbols;
}

std::string plain_name(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return "";
  int status = 0;
  char* text = ::abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = text == nullptr ? "" : text;
  std::free(text);
  name = name.substr(0, name.find_first_of("(<["));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

}  // namespace tessera::cli
