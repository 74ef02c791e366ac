// Recorder notes what each name means while the resolver finds out; only for editors, who ask for
// an index of the program. Without one the resolver does not look at it.
#pragma once

#include <string>
#include <vector>

#include "compiler/index.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::semantics {

class Recorder {
 public:
  struct Local {
    Symbol::Kind kind;
    std::string name;
    Extent at, reach;
    Extent value;                        // let: its expression
    const Variable* variable = nullptr;  // the resolver's, which outlives the recorder
  };
  struct Use {
    Extent at, declared;
  };
  struct Label {
    syntax::Word name;
    std::size_t sub;  // labels are known inside one sub
    bool declares;
  };

  void local(Local l) { locals.push_back(std::move(l)); }
  // use: the name at `at` means what was declared at `declared`.
  void use(Extent at, Extent declared) { uses.push_back({at, declared}); }
  void begin_sub() { ++sub; }
  void label(const syntax::Word& name, bool declares) { labels.push_back({name, sub, declares}); }

  std::vector<Local> locals;
  std::vector<Use> uses;
  std::vector<Label> labels;
  std::size_t sub = 0;
};

}  // namespace tessera::compiler::semantics
