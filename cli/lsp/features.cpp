// Definition, references, hover, formatting.
#include "cli/lsp/features.hpp"

#include <algorithm>

#include "cli/lsp/documentation.hpp"
#include "compiler/format/format.hpp"

namespace tessera::cli::lsp {
namespace {

using compiler::Index;
using compiler::Reference;
using compiler::Stretch;
using compiler::Symbol;
using compiler::format::Piece;

Json location_in(const Workspace& workspace, const Index& index, const Stretch& s) {
  const Index::File& file = index.files[s.file];
  return location(workspace.uri(settled(file.path)), file.text, s.begin, s.end);
}

Json location_of(const Workspace& workspace, const CxxFunction& f) {
  return location(workspace.uri(settled(f.file)), workspace.text(f.file), f.begin, f.end);
}

// The file that an #include names, when the spot is in that directive.
Json included(const Workspace& workspace, const Spot& spot) {
  const std::vector<Piece> all = compiler::format::pieces(spot.document->text);
  const Piece p = piece_at(all, spot.offset);
  if (p.kind != Piece::Kind::directive || compiler::format::directive_word(p) != "include") return nullptr;
  const std::size_t open = p.text.find_first_of("\"<");
  const bool library = open != p.text.npos && p.text[open] == '<';
  const std::size_t close = open == p.text.npos ? open : p.text.find(library ? '>' : '"', open + 1);
  if (close == p.text.npos) return nullptr;
  const std::filesystem::path name = p.text.substr(open + 1, close - open - 1);
  std::vector<std::filesystem::path> places = {spot.path.parent_path()};
  for (const auto& folder : workspace.options().include_path) places.push_back(folder);
  if (library) places = {workspace.options().library};
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
  const Index::File& file = index.files[index.files[s.at.file].library ? s.at.file : 0];
  return kernels.find(settled(file.path).parent_path(), s.external);
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

Json markdown(const std::vector<std::string>& parts, std::string_view text, std::size_t begin, std::size_t end) {
  std::string all;
  for (const std::string& part : parts) {
    if (!part.empty()) all += (all.empty() ? "" : "\n\n") + part;
  }
  return {{"contents", {{"kind", "markdown"}, {"value", all}}}, {"range", range_of(text, begin, end)}};
}

}  // namespace

Json to_json(Position p) { return {{"line", p.line}, {"character", p.character}}; }

Json range_of(const Lines& lines, std::size_t begin, std::size_t end) {
  return {{"start", to_json(lines.at(begin))}, {"end", to_json(lines.at(end))}};
}

Json location(const std::string& uri, const Lines& lines, std::size_t begin, std::size_t end) {
  return {{"uri", uri}, {"range", range_of(lines, begin, end)}};
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
          return markdown({fenced("tessera", std::string(p.text)), comment_above(file, m.begin)}, text, macro.begin,
                          macro.end);
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
    if (comment.empty() || s.kind == Symbol::Kind::parameter) comment = comment_behind(file, s.at.begin);
    std::string producers;
    if (!s.producers.empty()) producers = "assigned by " + s.producers;
    std::string cxx, cxx_comment;
    if (const CxxFunction* f = kernel_of(kernels, index, s)) {
      cxx = fenced("cpp", f->signature);
      cxx_comment = f->documentation;
    }
    return markdown({fenced("tessera", s.signature), what_it_is(s), comment, producers, cxx, cxx_comment}, text,
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
  while (back < most - front && before[before.size() - 1 - back] == after[after.size() - 1 - back]) ++back;
  const auto in_character = [&](std::size_t at) {
    return at < before.size() && (static_cast<unsigned char>(before[at]) & 0xC0u) == 0x80u;
  };
  while (front > 0 && (in_character(front) || before[front - 1] != '\n')) --front;
  while (back > 0 && before[before.size() - back - 1] != '\n') --back;
  return Json::array({{{"range", range_of(before, front, before.size() - back)},
                       {"newText", after.substr(front, after.size() - back - front)}}});
}

}  // namespace tessera::cli::lsp
