// T120 .. T199: what the lexer and the parser refuse.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kSyntaxEntries[] = {
    {"T120", "bad-number", Severity::error, "a word that is neither a number nor a name",
     R"(Names begin with a letter or an underscore. Numbers are `12`, `0.5`, `1.5e-3`.)", R"(show(2x);)",
     R"(show(2);)"},
    {"T121", "stray-character", Severity::error, "a character that means nothing here",
     R"(The language has no such sign. `&&` and `||` are doubled, strings stand in double quotes, a range is written
`first .. last`.)",
     R"(for i = 1..9 if i < 3 | i > 7 show(i);)", R"(for i = 1..9 if i < 3 || i > 7 show(i);)"},
    {"T122", "too-many-includes", Severity::error, "includes never end, or bring too much text",
     R"(A program has at most 10000 includes and 16 MiB of included text. Files that include others twice double the text at
each step: put `#ifndef NAME`, `#define NAME`, `#endif` around the text of a file, so that it is inserted once.)",
     R"(tessera check a_file_that_includes_others_twice.fa)", "", Entry::By::command},
    {"T130", "nested-too-deeply", Severity::error, "brackets, blocks or an expression are nested too deeply",
     R"(At most 200 constructs may stand inside each other, and an expression has as many levels at most. Name parts of
it with `let`, or move inner blocks into a `sub`.)",
     R"(#define D(x) ((((((((((($x)))))))))))
#define E(x) $D($D($D($D($D($x)))))
sub main() { show($E($E($E($E($E(1)))))); })",
     R"(show(((1)));)"},
    {"T131", "unexpected", Severity::error, "something else was expected here",
     R"(The message says what can stand here and what was found. Often a bracket, a comma or a name is missing just
before.)",
     R"(show(1 + );)", R"(show(1 + 2);)"},
    {"T132", "missing-semicolon", Severity::error, "a `;` is missing",
     R"(Calls, imports, `df` and each rule of an advice end with `;`.)", R"(show(1)
show(2);)",
     R"(show(1);
show(2);)"},
    {"T133", "keyword-as-name", Severity::error, "a keyword is used as a name",
     R"(Keywords are reserved, also `in` and `SIZE`, which mean nothing yet. Choose another name.)",
     R"(sub main() {
  df out;
  init(1, out);
  show(out);
})",
     R"(sub main() {
  df result;
  init(1, result);
  show(result);
})"},
    {"T134", "not-a-declaration", Severity::error, "something outside all subs that is no declaration",
     R"(A program consists of `sub`, `import`, `C++ sub` and `C++ head`. Statements stand inside a `sub`. One `}` too many
also leads here.)",
     R"(show(1);
sub main() { })",
     R"(sub main() { show(1); })"},
    {"T135", "unclosed-block", Severity::error, "a block is never closed",
     R"(The note shows where the block begins. Write its `}` before the next declaration.)",
     R"(sub main() {
  for i = 1..3 {
    show(i);
})",
     R"(sub main() {
  for i = 1..3 {
    show(i);
  }
})"},
    {"T136", "assignment", Severity::error, "there is no assignment",
     R"(A data fragment gets its value from a call: a kernel that has it as a `name` argument. To name an expression,
use `let`.)",
     R"(sub main() {
  df x;
  x = 5;
  show(x);
})",
     R"(sub main() {
  df x;
  init(5, x);
  show(x);
})"},
    {"T137", "else", Severity::error, "an `else` that belongs to no `if`",
     R"(`else` stands right behind the body of an `if`: a statement with its `;`, or braces (with their advice). It
belongs to the nearest `if` before it.)",
     R"(for i = 1..9 {
  show(i);
  else show(0);
})",
     R"(for i = 1..9 {
  if i < 5 show(i);
  else show(0);
})"},
    {"T138", "stray-block", Severity::error, "a block that belongs to nothing",
     R"(Braces follow `sub`, `for`, `while`, `if` and `let`. To declare names for a few statements, write them into a
`sub`.)",
     R"(sub main() {
  {
    show(1);
  }
})",
     R"(sub main() {
  show(1);
})"},
    {"T139", "misplaced-df", Severity::error, "`df` where no names can be declared",
     R"(`df` stands directly inside braces. A body of one statement has none: add them.)", R"(for i = 1..3 df x;)",
     R"(for i = 1..3 {
  df x;
  init(i, x);
  show(x);
})"},
    {"T140", "nested-choice", Severity::error, "`a ? b : c ? d : e` without brackets",
     R"(Older systems group this to the left, C++ to the right. Brackets make it the same everywhere.)",
     R"(for i = 1..3 show(i == 1 ? 10 : i == 2 ? 20 : 30);)",
     R"(for i = 1..3 show(i == 1 ? 10 : (i == 2 ? 20 : 30));)"},
    {"T141", "number-range", Severity::error, "a number is too large",
     R"(A whole number of more than 32 bits (-2147483648 .. 2147483647) is a `long`, of 64. Write larger ones as reals; a
`real` goes up to about 1.8e308.)",
     R"(show(30000000000000000000 > 1 ? 1 : 2);)", R"(show(3000000000000000000 > 1 ? 1 : 2);)"},
    {"T142", "call-in-expression", Severity::error, "a call inside an expression",
     R"(Only `int(e)`, `long(e)`, `real(e)` and `string(e)` can stand in an expression. A kernel gives its result to a data
fragment, which the expression then reads.)",
     R"(show(next(1));)",
     R"(C++ sub next(int v, name x) ${{ x = v + 1; $}}
sub main() {
  df x;
  next(1, x);
  show(x);
})"},
    {"T143", "c-loop", Severity::error, "a loop as C writes it",
     R"(`for i = first..last body`, without brackets. Both bounds are included, so `i < n` is `0..n - 1`. There is no step: use
`2 * i` for the counter. Iterations have no order but that of their data; a loop that ends upon a condition is
`while condition, i = start .. out last body`.)",
     R"(for (int i = 0; i < 9; i++) show(i);)", R"(for i = 0..9 - 1 show(i);)"},
    {"T144", "c-variable", Severity::error, "a variable is declared",
     R"(`df x;` declares a name of data fragments. They have no type: a fragment has the type of the value that a call
gives it, once. A name for an expression is bound by `let`.)",
     R"(int n = 3;
real x;
init(n, x);
show(x);)",
     R"(sub main() {
  df x;
  let n = 3 {
    init(n, x);
    show(x);
  }
})"},
    {"T145", "c-change", Severity::error, "a value is changed",
     R"(A data fragment has one value, for good. What changes with time has an index for it: step `i` reads `x[i]` and
assigns `x[i + 1]`. Sums over many fragments are in the standard library (`<std/reduce.fa>`).)",
     R"(sub main() {
  df x;
  init(1, x);
  x += 1;
  show(x);
})",
     R"(sub main() {
  df x;
  init(1, x[0]);
  init(x[0] + 1, x[1]);
  show(x[1]);
})"},
    {"T146", "c-equals", Severity::error, "`=` where a value is needed",
     R"(Equality is written `==`. A single `=` stands in `for`, `while`, `let` and advice only.)",
     R"(for i = 1..9 if (i = 5) show(i);)", R"(for i = 1..9 if (i == 5) show(i);)"},
    {"T147", "c-word", Severity::error, "a word that other languages have",
     R"(`and`, `or` and `not` are written `&&`, `||` and `!`; `elif` is `else if`. Nothing is returned: results go to `name`
parameters. No loop is left early: a `while` ends with its condition.)",
     R"(sub small(int v) {
  if v > 3 return;
  show(v);
}
sub main() { small(2); })",
     R"(sub small(int v) if v <= 3 show(v);
sub main() { small(2); })"},
    {"T148", "not-of-comparison", Severity::warning, "`!a == b` compares `!a`",
     R"(`!` binds closer than comparisons, as in C: `!a < b` compares 0 or 1 with `b`. Brackets say what is meant.)",
     R"(for i = 1..9 if !i == 5 show(i);)", R"(for i = 1..9 if !(i == 5) show(i);)"},
    {"T190", "unknown-pass", Severity::error, "`--dump-after` names no pass of the translator",
     R"(The message lists the passes there are.)", R"(tessera check --dump-after no-such-pass prog.fa)", "",
     Entry::By::command},
};

std::span<const Entry> syntax_entries() { return kSyntaxEntries; }

}  // namespace tessera::compiler
