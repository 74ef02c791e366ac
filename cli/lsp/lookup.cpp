// What stands at a place: a piece of text, a name of the program, a macro.
#include <algorithm>

#include "cli/lsp/features.hpp"
#include "compiler/source/scan.hpp"

namespace tessera::cli::lsp {

using compiler::Index;
using compiler::Reference;
using compiler::Symbol;
using compiler::format::Piece;

Piece piece_at(const std::vector<Piece>& all, std::size_t offset) {
  Piece found;
  for (const Piece& p : all) {
    if (p.begin > offset) break;
    const bool touches = p.begin + p.text.size() >= offset;
    const bool word = p.kind == Piece::Kind::name || p.kind == Piece::Kind::keyword;
    if (touches && (found.text.empty() || word || p.begin + p.text.size() > offset)) {
      if (found.text.empty() || word || found.kind != Piece::Kind::name) found = p;
    }
  }
  return found;
}

const Reference* reference_at(const Spot& spot) {
  if (!spot.indexed) return nullptr;
  const Reference* best = nullptr;  // the declaration, where a macro makes several names of one use
  for (const Reference& r : spot.program->index->references) {
    if (!r.at.holds(spot.file, static_cast<std::uint32_t>(spot.offset))) continue;
    if (best == nullptr || r.at.end - r.at.begin < best->at.end - best->at.begin) best = &r;
  }
  return best;
}

const Symbol* import_at(const Spot& spot) {
  if (!spot.indexed) return nullptr;
  const Piece p = piece_at(compiler::format::pieces(spot.document->text), spot.offset);
  for (const Symbol& s : spot.program->index->symbols) {
    const bool here = s.kind == Symbol::Kind::import && s.external == p.text;
    if (here && s.whole.holds(spot.file, p.begin)) return &s;
  }
  return nullptr;
}

std::vector<MacroWord> macro_words(const Index& index) {
  std::vector<MacroWord> found;
  for (std::uint32_t file = 0; file < index.files.size(); ++file) {
    if (index.files[file].path.empty()) continue;
    for (const Piece& p : compiler::format::pieces(index.files[file].text)) {
      const auto add = [&](std::size_t from, std::size_t to, bool defines) {
        const auto at = static_cast<std::uint32_t>(p.begin);
        found.push_back({std::string(p.text.substr(from, to - from)), file, at + static_cast<std::uint32_t>(from),
                         at + static_cast<std::uint32_t>(to), defines});
      };
      if (p.kind == Piece::Kind::macro) add(1, p.text.size(), false);
      if (p.kind != Piece::Kind::directive) continue;
      const std::string_view word = compiler::format::directive_word(p);
      if (word != "define" && word != "undef" && word != "ifdef" && word != "ifndef") continue;
      std::size_t k = p.text.find(word) + word.size();
      while (k < p.text.size() && (p.text[k] == ' ' || p.text[k] == '\t')) ++k;
      const std::size_t end = compiler::end_of_name(p.text, k);
      if (end > k) add(k, end, word == "define");
      if (word != "define") continue;
      // `$NAME` in the body is a use, unless it is a parameter.
      std::vector<std::string_view> parameters;
      std::size_t body = end;
      if (p.text.substr(end, 1) == "(") {
        body = std::min(p.text.find(')', end), p.text.size());
        for (std::size_t j = end; j < body; ++j) {
          const std::size_t stop = compiler::end_of_name(p.text, j);
          if (stop > j) parameters.push_back(p.text.substr(j, stop - j));
          j = std::max(j, stop == j ? j : stop - 1);
        }
      }
      for (std::size_t j = p.text.find('$', body); j != p.text.npos; j = p.text.find('$', j + 1)) {
        const std::size_t stop = compiler::end_of_name(p.text, j + 1);
        const std::string_view name = p.text.substr(j + 1, stop - j - 1);
        if (name.empty() || std::find(parameters.begin(), parameters.end(), name) != parameters.end()) continue;
        add(j + 1, stop, false);
      }
    }
  }
  return found;
}

MacroWord macro_at(const Spot& spot) {
  if (!spot.indexed) return {};
  for (const MacroWord& m : macro_words(*spot.program->index)) {
    // The `$` belongs to the use.
    if (m.file == spot.file && m.begin <= spot.offset + 1 && spot.offset <= m.end) return m;
  }
  return {};
}

}  // namespace tessera::cli::lsp
