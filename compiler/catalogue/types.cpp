// T220 .. T239: types of expressions, limits.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kTypesEntries[] = {
    {"T220", "operator-types", Severity::error, "an operator can't be applied to these types",
     R"(Strings can be joined by `+` (also with an int or a data fragment) and compared by `==` and `!=`. `%` is for ints.
Convert with `int(e)`, `real(e)` or `string(e)`.)",
     R"(show(7 % 2.5);)", R"(show(7 % int(2.5));)"},
    {"T221", "choice-types", Severity::error, "the two values of `?` have different types",
     R"(Both values of `c ? a : b` are numbers, or both are strings. Convert one.)",
     R"(C++ sub print(string s) ${{ puts(s); $}}
sub main(int n) { print(n > 1 ? "many" : n); })",
     R"(C++ sub print(string s) ${{ puts(s); $}}
sub main(int n) { print(n > 1 ? "many" : string(n)); })"},
    {"T222", "condition-type", Severity::error, "a condition is a string",
     R"(A condition is a number: it holds when it is not 0. Compare the string: `s == "yes"`.)",
     R"(sub main(string s) { if s show(1); })", R"(sub main(string s) { if s == "yes" show(1); })"},
    {"T223", "index-type", Severity::error, "an index, a bound or a locator is a string",
     R"(Indices, bounds of `for`, the start of `while`, locators and counts of reads are ints. Convert with `int(e)`.)",
     R"(sub main(string s) { for i = 1..s show(i); })", R"(sub main(string s) { for i = 1..int(s) show(i); })"},
    {"T224", "boolean-as-int", Severity::warning, "the result of a comparison is used as an int",
     R"(`0 < x < N` is `(0 < x) < N`: it compares 0 or 1 with `N`. Write `0 < x && x < N`; if the 0 or 1 is meant, put it
in brackets. In a bound, an index or a sum (`1 + (x < N)`) write `int(x < N)` if it is meant.)",
     R"(for i = 1..9
  if 2 < i < 5 show(i);)",
     R"(for i = 1..9
  if 2 < i && i < 5 show(i);)"},
    {"T225", "real-bound", Severity::warning, "a bound of a loop is a real",
     R"(Bounds of `for` and the start of `while` are ints: of a real the part behind the point is dropped, so `0..2.7` ends with 2.
Write `int(..)` if that is meant.)",
     R"(for i = 0..2.7 show(i);)", R"(for i = 0..int(2.7) show(i);)"},
    {"T230", "too-many-variables", Severity::error, "a block uses too many variables and data fragments",
     R"(A fragment's frame holds at most 60000 words; a data fragment's name takes three. Split the sub, or use one name
with indices in place of many names.)",
     R"(tessera check many_names.fa)", "", Entry::By::command},
};

std::span<const Entry> type_entries() { return kTypesEntries; }

}  // namespace tessera::compiler
