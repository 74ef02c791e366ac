#include "cli/signatures.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <optional>

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

constexpr int kDeepest = 32;  // of types and base classes; real ones have a few

std::string name_of(Dwarf_Die die) {
  const char* name = dwarf_diename(&die);
  return name == nullptr ? "" : name;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr) return std::nullopt;
  if (dwarf_formref_die(&attribute, &type) == nullptr) return std::nullopt;
  return type;
}

bool refers(int tag) {
  return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type || tag == DW_TAG_pointer_type;
}

// plain strips typedefs, const and volatile; tells whether there was a const.
std::optional<Dwarf_Die> plain(std::optional<Dwarf_Die> type, bool& constant) {
  for (int depth = 0; type && depth < kDeepest; ++depth) {
    const int tag = dwarf_tag(&*type);
    if (tag == DW_TAG_const_type) constant = true;
    if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type && tag != DW_TAG_typedef) return type;
    type = type_of(*type);
  }
  return type;
}

std::string text_of(std::optional<Dwarf_Die> type, int depth = 0) {
  if (!type) return "void";
  if (depth > kDeepest) return "?";
  switch (dwarf_tag(&*type)) {
    case DW_TAG_const_type:
      return "const " + text_of(type_of(*type), depth + 1);
    case DW_TAG_volatile_type:
      return "volatile " + text_of(type_of(*type), depth + 1);
    case DW_TAG_pointer_type:
      return text_of(type_of(*type), depth + 1) + " *";
    case DW_TAG_reference_type:
      return text_of(type_of(*type), depth + 1) + " &";
    case DW_TAG_rvalue_reference_type:
      return text_of(type_of(*type), depth + 1) + " &&";
    default:
      break;
  }
  const std::string name = name_of(*type);
  return name.empty() ? "a type without a name" : name;
}

// is_fragment: abi::Df, what the runtime passes, or a class that begins with one.
bool is_fragment(Dwarf_Die type, int depth = 0) {
  const int tag = dwarf_tag(&type);
  if (depth > kDeepest || (tag != DW_TAG_structure_type && tag != DW_TAG_class_type)) return false;
  const std::string name = name_of(type);
  if (name == "Df" || name == "DF") return true;
  Dwarf_Die child;
  if (dwarf_child(&type, &child) != 0) return false;
  do {
    if (dwarf_tag(&child) != DW_TAG_inheritance) continue;
    bool ignored = false;
    auto base = plain(type_of(child), ignored);
    return base && is_fragment(*base, depth + 1);  // the first base lies at the beginning
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

bool declared_only(Dwarf_Die type) {
  Dwarf_Attribute attribute;
  return dwarf_attr(&type, DW_AT_declaration, &attribute) != nullptr;
}

// A number as it is passed by value.
Passed number(Dwarf_Die type) {
  const int tag = dwarf_tag(&type);
  const int size = dwarf_bytesize(&type);
  if (tag == DW_TAG_enumeration_type) return size == 4 ? Passed::integer : Passed::other;
  if (tag != DW_TAG_base_type) return Passed::other;
  Dwarf_Word encoding = 0;
  Dwarf_Attribute attribute;
  if (dwarf_attr(&type, DW_AT_encoding, &attribute) != nullptr) dwarf_formudata(&attribute, &encoding);
  if (encoding == DW_ATE_float) return size == 8 ? Passed::real : Passed::other;
  const bool whole = encoding == DW_ATE_signed || encoding == DW_ATE_unsigned;
  if (!whole || (size != 4 && size != 8)) return Passed::other;
  return size == 4 ? Passed::integer : Passed::long_integer;
}

Passed passed(std::optional<Dwarf_Die> type) {
  bool constant = false;
  type = plain(type, constant);
  if (!type) return Passed::other;
  const int tag = dwarf_tag(&*type);
  if (tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type) return number(*type);
  if (!refers(tag)) return is_fragment(*type) ? Passed::fragment : Passed::other;
  bool constant_target = false;
  auto target = plain(type_of(*type), constant_target);
  if (!target) return Passed::unknown;  // void *
  if (is_fragment(*target)) return constant_target ? Passed::const_fragment : Passed::fragment;
  const int target_tag = dwarf_tag(&*target);
  if (target_tag == DW_TAG_structure_type || target_tag == DW_TAG_class_type) {
    return declared_only(*target) ? Passed::unknown : Passed::other;
  }
  if (tag == DW_TAG_reference_type && constant_target) {
    const Passed p = number(*target);
    if (p == Passed::long_integer) return Passed::long_ref;
    if (p != Passed::other) return p == Passed::integer ? Passed::integer_ref : Passed::real_ref;
  }
  const bool characters = target_tag == DW_TAG_base_type && dwarf_bytesize(&*target) == 1;
  return tag == DW_TAG_pointer_type && characters ? Passed::text : Passed::other;
}

Register register_of(std::optional<Dwarf_Die> type) {
  bool ignored = false;
  type = plain(type, ignored);
  if (!type) return Register::other;
  const int tag = dwarf_tag(&*type);
  if (refers(tag) || tag == DW_TAG_enumeration_type || is_fragment(*type)) return Register::general;
  if (tag != DW_TAG_base_type || dwarf_bytesize(&*type) > 8) return Register::other;
  Dwarf_Word encoding = 0;
  Dwarf_Attribute attribute;
  if (dwarf_attr(&*type, DW_AT_encoding, &attribute) != nullptr) dwarf_formudata(&attribute, &encoding);
  return encoding == DW_ATE_float ? Register::floating : Register::general;
}

// The entry that has the parameters: an inlined function's are with its abstract instance.
Dwarf_Die described(Dwarf_Die function) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  const bool refers_to = dwarf_attr(&function, DW_AT_abstract_origin, &attribute) != nullptr &&
                         dwarf_formref_die(&attribute, &origin) != nullptr;
  return refers_to ? origin : function;
}

// The file of a declaration; number 0 is the unit's own (Clang), which libdw takes for none.
fs::path file_of(Dwarf_Die function, Dwarf_Die unit) {
  if (const char* file = dwarf_decl_file(&function)) return file;
  Dwarf_Attribute attribute;
  const char* folder = nullptr;
  if (dwarf_attr(&unit, DW_AT_comp_dir, &attribute) != nullptr) folder = dwarf_formstring(&attribute);
  return fs::path(folder == nullptr ? "" : folder) / name_of(unit);
}

Signature signature_of(Dwarf_Die function, Dwarf_Die unit) {
  Signature s;
  function = described(function);
  s.name = name_of(function);
  s.file = file_of(function, unit);
  dwarf_decl_line(&function, &s.line);
  dwarf_decl_column(&function, &s.column);
  Dwarf_Die child;
  if (dwarf_child(&function, &child) != 0) return s;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_unspecified_parameters) s.variadic = true;
    if (tag != DW_TAG_formal_parameter) continue;
    const auto type = type_of(child);
    s.parameters.push_back({passed(type), register_of(type), text_of(type)});
  } while (dwarf_siblingof(&child, &child) == 0);
  return s;
}

// has_c_name: C++ names are mangled, and then the mangled one is given too.
bool has_c_name(Dwarf_Die function, const std::string& name) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&function, DW_AT_linkage_name, &attribute) == nullptr) return true;
  const char* linkage = dwarf_formstring(&attribute);
  return linkage != nullptr && name == linkage;
}

// A definition has code: in one piece, or (cold parts apart) in several.
bool is_definition(Dwarf_Die function) {
  return dwarf_tag(&function) == DW_TAG_subprogram &&
         (dwarf_hasattr(&function, DW_AT_low_pc) != 0 || dwarf_hasattr(&function, DW_AT_ranges) != 0);
}

bool is_external(Dwarf_Die function) {
  Dwarf_Attribute attribute;
  return dwarf_attr_integrate(&function, DW_AT_external, &attribute) != nullptr;
}

void walk(Dwarf_Die parent, Dwarf_Die unit, const std::set<std::string>& names, std::vector<Signature>& found) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    if (dwarf_tag(&child) == DW_TAG_namespace) walk(child, unit, names, found);
    if (!is_definition(child)) continue;
    const std::string name = name_of(child);
    if (names.count(name) == 0 || !is_external(child) || !has_c_name(child, name)) continue;
    found.push_back(signature_of(child, unit));
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

std::vector<Signature> read_signatures(const fs::path& program, const std::set<std::string>& names) {
  std::vector<Signature> found;
  const int fd = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return found;
  if (Dwarf* dwarf = dwarf_begin(fd, DWARF_C_READ)) {
    Dwarf_Off at = 0;
    Dwarf_Off next = 0;
    std::size_t header = 0;
    while (dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0) {
      Dwarf_Die unit;
      if (dwarf_offdie(dwarf, at + header, &unit) != nullptr) walk(unit, unit, names, found);
      at = next;
    }
    dwarf_end(dwarf);
  }
  close(fd);
  return found;
}

}  // namespace tessera::cli
