// T200 .. T219: declarations, names, calls.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kNamesEntries[] = {
    {"T201", "redeclared", Severity::error, "a name is declared twice in one block",
     R"(Two data fragments, parameters or names of one `let` can't share a name in the same place. An inner block may
declare the name again: it hides the outer one there.)",
     R"(sub main() {
  df x, x;
  init(1, x);
  show(x);
})",
     R"(sub main() {
  df x, y;
  init(1, x);
  init(2, y);
  show(x + y);
})"},
    {"T202", "redeclared-sub", Severity::warning, "two subs or kernels have one name, and differ",
     R"(Subs, imported kernels and kernels written in place share their names, and of those that share one the last is used
everywhere, also above it. Rename one; a kernel can be imported under another name: `import f(int) as g;`. What is only
repeated, because a file is included twice, is no mistake.)",
     R"(sub work(int i) { show(i); }
sub work(int i) { show(i + 1); }
sub main() { work(1); })",
     R"(sub work(int i) { show(i); }
sub work_next(int i) { show(i + 1); }
sub main() { work(1); work_next(1); })"},
    {"T203", "import-conflict", Severity::error, "a kernel is imported with different parameters",
     R"(A C++ function has one signature. Import it once, with the types of its parameters; `value` passes a data fragment
of any type.)",
     R"(import f(int);
import f(real) as g;
sub main() { f(1); g(0.5); })",
     R"(import f(real);
sub main() { f(1); f(0.5); })"},
    {"T204", "no-main", Severity::error, "the program has no `sub main`",
     R"(Execution is the execution of `sub main`. A file that is only meant to be included has none, and can be checked
only with a program that includes it.)",
     R"(sub mian() { show(1); })", R"(sub main() { show(1); })"},
    {"T205", "main-parameter", Severity::error, "a parameter of `main` that can't come from the command line",
     R"(The parameters of `main` are the program's arguments: `int`, `long`, `real` or `string`. Where another program calls this one
(docs/library.md), `main` may have values and names as well: `tessera build --library`, `tessera check --library`.)",
     R"(sub main(name x) { init(1, x); })", R"(sub main(int n) { show(n); })"},
    {"T206", "unknown-name", Severity::error, "a name is not declared",
     R"(Data fragments are declared with `df` at the start of a block, values by `let`, loops and parameters. A name is
known inside its own block only. Case matters.)",
     R"(sub main() {
  df alpha;
  init(1, alpha);
  show(aplha);
})",
     R"(sub main() {
  df alpha;
  init(1, alpha);
  show(alpha);
})"},
    {"T207", "let-too-large", Severity::error, "an expression is too large after `let` is substituted",
     R"(`let` stands for its expression wherever it is used, so values that use each other twice double at each step.
Compute the intermediate value in a kernel and keep it in a data fragment.)",
     R"(for i = 1..2
  let a = i + i + i + i + i + i + i + i, b = a + a + a + a + a + a + a + a,
      c = b + b + b + b + b + b + b + b, d = c + c + c + c + c + c + c + c,
      e = d + d + d + d + d + d + d + d
    show(e);)",
     R"(for i = 1..2
  let a = i * 8, b = a * 8, c = b * 8
    show(c);)"},
    {"T208", "index-count", Severity::warning, "a name is used with different numbers of indices",
     R"(`x`, `x[i]` and `x[i][j]` are different fragments, each assigned by itself. A name that is used with different numbers
of indices works, but mostly an index was forgotten: give one of them another name. Where a name is passed to a `name`
parameter, indices may be left out: it takes the others.)",
     R"(sub main() {
  df x;
  init(1, x);
  init(2, x[0]);
  show(x + x[0]);
})",
     R"(sub main() {
  df x, y;
  init(1, x);
  init(2, y[0]);
  show(x + y[0]);
})"},
    {"T209", "not-a-data-fragment", Severity::error, "a data fragment is needed",
     R"(Only data fragments have indices, are assigned, deleted or passed as `name`. Counters, `let` names and parameters
of the other types are values.)",
     R"(for i = 1..3 show(i[0]);)",
     R"(sub main() {
  df x;
  for i = 1..3 {
    init(i, x[i]);
    show(x[i]);
  }
})"},
    {"T210", "name-argument", Severity::error, "a value is passed where a name is needed",
     R"(A `name` parameter takes a data fragment: it is what the kernel assigns, or what the sub reads or assigns.)",
     R"(init(1, 5);)",
     R"(sub main() {
  df x;
  init(5, x);
  show(x);
})"},
    {"T211", "argument-type", Severity::error, "an argument has the wrong type",
     R"(Numbers and strings are not converted into each other silently: write `int(e)`, `real(e)` or `string(e)`. Between
`int` and `real` no cast is needed.)",
     R"(C++ sub print(string s) ${{ puts(s); $}}
sub main() { print(5); })",
     R"(C++ sub print(string s) ${{ puts(s); $}}
sub main() { print(string(5)); })"},
    {"T212", "unknown-callee", Severity::error, "there is no kernel or sub of this name",
     R"(A call needs a `sub`, an `import` or a `C++ sub` of that name, anywhere in the program or its includes.)",
     R"(sub work(int i) { show(i); }
sub main() { work(1); wrok(2); })",
     R"(sub work(int i) { show(i); }
sub main() { work(1); work(2); })"},
    {"T213", "argument-count", Severity::error, "too many or too few arguments",
     R"(The note shows the declaration: a call gives one argument for each parameter.)", R"(show(1, 2);)",
     R"(show(1);)"},
    {"T214", "undefined-kernel", Severity::error, "nothing defines an imported kernel",
     R"(No kernel file has an `extern "C"` function of this name. Name its file on the command line (by default all `*.cpp`
beside the program are taken), its library with `-l`, or write `extern "C"` before the function.)",
     R"(import compute(int);
sub main() { compute(1); })",
     R"(C++ sub compute(int n) ${{ printf("%d\n", n); $}}
sub main() { compute(1); })",
     Entry::By::build},
    {"T215", "kernel-signature", Severity::error, "an import does not fit the C++ function it means",
     R"(The function would read its arguments from where they are not. Both places are named: give the import the types of the
function, or the function those of the import: `int` is `int`, `real` is `double`, `string` is `const char *`, `value` is
`const InputDF &` and `name` is `OutputDF &`. What is passed alike, as `unsigned` for an `int`, is right too.)",
     R"(import c_half(int, name) as half;
C++ head ${<END}
extern "C" void c_half(double x, OutputDF &y) { y = x / 2; }
END
C++ sub print(real x) ${{ printf("%g\n", x); $}}
sub main() {
  df y;
  half(5, y);
  print(y);
})",
     R"(import c_half(real, name) as half;
C++ head ${<END}
extern "C" void c_half(double x, OutputDF &y) { y = x / 2; }
END
C++ sub print(real x) ${{ printf("%g\n", x); $}}
sub main() {
  df y;
  half(5, y);
  print(y);
})",
     Entry::By::build},
    {"T216", "hidden-counter", Severity::warning, "a name hides the counter of a loop around it",
     R"(Inner names hide outer ones, which is legal, but two loops inside each other seldom share a counter on purpose. Give
one of them another name.)",
     R"(for i = 1..3
  for i = 1..2
    show(i);)",
     R"(for i = 1..3
  for j = 1..2
    show(i * j);)"},
    {"T217", "kernel-parameter", Severity::warning, "a parameter of an import is not what its C++ function takes",
     R"(The machine passes both in the same way (an `int` and a `const char *`, say), or the function has fewer parameters, so the
call harms nothing as long as the function does not look at what it gets. Mostly it does, so this is an error for `tessera` unless
`-Wno-error=kernel-parameter` is given, and a warning for `luna`, whose old programs have such imports. Both places are
named: give the import the types of the function.)",
     R"(import c_init(int, name) as start;
C++ head ${<END}
extern "C" void c_init(const char *, OutputDF &x) { x = 1; }
END
sub main() {
  df x;
  start(5, x);
  show(x);
})",
     R"(import c_init(string, name) as start;
C++ head ${<END}
extern "C" void c_init(const char *, OutputDF &x) { x = 1; }
END
sub main() {
  df x;
  start("", x);
  show(x);
})",
     Entry::By::build},
};

std::span<const Entry> name_entries() { return kNamesEntries; }

}  // namespace tessera::compiler
