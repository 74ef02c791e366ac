// What the translator says, as the protocol wants it.
#include <algorithm>

#include "cli/lsp/features.hpp"

namespace tessera::cli::lsp {
namespace {

// Spans count bytes in lines that end with \n.
Json range(const Workspace& workspace, const compiler::Span& span) {
  const std::string text = workspace.text(span.file);
  std::size_t begin = 0;
  for (int line = 1; line < span.line && begin < text.size(); ++line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  begin = std::min(begin + static_cast<std::size_t>(std::max(span.column - 1, 0)), text.size());
  return range_of(text, begin, std::min(begin + static_cast<std::size_t>(span.length), text.size()));
}

}  // namespace

Json diagnostic(const Workspace& workspace, const compiler::Diagnostic& d) {
  using compiler::Severity;
  Json one = {{"range", range(workspace, d.span)},
              {"severity", d.severity == Severity::error     ? 1
                           : d.severity == Severity::warning ? 2
                                                             : 3},
              {"source", "tessera"},
              {"message", d.text}};
  if (!d.code.empty()) one["code"] = d.code;
  for (const compiler::Note& n : d.notes) {
    one["relatedInformation"].push_back(
        {{"location", {{"uri", workspace.uri(settled(n.span.file))}, {"range", range(workspace, n.span)}}},
         {"message", n.text}});
  }
  return one;
}

}  // namespace tessera::cli::lsp
