// Macros: `#define NAME body`, `#define NAME(a, b) body`, used as `$NAME` and `$NAME(x, y)`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diagnostics.hpp"
#include "compiler/source/mapped_text.hpp"

namespace tessera::compiler {

struct Macro {
  bool has_parameters = false;
  std::vector<std::string> parameters;
  std::string body;
  Place defined;
  std::shared_ptr<const Note> note = nullptr;  // what it stands for, for who meets a mistake in that
};

// MacroExpander holds the macros defined so far and substitutes their uses.
//
// Before: `init($N + 1, x);` with `#define N 10`. After: `init(10 + 1, x);`, where `10` comes from
// the place of `$N`. Arguments are expanded before they are put into the body, the result is
// expanded again; a macro met inside its own expansion is an error. Strings and foreign blocks are
// copied as they are.
class MacroExpander {
 public:
  MacroExpander(const Sources& sources, Diagnostics& diagnostics) : sources_(sources), diagnostics_(diagnostics) {}

  void define(std::string name, Macro macro);
  void undefine(std::string_view name);
  bool defined(std::string_view name) const { return macros_.find(name) != macros_.end(); }

  // expand appends `in` with all uses substituted to `out`.
  void expand(const MappedText& in, MappedText& out);

  // too_much: expansion made more text than any program needs; what follows is left out.
  bool too_much() const { return too_much_; }

 private:
  struct Arguments {
    std::vector<MappedText> list;
    std::size_t after = 0;  // behind the closing bracket
    bool closed = false;
  };
  // use substitutes the macro use whose `$` is at `pos`; returns the offset behind it.
  std::size_t use(const MappedText& in, std::size_t pos, MappedText& out);
  static Arguments arguments(const MappedText& in, std::size_t open);
  MappedText with_arguments(const Macro& macro, const std::vector<MappedText>& values, Place use);
  void error(std::string_view code, Place place, std::string text);

  const Sources& sources_;
  Diagnostics& diagnostics_;
  std::map<std::string, Macro, std::less<>> macros_;
  std::vector<std::string> active_;  // the macros being expanded now, outermost first
  std::size_t produced_ = 0;
  std::size_t uses_ = 0;   // macros used by the outermost one that is being expanded
  std::size_t depth_ = 0;  // of macros in arguments of macros         // bytes made by expansion so far
  bool too_much_ = false;
};

}  // namespace tessera::compiler
