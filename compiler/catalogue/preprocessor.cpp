// T100 .. T119: files, macros, conditions.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kPreprocessorEntries[] = {
    {"T100", "no-such-file", Severity::error, "the program can't be read",
     R"(The file does not exist, or may not be read. Check the path and the permissions.)",
     R"(tessera check no_such_file.fa)", "", Entry::By::command},
    {"T101", "macro-name", Severity::error, "`-D` defines something that is no macro's name",
     R"(A macro's name consists of letters, digits and underscores and does not begin with a digit.
Write `-D NAME` or `-D NAME=VALUE`.)",
     R"(tessera check -D N-1=5 prog.fa)", "", Entry::By::command},
    {"T102", "unclosed-string", Severity::error, "a string is never closed",
     R"(A string goes from one `"` to the next. A quote inside it is written `\"`; a real newline is part of
the string, so a forgotten quote swallows the rest of the program.)",
     R"(C++ sub print(string s) ${{ puts(s); $}}
sub main() { print("hello); })",
     R"(C++ sub print(string s) ${{ puts(s); $}}
sub main() { print("hello"); })"},
    {"T103", "unclosed-foreign", Severity::error, "a block of C++ text is never closed",
     R"(A block that begins with `${{` ends at `$}}`; one that begins with `${<WORD}` ends where `WORD` stands
again. Inside, nothing else ends it.)",
     R"(sub main() { hello(); }
C++ sub hello() ${{ puts("hello"); })",
     R"(sub main() { hello(); }
C++ sub hello() ${{ puts("hello"); $}})"},
    {"T104", "unclosed-condition", Severity::error, "`#ifdef` or `#ifndef` without `#endif`",
     R"(A condition ends in the file where it begins. Write `#endif` behind the lines it is about.)",
     R"(sub main() {
#ifdef LOUD
  show(1);
})",
     R"(sub main() {
#ifdef LOUD
  show(1);
#endif
})"},
    {"T105", "unclosed-comment", Severity::error, "a comment is never closed",
     R"(A comment that begins with `/*` ends at the first `*/`. Comments do not nest.)", R"(show(1); /* the end)",
     R"(show(1); /* the end */)"},
    {"T106", "directive-without-name", Severity::error, "a directive lacks its macro's name",
     R"(`#define`, `#undef`, `#ifdef` and `#ifndef` are followed by the name of a macro.)",
     R"(sub main() {
#ifdef
  show(1);
#endif
})",
     R"(sub main() {
#ifdef LOUD
  show(1);
#endif
})"},
    {"T107", "unknown-directive", Severity::error, "there is no such directive",
     R"(Lines that begin with `#` are directives. There are `#define`, `#undef`, `#ifdef`, `#ifndef`, `#else`,
`#endif` and `#include`; there is no `#if` and no `#elif`.)",
     R"(#defin N 5
sub main() { show(1); })",
     R"(#define N 5
sub main() { show($N); })"},
    {"T108", "stray-condition", Severity::error, "`#else` or `#endif` without its condition",
     R"(Each `#endif` closes one `#ifdef` or `#ifndef` of the same file, and each of those has at most one `#else`.
Remove this line, or write the condition it belongs to.)",
     R"(sub main() {
  show(1);
#endif
})",
     R"(sub main() {
#ifndef QUIET
  show(1);
#endif
})"},
    {"T109", "macro-parameters", Severity::error, "the parameters of a macro are not names",
     R"(Write names between commas, directly behind the macro's name: `#define ADD(a, b) ($a + $b)`.)",
     R"(#define ADD(a, 1) ($a + 1)
sub main() { show(2); })",
     R"(#define ADD(a, b) ($a + $b)
sub main() { show($ADD(1, 1)); })"},
    {"T110", "macro-redefined", Severity::warning, "a macro gets another meaning",
     R"(The later definition is used from here on. If that is meant, `#undef` the macro first; to give a default that
`-D` can replace, put `#ifndef` around the definition.)",
     R"(#define N 5
#define N 6
sub main() { show($N); })",
     R"(#define N 5
#undef N
#define N 6
sub main() { show($N); })"},
    {"T111", "stray-dollar", Severity::error, "a `$` that begins nothing",
     R"(`$` stands before a macro's name (`$N`), or begins a block of C++ text (`${{` or `${<WORD}`).)", R"(show($5);)",
     R"(show(5);)"},
    {"T112", "unknown-macro", Severity::error, "a macro is not defined",
     R"(Define it above its first use with `#define`, or on the command line with `-D NAME=VALUE`.)", R"(show($N);)",
     R"(#define N 5
sub main() { show($N); })"},
    {"T113", "recursive-macro", Severity::error, "a macro expands to itself",
     R"(Macros are substituted until none is left, which would never end here. Give one of them another name.)",
     R"(#define N $N + 1
sub main() { show($N); })",
     R"(#define N 1
#define M $N + 1
sub main() { show($M); })"},
    {"T114", "macro-without-arguments", Severity::error, "a macro with parameters is used without brackets",
     R"(A macro that was defined with parameters needs its arguments: `$NAME(...)`. What it takes stands in its
`#define`.)",
     R"(#define TWICE(x) (2 * $x)
sub main() { show($TWICE); })",
     R"(#define TWICE(x) (2 * $x)
sub main() { show($TWICE(4)); })"},
    {"T115", "macro-argument-count", Severity::error, "a macro gets too many or too few arguments",
     R"(Give as many arguments as the macro has parameters. A comma inside an argument is written `\,`, unless
brackets are around it.)",
     R"(#define ADD(a, b) ($a + $b)
sub main() { show($ADD(1)); })",
     R"(#define ADD(a, b) ($a + $b)
sub main() { show($ADD(1, 2)); })"},
    {"T116", "macro-too-large", Severity::error, "macros expand to too much text",
     R"(Expansion stops at 4 MiB, or when macros stand 200 deep inside each other. Macros that use others twice
double the text at each step: use a loop or a `sub` for the repetition.)",
     R"(#define D(x) $x+$x+$x+$x+$x+$x+$x+$x+$x+$x+$x+$x+$x+$x+$x+$x
sub main() { show($D($D($D($D($D($D(1))))))); })",
     R"(for i = 1..1000000
  show(i);)"},
    {"T117", "include-path", Severity::error, "`#include` without a path",
     R"(Write `#include "file.fa"`: the file is looked for beside the including one, then in the folders of `--path`. Files of
the standard library are written `#include <std/base.fa>`. C++ headers are included in `C++ head`, not here.)",
     R"(#include cmath
sub main() { show(1); })",
     R"(C++ head ${<END}
#include <cmath>
END
sub main() { show(1); })"},
    {"T118", "include-cycle", Severity::error, "a file includes itself",
     R"(The file includes itself, directly or through others, or includes are more than 64 deep. Move what both files
need into a third one, or put `#ifndef NAME`, `#define NAME`, `#endif` around the text that is included.)",
     R"(#include "prog.fa"
sub main() { show(1); })",
     R"(sub main() { show(1); })"},
    {"T119", "include-not-found", Severity::error, "an included file can't be read",
     R"(The message lists the places where the file was looked for: beside the including file, then the folders of
`--path`. In `<...>` stand files of the standard library only; the message lists them.)",
     R"(#include "no_such_file.fa"
sub main() { show(1); })",
     R"(sub main() { show(1); })"},
};

std::span<const Entry> preprocessor_entries() { return kPreprocessorEntries; }

}  // namespace tessera::compiler
