// Definition, references, hover, symbols of a document, formatting.
#include "cli/lsp/features.hpp"

#include <algorithm>

#include "cli/lsp/documentation.hpp"
#include "compiler/format/format.hpp"
#include "compiler/format/pieces.hpp"
#include "compiler/source/scan.hpp"

namespace tessera::cli::lsp {
namespace {

using compiler::Index;
using compiler::Reference;
using compiler::Stretch;
using compiler::Symbol;
using compiler::format::Piece;

constexpr int kFunction = 12, kVariable = 13, kConstant = 14, kKey = 20;  // kinds of symbols

Json location_in(const Workspace& workspace, const Index& index, const Stretch& s) {
  const Index::File& file = index.files[s.file];
  return location(workspace.uri(settled(file.path)), file.text, s.begin, s.end);
}

Json location_of(const Workspace& workspace, const CxxFunction& f) {
  return location(workspace.uri(settled(f.file)), workspace.text(f.file), f.begin, f.end);
}

// The piece of the document that the spot touches; a name rather than the sign beside it.
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

// The file that an #include names, when the spot is in that directive.
Json included(const Workspace& workspace, const Spot& spot) {
  const std::vector<Piece> all = compiler::format::pieces(spot.document->text);
  const Piece p = piece_at(all, spot.offset);
  if (p.kind != Piece::Kind::directive || compiler::format::directive_word(p) != "include")
    return nullptr;
  const std::size_t open = p.text.find('"');
  const std::size_t close = open == p.text.npos ? open : p.text.find('"', open + 1);
  if (close == p.text.npos) return nullptr;
  const std::filesystem::path name = p.text.substr(open + 1, close - open - 1);
  std::vector<std::filesystem::path> places = {spot.path.parent_path()};
  for (const auto& folder : workspace.options().include_path) places.push_back(folder);
  std::error_code ignored;
  for (const auto& folder : places) {
    const auto path = settled(folder / name);
    if (workspace.document(path) != nullptr || std::filesystem::is_regular_file(path, ignored)) {
      return location(workspace.uri(path), std::string_view(), 0, 0);
    }
  }
  return nullptr;
}

const CxxFunction* kernel_of(Kernels& kernels, const Index& index, const Symbol& s) {
  if (s.kind != Symbol::Kind::import || index.files.empty()) return nullptr;
  return kernels.find(settled(index.files[0].path).parent_path(), s.external);
}

// import_at returns the import whose C++ name is at the spot: that name is no name of the program.
const Symbol* import_at(const Spot& spot) {
  if (!spot.indexed) return nullptr;
  const Piece p = piece_at(compiler::format::pieces(spot.document->text), spot.offset);
  for (const Symbol& s : spot.program->index->symbols) {
    const bool here = s.kind == Symbol::Kind::import && s.external == p.text;
    if (here && s.whole.holds(spot.file, p.begin)) return &s;
  }
  return nullptr;
}

std::string what_it_is(const Symbol& s) {
  switch (s.kind) {
    case Symbol::Kind::parameter:
      return "parameter";
    case Symbol::Kind::counter:
      return "counter";
    case Symbol::Kind::index:
      return "index, bound in this advice";
    case Symbol::Kind::label:
      return "label of computation fragments";
    case Symbol::Kind::import:
      return "kernel from a C++ file";
    case Symbol::Kind::kernel:
      return "kernel written in place";
    default:
      return "";
  }
}

std::string fenced(const std::string& language, const std::string& code) {
  return "```" + language + "\n" + code + "\n```";
}

Json markdown(const std::vector<std::string>& parts, std::string_view text, std::size_t begin,
              std::size_t end) {
  std::string all;
  for (const std::string& part : parts) {
    if (!part.empty()) all += (all.empty() ? "" : "\n\n") + part;
  }
  return {{"contents", {{"kind", "markdown"}, {"value", all}}},
          {"range", range_of(text, begin, end)}};
}

}  // namespace

Json to_json(Position p) { return {{"line", p.line}, {"character", p.character}}; }

Json range_of(const Lines& lines, std::size_t begin, std::size_t end) {
  return {{"start", to_json(lines.at(begin))}, {"end", to_json(lines.at(end))}};
}

Json location(const std::string& uri, const Lines& lines, std::size_t begin, std::size_t end) {
  return {{"uri", uri}, {"range", range_of(lines, begin, end)}};
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

std::vector<MacroWord> macro_words(const Index& index) {
  std::vector<MacroWord> found;
  for (std::uint32_t file = 0; file < index.files.size(); ++file) {
    if (index.files[file].path.empty()) continue;
    for (const Piece& p : compiler::format::pieces(index.files[file].text)) {
      const auto add = [&](std::size_t from, std::size_t to, bool defines) {
        const auto at = static_cast<std::uint32_t>(p.begin);
        found.push_back({std::string(p.text.substr(from, to - from)), file,
                         at + static_cast<std::uint32_t>(from), at + static_cast<std::uint32_t>(to),
                         defines});
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
        if (name.empty() ||
            std::find(parameters.begin(), parameters.end(), name) != parameters.end())
          continue;
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

Json definition(Workspace& workspace, Kernels& kernels, const Spot& spot) {
  Json file = included(workspace, spot);
  if (!file.is_null()) return file;
  const MacroWord macro = macro_at(spot);
  if (!macro.name.empty()) {
    for (const MacroWord& m : macro_words(*spot.program->index)) {
      if (m.defines && m.name == macro.name) {
        return location_in(workspace, *spot.program->index, {m.file, m.begin, m.end, true});
      }
    }
  }
  const Index& index = *spot.program->index;
  const Reference* r = reference_at(spot);
  const Symbol* import = import_at(spot);
  if (r == nullptr && import == nullptr) return nullptr;
  const Symbol& s = r == nullptr ? *import : index.symbols[r->symbol];
  if (const CxxFunction* f = kernel_of(kernels, index, s)) return location_of(workspace, *f);
  return location_in(workspace, index, s.at);
}

Json references(Workspace& workspace, const Spot& spot, bool declaration) {
  const Index& index = *spot.program->index;
  std::vector<Stretch> places;
  const MacroWord macro = macro_at(spot);
  const Reference* at = reference_at(spot);
  if (!macro.name.empty()) {
    for (const MacroWord& m : macro_words(index)) {
      if (m.name != macro.name || (m.defines && !declaration)) continue;
      places.push_back({m.file, m.begin, m.end, true});
    }
  } else if (at != nullptr) {
    for (const Reference& r : index.references) {
      if (r.symbol == at->symbol && (declaration || !r.declares)) places.push_back(r.at);
    }
  }
  Json found = Json::array();
  std::map<std::uint32_t, Lines> lines;
  for (const Stretch& s : places) {
    const Index::File& file = index.files[s.file];
    const auto at_file = lines.try_emplace(s.file, file.text).first;
    found.push_back(location(workspace.uri(settled(file.path)), at_file->second, s.begin, s.end));
  }
  return found;
}

Json hover(Workspace& workspace, Kernels& kernels, const Spot& spot) {
  const std::string& text = spot.document->text;
  const MacroWord macro = macro_at(spot);
  if (!macro.name.empty()) {
    const Index& index = *spot.program->index;
    for (const MacroWord& m : macro_words(index)) {
      if (!m.defines || m.name != macro.name) continue;
      const std::string& file = index.files[m.file].text;
      for (const Piece& p : compiler::format::pieces(file)) {
        if (p.begin <= m.begin && m.begin < p.begin + p.text.size()) {
          return markdown({fenced("tessera", std::string(p.text)), comment_above(file, m.begin)},
                          text, macro.begin, macro.end);
        }
      }
    }
  }
  const Reference* r = reference_at(spot);
  const Symbol* import = r == nullptr ? import_at(spot) : nullptr;
  const Piece p = piece_at(compiler::format::pieces(text), spot.offset);
  if (r != nullptr || import != nullptr) {
    const Index& index = *spot.program->index;
    const Symbol& s = r == nullptr ? *import : index.symbols[r->symbol];
    const std::string& file = index.files[s.at.file].text;
    std::string comment = comment_above(file, s.at.begin);
    if (comment.empty() || s.kind == Symbol::Kind::parameter)
      comment = comment_behind(file, s.at.begin);
    std::string producers;
    if (!s.producers.empty()) producers = "assigned by " + s.producers;
    std::string cxx, cxx_comment;
    if (const CxxFunction* f = kernel_of(kernels, index, s)) {
      cxx = fenced("cpp", f->signature);
      cxx_comment = f->documentation;
    }
    return markdown(
        {fenced("tessera", s.signature), what_it_is(s), comment, producers, cxx, cxx_comment}, text,
        r->at.begin, r->at.end);
  }
  for (const Explained* list : {&keyword_words(), &advice_words()}) {
    const bool fits = (p.kind == Piece::Kind::keyword) == (list == &keyword_words());
    const std::string said = explanation(*list, p.text);
    if (fits && !said.empty() && !p.text.empty()) {
      return markdown({said}, text, p.begin, p.begin + p.text.size());
    }
  }
  return nullptr;
}

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
    const bool callable = s.kind == Symbol::Kind::sub || s.kind == Symbol::Kind::import ||
                          s.kind == Symbol::Kind::kernel;
    if (!callable || s.at.file != spot.file) continue;
    Json one = entry(s, kFunction, s.whole);
    Json children = Json::array();
    for (const Symbol& inner : index.symbols) {
      const bool shown = inner.kind == Symbol::Kind::fragment || inner.kind == Symbol::Kind::label;
      if (s.kind != Symbol::Kind::sub || !shown || !s.whole.holds(inner.at.file, inner.at.begin))
        continue;
      children.push_back(
          entry(inner, inner.kind == Symbol::Kind::label ? kKey : kVariable, inner.at));
    }
    if (!children.empty()) one["children"] = std::move(children);
    found.push_back(std::move(one));
  }
  return found;
}

Json formatting(Workspace& workspace, const Spot& spot) {
  const compiler::format::Result result = compiler::format::format(spot.path, workspace.options());
  if (!result.ok) return nullptr;  // the mistakes are shown already
  if (!result.changed) return Json::array();
  // Only the lines that change, so that the cursor stays where it is.
  const std::string& before = spot.document->text;
  const std::string& after = result.text;
  const std::size_t most = std::min(before.size(), after.size());
  std::size_t front = 0;
  while (front < most && before[front] == after[front]) ++front;
  std::size_t back = 0;
  while (back < most - front && before[before.size() - 1 - back] == after[after.size() - 1 - back])
    ++back;
  const auto in_character = [&](std::size_t at) {
    return at < before.size() && (static_cast<unsigned char>(before[at]) & 0xC0u) == 0x80u;
  };
  while (front > 0 && (in_character(front) || before[front - 1] != '\n')) --front;
  while (back > 0 && before[before.size() - back - 1] != '\n') --back;
  return Json::array({{{"range", range_of(before, front, before.size() - back)},
                       {"newText", after.substr(front, after.size() - back - front)}}});
}

}  // namespace tessera::cli::lsp
