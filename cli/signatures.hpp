// The C functions of a linked program as its compiler described them (DWARF): what a caller must
// pass, and where they are written. No second compilation, and typedefs do not matter.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace tessera::cli {

// How an argument is passed, as far as kernels are concerned.
enum class Passed {
  integer,         // int or unsigned, 32 bits, or an enumeration of that size
  long_integer,    // 64 bits
  real,            // double
  long_ref,        // const long &
  integer_ref,     // const int &: the address of one
  real_ref,        // const double &
  text,            // char *, const or not
  fragment,        // a DF, or a class derived from it: by reference, by pointer, or by value, which
                   // for such a class is a reference too
  const_fragment,  // the same, const
  unknown,         // not described: anything may be right
  other,
};

// Where the machine passes it.
enum class Register { general, floating, other };

struct Signature {
  std::string name;
  std::filesystem::path file;
  int line = 0;
  int column = 0;
  struct Parameter {
    Passed passed = Passed::unknown;
    Register where = Register::other;
    std::string text;  // the type as written: `const InputDF &`
  };
  std::vector<Parameter> parameters;
  bool variadic = false;
};

// read_signatures lists the functions with C names among `names` that `program`, an executable or
// shared object, defines; without those that were compiled without debug information.
std::vector<Signature> read_signatures(const std::filesystem::path& program, const std::set<std::string>& names);

}  // namespace tessera::cli
