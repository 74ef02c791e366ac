// The names of a program, where each is declared and where it is used: what an editor asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::compiler {

// Stretch is a half-open range of bytes of one of the index's files.
struct Stretch {
  std::uint32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool written = true;  // the bytes spell the name; false: it comes out of a macro that is used here

  bool holds(std::uint32_t f, std::uint32_t offset) const { return f == file && begin <= offset && offset <= end; }
};

struct Symbol {
  // index: `i` in `locator_cyclic x[i] => i`.
  enum class Kind : std::uint8_t { sub, import, kernel, fragment, parameter, counter, let, label, index };
  Kind kind = Kind::fragment;
  std::string name;
  std::string signature;  // as a person would declare it: "sub twice(int v, name x)", "int i"
  std::string external;   // import: the C function
  std::string producers;  // fragments and `name` parameters: who could assign them; may be empty
  Stretch at;             // its name, where it is declared
  Stretch reach;          // local names: where they can be used
  Stretch whole;          // sub, import, kernel: the declaration with its body
};

struct Reference {
  Stretch at;
  std::uint32_t symbol = 0;
  bool declares = false;
};

struct Index {
  struct File {
    std::filesystem::path path;
    std::string text;  // as it was translated
    bool library = false;
  };
  std::vector<File> files;            // the program first; includes in the order they were read
  std::vector<Symbol> symbols;        // in order of declaration
  std::vector<Reference> references;  // declarations too, in the order of the preprocessed text
  bool complete = false;              // nothing was left out because of a mistake in the text
};

}  // namespace tessera::compiler
