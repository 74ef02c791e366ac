// What the server can say about a place: each function answers one kind of request, with the JSON
// that the protocol wants.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cli/lsp/kernels.hpp"
#include "cli/lsp/text.hpp"
#include "cli/lsp/workspace.hpp"
#include "compiler/format/pieces.hpp"

namespace tessera::cli::lsp {

using Json = nlohmann::json;

// A request that can't be answered; `what` is shown to the person.
struct RequestError : std::runtime_error {
  RequestError(int c, const std::string& text) : std::runtime_error(text), code(c) {}
  int code;
};
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kRequestFailed = -32803;

Json diagnostic(const Workspace& workspace, const compiler::Diagnostic& d);
Json definition(Workspace& workspace, Kernels& kernels, const Spot& spot);
Json references(Workspace& workspace, const Spot& spot, bool declaration);
Json hover(Workspace& workspace, Kernels& kernels, const Spot& spot);
Json completion(const Spot& spot);
Json document_symbols(const Spot& spot);
Json formatting(Workspace& workspace, const Spot& spot);
Json prepare_rename(const Spot& spot);
// rename; `warning` gets what the person should look at.
Json rename(Workspace& workspace, const Spot& spot, const std::string& to, std::string& warning);

Json to_json(Position p);
Json range_of(const Lines& lines, std::size_t begin, std::size_t end);
Json location(const std::string& uri, const Lines& lines, std::size_t begin, std::size_t end);

// piece_at returns the piece that `offset` touches; a name rather than the sign beside it.
compiler::format::Piece piece_at(const std::vector<compiler::format::Piece>& all, std::size_t offset);

// reference_at returns the name of the program at the spot, or null.
const compiler::Reference* reference_at(const Spot& spot);

// import_at returns the import whose C++ name is at the spot: that is no name of the program.
const compiler::Symbol* import_at(const Spot& spot);

// A macro: its name in a directive or in `$NAME`.
struct MacroWord {
  std::string name;
  std::uint32_t file = 0, begin = 0, end = 0;  // without the `$`
  bool defines = false;                        // in #define
};
// macro_words lists every mention of a macro in the program's files, those in bodies of macros
// included.
std::vector<MacroWord> macro_words(const compiler::Index& index);
// macro_at returns the mention at the spot; an empty name when there is none.
MacroWord macro_at(const Spot& spot);

}  // namespace tessera::cli::lsp
