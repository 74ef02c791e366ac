// Rename. What a name means after it is not guessed: the changed texts are translated, and every
// reference must be bound as it was.
#include <algorithm>
#include <map>

#include "cli/lsp/features.hpp"
#include "compiler/format/pieces.hpp"
#include "compiler/source/scan.hpp"
#include "compiler/syntax/token.hpp"

namespace tessera::cli::lsp {
namespace {

using compiler::Index;
using compiler::Reference;
using compiler::Stretch;
using compiler::Symbol;
using compiler::format::Piece;

struct Edit {
  std::uint32_t begin, end;
  std::string text;
  friend auto operator<=>(const Edit&, const Edit&) = default;
};
using Edits = std::map<std::uint32_t, std::vector<Edit>>;  // by file of the index

RequestError refused(const std::string& why) { return {kRequestFailed, why}; }

std::string quoted(const std::string& name) { return "`" + name + "`"; }

std::string line_of(const Index& index, const Stretch& s) {
  const Index::File& file = index.files[s.file];
  return file.path.filename().string() + ":" + std::to_string(Lines(file.text).at(s.begin).line + 1);
}

// A parameter of a kernel written in place: its C++ text uses the name as well.
bool is_kernel_parameter(const Index& index, const Symbol& s) {
  return s.kind == Symbol::Kind::parameter &&
         std::any_of(index.symbols.begin(), index.symbols.end(), [&](const Symbol& k) {
           return k.kind == Symbol::Kind::kernel && k.whole.holds(s.at.file, s.at.begin);
         });
}

// `import f(int);` without `as`: the name of the C++ function stays, behind it comes `as NEW`.
Edit as_clause(const Index& index, const Symbol& s, const std::string& to) {
  int depth = 0;
  for (const Piece& p : compiler::format::pieces(index.files[s.at.file].text)) {
    if (p.begin < s.at.end) continue;
    if (p.is("(")) ++depth;
    if (p.is(")") && --depth == 0) {
      const auto end = p.begin + static_cast<std::uint32_t>(p.text.size());
      return {end, end, " as " + to};
    }
  }
  throw refused("this import is not complete");
}

Edits edits_of_symbol(const Index& index, const Reference& at, const std::string& to) {
  const Symbol& s = index.symbols[at.symbol];
  if (is_kernel_parameter(index, s)) {
    throw refused(quoted(s.name) + " is used in the C++ text of its kernel: rename it there, too, by hand");
  }
  const bool plain_import = s.kind == Symbol::Kind::import && s.signature.find(" as ") == s.signature.npos;
  Edits edits;
  for (const Reference& r : index.references) {
    if (r.symbol != at.symbol) continue;
    if (!r.at.written) {
      throw refused(quoted(s.name) + " comes out of a macro at " + line_of(index, r.at) + ": rename it there, by hand");
    }
    edits[r.at.file].push_back(plain_import && r.declares ? as_clause(index, s, to) : Edit{r.at.begin, r.at.end, to});
  }
  return edits;
}

Edits edits_of_macro(const Index& index, const std::string& name, const std::string& to) {
  Edits edits;
  bool defined = false;
  for (const MacroWord& m : macro_words(index)) {
    if (m.name == to) {
      throw refused("there is a macro " + quoted(to) + " already, at " + line_of(index, {m.file, m.begin, m.end}));
    }
    if (m.name == name) edits[m.file].push_back({m.begin, m.end, to});
    defined = defined || (m.name == name && m.defines);
  }
  if (!defined) throw refused("the program does not define " + quoted(name));
  return edits;
}

std::string applied(const std::string& text, const std::vector<Edit>& edits) {
  std::string out;
  std::size_t from = 0;
  for (const Edit& e : edits) {
    out.append(text, from, e.begin - from);
    out += e.text;
    from = e.end;
  }
  return out.append(text, from);
}

// same_meaning: each reference is bound to the same declaration, in order.
bool same_meaning(const Index& a, const Index& b) {
  if (!b.complete || a.symbols.size() != b.symbols.size()) return false;
  for (std::size_t k = 0; k < a.symbols.size(); ++k) {
    if (a.symbols[k].kind != b.symbols[k].kind || a.symbols[k].external != b.symbols[k].external) return false;
  }
  return std::equal(a.references.begin(), a.references.end(), b.references.begin(), b.references.end(),
                    [](const Reference& x, const Reference& y) {
                      return x.symbol == y.symbol && x.declares == y.declares && x.at.file == y.at.file;
                    });
}

void verify(const Workspace& workspace, const Program& program, const Edits& edits, const std::string& to) {
  const Index& index = *program.index;
  compiler::Options options = workspace.options();
  for (const auto& [file, list] : edits) {
    options.unsaved[settled(index.files[file].path)] = applied(index.files[file].text, list);
  }
  const compiler::Output after = compiler::translate(index.files[0].path, options);
  std::string why;
  for (const compiler::Diagnostic& d : after.diagnostics) {
    if (why.empty() && d.severity == compiler::Severity::error) why = ": " + d.text;
  }
  if (!after.ok || !after.index || !same_meaning(index, *after.index)) {
    throw refused(quoted(to) + " would mean something else in this program" + why);
  }
}

// Text that is not read, behind an #ifdef, may use the name as well.
std::string unread(const Index& index, const std::string& name) {
  for (std::uint32_t file = 0; file < index.files.size(); ++file) {
    if (index.files[file].path.empty() || index.files[file].library) continue;
    for (const Piece& p : compiler::format::pieces(index.files[file].text)) {
      if (p.kind != Piece::Kind::name || p.text != name) continue;
      const bool bound = std::any_of(index.references.begin(), index.references.end(),
                                     [&](const Reference& r) { return r.at.file == file && r.at.begin == p.begin; });
      const Stretch at{file, p.begin, p.begin + 1, true};
      if (!bound)
        return quoted(name) + " also stands at " + line_of(index, at) +
               ", in text that is not read now; look at it yourself";
    }
  }
  return "";
}

}  // namespace

Json prepare_rename(const Spot& spot) {
  const std::string& text = spot.document->text;
  if (const MacroWord m = macro_at(spot); !m.name.empty()) {
    return {{"range", range_of(text, m.begin, m.end)}, {"placeholder", m.name}};
  }
  const Reference* r = reference_at(spot);
  if (r == nullptr || !r->at.written) return nullptr;
  return {{"range", range_of(text, r->at.begin, r->at.end)},
          {"placeholder", spot.program->index->symbols[r->symbol].name}};
}

Json rename(Workspace& workspace, const Spot& spot, const std::string& to, std::string& warning) {
  const Program& program = *spot.program;
  const Index& index = *program.index;
  const MacroWord macro = macro_at(spot);
  const Reference* at = reference_at(spot);
  if (macro.name.empty() && at == nullptr) throw refused("there is no name of the program here");
  if (to.empty() || compiler::end_of_name(to, 0) != to.size()) {
    throw RequestError(kInvalidParams, quoted(to) + " is not a name: letters, digits and _, a letter first");
  }
  if (compiler::syntax::is_keyword(to)) throw RequestError(kInvalidParams, quoted(to) + " is a keyword");
  if (!program.output.ok) throw refused("the program has mistakes; rename when they are gone");
  const std::string from = macro.name.empty() ? index.symbols[at->symbol].name : macro.name;
  if (from == to) return {{"changes", Json::object()}};
  Edits edits = macro.name.empty() ? edits_of_symbol(index, *at, to) : edits_of_macro(index, macro.name, to);
  for (const auto& entry : edits) {
    if (index.files[entry.first].library) throw refused(quoted(from) + " belongs to the standard library");
  }
  for (auto& entry : edits) {  // a macro's argument that is used twice is written once
    std::vector<Edit>& list = entry.second;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  verify(workspace, program, edits, to);
  if (macro.name.empty()) warning = unread(index, from);
  Json changes = Json::object();
  for (const auto& [file, list] : edits) {
    Json all = Json::array();
    const Lines lines = index.files[file].text;
    for (const Edit& e : list) {
      all.push_back({{"range", range_of(lines, e.begin, e.end)}, {"newText", e.text}});
    }
    changes[workspace.uri(settled(index.files[file].path))] = std::move(all);
  }
  return {{"changes", std::move(changes)}};
}

}  // namespace tessera::cli::lsp
