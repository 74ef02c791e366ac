#include "cli/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/hash.hpp"
#include "files/whole_file.hpp"

namespace tessera::cli {
namespace {

// Reads a T at `offset`, or leaves `out` alone when the file is too short for that.
template <class T>
bool at(const std::string& bytes, std::uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

// Sections of an object that stays in `bytes`.
class Sections {
 public:
  explicit Sections(const std::string& bytes) : bytes_(bytes) {
    Elf64_Ehdr head;
    if (!at(bytes, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return;
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_REL) return;
    for (unsigned k = 0; k < head.e_shnum; ++k) {
      if (at(bytes, head.e_shoff + k * sizeof(Elf64_Shdr), all_.emplace_back())) continue;
      all_.clear();
      return;
    }
    if (head.e_shstrndx < all_.size()) names_ = all_[head.e_shstrndx];
  }
  const std::vector<Elf64_Shdr>& all() const { return all_; }
  std::string text(const Elf64_Shdr& table, std::uint64_t offset) const {
    const std::uint64_t from = table.sh_offset + offset;
    return from < bytes_.size() ? bytes_.c_str() + from : "";
  }
  std::string name(std::size_t k) const { return k < all_.size() ? text(names_, all_[k].sh_name) : ""; }
  std::string_view contents(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS || s.sh_offset > bytes_.size()) return {};
    return std::string_view(bytes_).substr(s.sh_offset, s.sh_size);
  }
  bool loaded(std::size_t k) const { return k < all_.size() && (all_[k].sh_flags & SHF_ALLOC) != 0; }
  // What a symbol of this table stands for; a section's symbol has no name of its own.
  std::string symbol(const Elf64_Shdr& table, const Elf64_Sym& s) const {
    if (table.sh_link >= all_.size()) return "";
    const std::string name = text(all_[table.sh_link], s.st_name);
    return name.empty() ? this->name(s.st_shndx) : name;
  }
  template <class T, class F>
  void for_each(const Elf64_Shdr& s, F f) const {
    T entry;
    for (std::uint64_t o = 0; o + sizeof entry <= s.sh_size && at(bytes_, s.sh_offset + o, entry); o += sizeof entry)
      f(entry);
  }

 private:
  const std::string& bytes_;
  std::vector<Elf64_Shdr> all_;
  Elf64_Shdr names_{};
};

}  // namespace

std::string hash_of_code(const std::filesystem::path& object) {
  const std::string bytes = files::read_whole(object).value_or("");
  const Sections sections(bytes);
  const auto number = [](auto n) { return std::to_string(n); };
  Key key;
  for (std::size_t k = 0; k < sections.all().size(); ++k) {
    const Elf64_Shdr& s = sections.all()[k];
    // What stands there is compiled when the program is linked.
    if (sections.name(k).starts_with(".gnu.lto_")) return hash_text(bytes);
    if (sections.loaded(k)) key.add(sections.name(k)).add(number(s.sh_size)).add(sections.contents(s));
    if (s.sh_type == SHT_SYMTAB) {
      sections.for_each<Elf64_Sym>(s, [&](const Elf64_Sym& symbol) {
        if (symbol.st_name == 0 || !sections.loaded(symbol.st_shndx)) return;
        key.add(sections.symbol(s, symbol)).add(sections.name(symbol.st_shndx)).add(number(symbol.st_value));
      });
    }
    if (s.sh_type != SHT_RELA || !sections.loaded(s.sh_info) || s.sh_link >= sections.all().size()) continue;
    const Elf64_Shdr& symbols = sections.all()[s.sh_link];
    sections.for_each<Elf64_Rela>(s, [&](const Elf64_Rela& r) {
      Elf64_Sym symbol{};
      at(bytes, symbols.sh_offset + ELF64_R_SYM(r.r_info) * sizeof symbol, symbol);
      key.add(number(r.r_offset)).add(number(ELF64_R_TYPE(r.r_info))).add(number(r.r_addend));
      key.add(sections.symbol(symbols, symbol));
    });
  }
  return sections.all().empty() ? hash_text(bytes) : key.hex();
}

std::vector<Symbol> read_symbols(const std::filesystem::path& object) {
  const std::string bytes = files::read_whole(object).value_or("");
  const Sections sections(bytes);
  std::vector<Symbol> symbols;
  for (const Elf64_Shdr& table : sections.all()) {
    if (table.sh_type != SHT_SYMTAB) continue;
    sections.for_each<Elf64_Sym>(table, [&](const Elf64_Sym& s) {
      const auto binding = ELF64_ST_BIND(s.st_info);
      if (binding == STB_LOCAL || s.st_name == 0) return;
      symbols.push_back({sections.symbol(table, s), s.st_shndx != SHN_UNDEF, binding != STB_GLOBAL});
    });
  }
  return symbols;
}

std::string full_name(const std::string& symbol) {
  int status = 0;
  char* text = ::abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = symbol.rfind("_Z", 0) != 0 || text == nullptr ? symbol : text;
  std::free(text);
  return name;
}

std::string plain_name(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return "";
  std::string name = full_name(symbol);
  name = name == symbol ? "" : name.substr(0, name.find_first_of("(<["));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

}  // namespace tessera::cli
