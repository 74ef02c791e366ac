#include "compiler/semantics/repeated.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::compiler::semantics {
namespace {

// One declaration: `spelled` is equal for those that say the same.
struct Declared {
  const syntax::Word* name;
  std::string spelled;
};

// An import may name its parameters or not.
std::string spelled(const syntax::Import& i) {
  std::string text = "import " + i.symbol.text;
  for (const syntax::Parameter& p : i.parameters) text += std::string(" ") + syntax::spelling(p.type);
  return text;
}

template <class T>
void keep_last(std::vector<T>& all, const std::set<const syntax::Word*>& overridden, const syntax::Word T::*name) {
  std::vector<T> kept;
  for (T& t : all) {
    if (overridden.count(&(t.*name)) == 0) kept.push_back(std::move(t));
  }
  all = std::move(kept);
}

}  // namespace

void drop_repeated(syntax::Program& program, Diagnostics& diagnostics) {
  std::map<std::pair<bool, std::string>, std::vector<Declared>> by_name;  // library, name
  const auto add = [&](const syntax::Word& name, std::string text) {
    by_name[{diagnostics.in_library(name.at), name.text}].push_back({&name, std::move(text)});
  };
  for (const syntax::Sub& s : program.subs) add(s.name, s.spelled);
  for (const syntax::CxxSub& s : program.cxx_subs) add(s.name, s.spelled);
  for (const syntax::Import& i : program.imports) add(i.alias, spelled(i));

  std::set<const syntax::Word*> overridden;
  for (auto& [name, all] : by_name) {
    std::sort(all.begin(), all.end(),
              [](const Declared& a, const Declared& b) { return a.name->at.begin < b.name->at.begin; });
    for (std::size_t k = 1; k < all.size(); ++k) {
      overridden.insert(all[k - 1].name);
      if (all[k - 1].spelled == all[k].spelled) continue;
      diagnostics
          .warning("T202", all[k].name->at,
                   quote(name.second) +
                       " is declared again, and not as before: this one is used everywhere; give one of "
                       "them another name")
          .note(all[k - 1].name->at, "it was declared here, which is never used");
    }
  }
  if (!overridden.empty()) {
    keep_last(program.subs, overridden, &syntax::Sub::name);
    keep_last(program.cxx_subs, overridden, &syntax::CxxSub::name);
    keep_last(program.imports, overridden, &syntax::Import::alias);
  }
  std::set<std::string> heads;
  std::erase_if(program.heads, [&](const syntax::ForeignText& h) { return !heads.insert(h.text).second; });
}

}  // namespace tessera::compiler::semantics
