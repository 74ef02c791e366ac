// T250 .. T259: declared and not used.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kUnusedEntries[] = {
    {"T250", "unused-macro", Severity::warning, "a macro is never used",
     R"(No text mentions the macro as `$NAME`, and no `#ifdef` or `#ifndef` asks for it. Perhaps the dollar sign was
forgotten where it is meant. Macros of included files and of `-D` are not reported, nor names that begin with `_`.)",
     R"(#define N 5
sub main() { for i = 1..3 show(i); })",
     R"(#define N 5
sub main() { for i = 1..$N show(i); })"},
    {"T251", "unused-let", Severity::warning, "a name bound by `let` is never used",
     R"(Remove the binding, or use it. A name that begins with `_` is not reported.)",
     R"(for i = 1..3
  let half = i / 2
    show(i);)",
     R"(for i = 1..3
  let half = i / 2
    show(half);)"},
    {"T252", "unused-df", Severity::warning, "a data fragment is never used",
     R"(Nothing assigns it, and nothing reads it. Remove it from its `df`. A name that begins with `_` is not reported.)",
     R"(sub main() {
  df x, y;
  init(1, x);
  show(x);
})",
     R"(sub main() {
  df x;
  init(1, x);
  show(x);
})"},
    {"T253", "unused-sub", Severity::warning, "a sub or a kernel written in place is never called",
     R"(Remove it, or call it. What an included file declares is not reported, nor names that begin with `_`, nor kernels
that other C++ text mentions.)",
     R"(sub work(int i) { show(i); }
sub main() { show(1); })",
     R"(sub work(int i) { show(i); }
sub main() { work(1); })"},
    {"T254", "unused-import", Severity::warning, "an imported kernel is never called",
     R"(Remove the import, or call the kernel. Imports of included files are not reported.)",
     R"(import compute(int, name);
sub main() { show(1); })",
     R"(import compute(int, name);
sub main() {
  df x;
  compute(1, x);
  show(x);
})"},
    {"T255", "unused-parameter", Severity::warning, "a parameter of a sub is never used",
     R"(The caller computes a value that nobody reads. If the sub only has to wait for it, say so with a name that begins
with `_`. Parameters of kernels are not reported.)",
     R"(sub work(int i, int n) { show(i); }
sub main() { work(1, 2); })",
     R"(sub work(int i, int _after) { show(i); }
sub main() { work(1, 2); })"},
    {"T256", "unused-counter", Severity::warning, "a loop's counter is never used",
     R"(Every iteration does the same, and a data fragment outside the loop would be assigned again and again. If that is
meant, let the counter's name begin with `_`.)",
     R"(for i = 1..3 show(1);)", R"(for _i = 1..3 show(1);)"},
};

std::span<const Entry> unused_entries() { return kUnusedEntries; }

}  // namespace tessera::compiler
