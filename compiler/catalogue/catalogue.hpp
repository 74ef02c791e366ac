// The catalogue of diagnostics: every code that Tessera emits, with the text of `tessera explain
// CODE` and of docs/diagnostics.md. This table is the only place where a code is described; tests
// hold it against what is emitted.
//
//   T1xx syntax and preprocessor    T2xx names and types    T3xx data flow    T4xx run time
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compiler.hpp"

namespace tessera::compiler {

// Entry describes one code. `wrong` and `right` are programs, or statements of a `sub main` that
// may use the kernels init(int, name) and show(int). Tests translate, build or run them: the first
// must give this code, the second must be silent.
struct Entry {
  // Who finds it. `command`: `wrong` is a command line, and there is no `right`.
  enum class By { translator, command, build, run };

  std::string_view code;  // "T206"; never used again for anything else
  std::string_view name;  // for -Wno-NAME: "unknown-name"
  Severity severity = Severity::error;
  std::string_view title;  // a few words, no full stop
  std::string_view text;   // what it means and what to do, paragraphs of Markdown
  std::string_view wrong;
  std::string_view right;
  By by = By::translator;
};

// catalogue returns all entries in order of their codes.
const std::vector<Entry>& catalogue();

// find_entry knows codes ("T206", also "t206") and names ("unknown-name"); null when there is none.
const Entry* find_entry(std::string_view code_or_name);

// explanation is what `tessera explain CODE` prints, catalogue_list what `tessera explain` prints.
std::string explanation(const Entry&);
std::string catalogue_list();

// catalogue_page is docs/diagnostics.md.
std::string catalogue_page();

// complete makes an entry's example a whole program.
std::string complete(std::string_view example);

// The parts of the catalogue, one file each.
std::span<const Entry> preprocessor_entries();
std::span<const Entry> syntax_entries();
std::span<const Entry> name_entries();
std::span<const Entry> type_entries();
std::span<const Entry> advice_entries();
std::span<const Entry> unused_entries();
std::span<const Entry> flow_entries();
std::span<const Entry> run_time_entries();

}  // namespace tessera::compiler
