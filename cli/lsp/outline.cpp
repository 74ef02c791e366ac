// The outline of a document: its macros, subs and kernels, and what subs declare.
#include <algorithm>

#include "cli/lsp/features.hpp"

namespace tessera::cli::lsp {
namespace {

using compiler::Index;
using compiler::Stretch;
using compiler::Symbol;

constexpr int kFunction = 12, kVariable = 13, kConstant = 14, kKey = 20;  // kinds of symbols

}  // namespace

Json document_symbols(const Spot& spot) {
  Json found = Json::array();
  if (!spot.indexed) return found;
  const Index& index = *spot.program->index;
  const Lines lines = index.files[spot.file].text;
  const auto entry = [&](const Symbol& s, int kind, const Stretch& whole) -> Json {
    const std::size_t end = std::max(whole.end, s.at.end);
    return {{"name", s.name},
            {"detail", s.signature},
            {"kind", kind},
            {"range", range_of(lines, std::min(whole.begin, s.at.begin), end)},
            {"selectionRange", range_of(lines, s.at.begin, s.at.end)}};
  };
  for (const MacroWord& m : macro_words(index)) {
    if (!m.defines || m.file != spot.file) continue;
    Symbol s;
    s.name = m.name;
    s.at = {m.file, m.begin, m.end, true};
    found.push_back(entry(s, kConstant, s.at));
  }
  for (const Symbol& s : index.symbols) {
    const bool callable =
        s.kind == Symbol::Kind::sub || s.kind == Symbol::Kind::import || s.kind == Symbol::Kind::kernel;
    if (!callable || s.at.file != spot.file) continue;
    Json one = entry(s, kFunction, s.whole);
    Json children = Json::array();
    for (const Symbol& inner : index.symbols) {
      const bool shown = inner.kind == Symbol::Kind::fragment || inner.kind == Symbol::Kind::label;
      if (s.kind != Symbol::Kind::sub || !shown || !s.whole.holds(inner.at.file, inner.at.begin)) continue;
      children.push_back(entry(inner, inner.kind == Symbol::Kind::label ? kKey : kVariable, inner.at));
    }
    if (!children.empty()) one["children"] = std::move(children);
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace tessera::cli::lsp
