// Completion: what can stand at the cursor, judged by the pieces before it and the names in reach.
#include <algorithm>
#include <set>

#include "cli/lsp/documentation.hpp"
#include "cli/lsp/features.hpp"
#include "compiler/format/pieces.hpp"
#include "compiler/syntax/token.hpp"

namespace tessera::cli::lsp {
namespace {

using compiler::Index;
using compiler::Symbol;
using compiler::format::Piece;

constexpr int kFunctionItem = 3, kVariableItem = 6, kPropertyItem = 10, kKeywordItem = 14, kConstantItem = 21;  // kinds

enum class Context { nothing, code, advice, pragma, macro, directive };

// What the cursor stands in.
Context context_at(const std::string& text, std::size_t offset) {
  const std::vector<Piece> all = compiler::format::pieces(text);
  std::vector<bool> braces;  // whether each open one is advice
  bool at = false, pragma = false;
  for (const Piece& p : all) {
    const std::size_t end = p.begin + p.text.size();
    if (p.begin >= offset) break;
    const bool inside = offset < end || (offset == end && end == text.size() && p.kind != Piece::Kind::blank);
    if (p.kind == Piece::Kind::directive && offset <= end) {
      const std::string_view before = p.text.substr(0, offset - p.begin);
      if (before.find('#') == before.npos) return Context::nothing;
      const std::string_view word = compiler::format::directive_word(p);
      const std::size_t begin = p.text.find(word, p.text.find('#') + 1);
      if (offset - p.begin <= begin + word.size()) return Context::directive;
      if (word == "ifdef" || word == "ifndef" || word == "undef") return Context::macro;
      const std::size_t dollar = before.rfind('$');
      const bool use = dollar != before.npos && before.find_first_of(" \t()+-*/,", dollar) == before.npos;
      return use ? Context::macro : Context::nothing;
    }
    if (p.is_comment() &&
        (offset < end || p.kind == Piece::Kind::line_comment || (inside && p.text.substr(p.text.size() - 1) != "/"))) {
      if (offset <= end) return Context::nothing;
    }
    if ((p.kind == Piece::Kind::string || p.kind == Piece::Kind::foreign) && inside) {
      const bool closed =
          offset == end && p.text.size() > 1 &&
          (p.kind == Piece::Kind::foreign ? p.text.substr(p.text.size() - 3) == "$}}" : p.text.back() == '"');
      if (!closed) return Context::nothing;
    }
    if ((p.kind == Piece::Kind::macro || p.text == "$") && offset <= end) return Context::macro;
    if (p.kind == Piece::Kind::number && offset <= end) return Context::nothing;
    if (p.is("{")) braces.push_back(at);
    if (p.is("}") && !braces.empty()) braces.pop_back();
    if (p.is("<<")) pragma = true;
    if (p.is(">>") || p.is(",") || p.is(";")) pragma = false;
    if (!p.is_space() && !p.is_comment()) at = p.is("@");
  }
  if (pragma) return Context::pragma;
  return !braces.empty() && braces.back() ? Context::advice : Context::code;
}

class Items {
 public:
  void add(const std::string& label, int kind, const std::string& detail, const std::string& said) {
    if (label.empty() || !seen_.insert(label).second) return;
    Json item = {{"label", label}, {"kind", kind}};
    if (!detail.empty()) item["detail"] = detail;
    if (!said.empty()) item["documentation"] = {{"kind", "markdown"}, {"value", said}};
    all_.push_back(std::move(item));
  }
  void add(const Explained& words, int kind) {
    for (const auto& [word, said] : words) add(word, kind, "", said);
  }
  Json take() { return std::move(all_); }

 private:
  Json all_ = Json::array();
  std::set<std::string> seen_;
};

// The names of `index` that can be used at the spot; inner ones first, since they hide outer ones.
void add_names(const Index& index, const Spot& spot, Items& items) {
  const auto file = number_of(index, spot.path);
  if (!file) return;
  const std::string& text = index.files[*file].text;
  const auto at = static_cast<std::uint32_t>(moved(spot.document->text, text, spot.offset));
  std::vector<const Symbol*> local, global;
  for (const Symbol& s : index.symbols) {
    const bool callable =
        s.kind == Symbol::Kind::sub || s.kind == Symbol::Kind::import || s.kind == Symbol::Kind::kernel;
    if (callable) global.push_back(&s);
    if (!callable && s.kind != Symbol::Kind::label && s.reach.holds(*file, at)) local.push_back(&s);
  }
  std::stable_sort(local.begin(), local.end(), [](const Symbol* a, const Symbol* b) {
    return a->reach.end - a->reach.begin < b->reach.end - b->reach.begin;
  });
  local.insert(local.end(), global.begin(), global.end());
  for (const Symbol* s : local) {
    const std::string& source = index.files[s->at.file].text;
    const bool callable =
        s->kind == Symbol::Kind::sub || s->kind == Symbol::Kind::import || s->kind == Symbol::Kind::kernel;
    items.add(s->name, callable ? kFunctionItem : kVariableItem, s->signature, comment_above(source, s->at.begin));
  }
}

}  // namespace

Json completion(const Spot& spot) {
  Items items;
  const Context context = context_at(spot.document->text, spot.offset);
  const Program& program = *spot.program;
  switch (context) {
    case Context::nothing:
      break;
    case Context::directive:
      items.add(directive_words(), kKeywordItem);
      break;
    case Context::pragma:
      items.add(pragma_words(), kPropertyItem);
      break;
    case Context::macro:
      for (const Index* index : {program.index.get(), program.complete.get()}) {
        if (index == nullptr) continue;
        for (const MacroWord& m : macro_words(*index)) {
          if (m.defines) items.add(m.name, kConstantItem, "macro", comment_above(index->files[m.file].text, m.begin));
        }
      }
      break;
    case Context::advice:
      items.add(advice_words(), kPropertyItem);
      [[fallthrough]];
    case Context::code:
      add_names(*program.index, spot, items);
      // While a statement is being typed its sub may be unreadable: what was known before it was.
      if (!program.index->complete && program.complete) add_names(*program.complete, spot, items);
      if (context == Context::advice) break;
      items.add(keyword_words(), kKeywordItem);
      for (const std::string_view word : compiler::syntax::keywords())
        items.add(std::string(word), kKeywordItem, "", "");
  }
  return {{"isIncomplete", false}, {"items", items.take()}};
}

}  // namespace tessera::cli::lsp
