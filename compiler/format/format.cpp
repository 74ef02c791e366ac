#include "compiler/format/format.hpp"

#include <algorithm>
#include <utility>

#include "compiler/diagnostics.hpp"
#include "compiler/format/pieces.hpp"
#include "compiler/source/preprocessor.hpp"
#include "compiler/syntax/lexer.hpp"
#include "compiler/syntax/parser.hpp"

namespace tessera::compiler::format {
namespace {

using Tokens = std::vector<std::pair<syntax::TokenKind, std::string>>;

// read parses `source` and returns the tokens it consists of, as the translator sees them.
Tokens read(const std::filesystem::path& source, const Options& options, Result& result) {
  Sources sources(&options.unsaved);
  MappedText text;
  Diagnostics diagnostics(sources, text);
  Tokens tokens;
  if (!sources.load(source)) {
    diagnostics.error("T100", Span{source.string(), 0, 0, 1}, "this file can't be read");
  } else if (Preprocessor(sources, diagnostics, options, text).run(0)) {
    std::vector<syntax::Token> all = syntax::lex(text, diagnostics);
    for (const syntax::Token& t : all) tokens.emplace_back(t.kind, t.text);
    syntax::Parser(std::move(all), diagnostics).program();
  }
  result.ok = !diagnostics.failed();
  for (Diagnostic& d : diagnostics.take()) {
    if (d.severity == Severity::error) result.diagnostics.push_back(std::move(d));
  }
  result.text = sources.size() == 0 ? "" : sources.file(0).text;
  return tokens;
}

// same_pieces compares what the translator did not read, too: comments, and text behind a false
// #ifdef.
bool same_pieces(std::string_view before, std::string_view after) {
  const auto kept = [](std::string_view text) {
    std::vector<Piece> all = pieces(text);
    all.erase(std::remove_if(all.begin(), all.end(), [](const Piece& p) { return p.is_space(); }), all.end());
    return all;
  };
  const std::vector<Piece> a = kept(before);
  const std::vector<Piece> b = kept(after);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Piece& x, const Piece& y) {
    return x.kind == y.kind && x.text.substr(0, y.text.size()) == y.text &&
           x.text.find_first_not_of(" \t", y.text.size()) == x.text.npos;
  });
}

}  // namespace

Result format(const std::filesystem::path& source, const Options& options) {
  Result result;
  const Tokens before = read(source, options, result);
  const std::string original = std::exchange(result.text, "");
  if (!result.ok) return result;
  std::string text = laid_out(original);
  std::error_code ignored;
  Options changed = options;
  changed.unsaved[std::filesystem::weakly_canonical(source, ignored)] = text;
  Result again;
  if (read(source, changed, again) != before || !again.ok || !same_pieces(original, text)) {
    result.ok = false;
    result.diagnostics.push_back({Severity::error,
                                  "",
                                  Span{source.string(), 1, 1, 1},
                                  "a bug in tessera: formatting would change what this file means; "
                                  "please report it",
                                  {}});
    return result;
  }
  result.changed = text != original;
  result.text = std::move(text);
  return result;
}

}  // namespace tessera::compiler::format
