// T3xx: data flow.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kFlowEntries[] = {
    {"T301", "never-assigned", Severity::error, "a data fragment is read but never assigned",
     R"(Nothing in the program gives it a value, so whoever reads it would wait for ever. A data fragment is assigned by a
kernel that has it as a `name` argument, by a `sub` that passes it on to one, by `>>`, or as the `out` of a `while`.)",
     R"(sub main() {
  df x;
  show(x);
})",
     R"(sub main() {
  df x;
  init(1, x);
  show(x);
})"},
    {"T310", "double-assignment", Severity::error, "a data fragment is assigned twice",
     R"(Each data fragment gets one value: by one statement, in one iteration, through one call. Loops assign `x[i]`, not `x`; what
is computed anew is another fragment, `x[i + 1]`. It is a warning where the code may not be reached, and it is
not reported where only some runs would do it.)",
     R"(sub main() {
  df x;
  for i = 0..9 init(i, x[i / 2]);
  show(x[0]);
})",
     R"(sub main() {
  df x;
  for i = 0..9 init(i, x[i]);
  show(x[0]);
})"},
    {"T311", "element-never-assigned", Severity::error, "a data fragment is read that nothing assigns",
     R"(Other fragments of the name are assigned, but not this one, so the reader would wait for ever. Look at the first and last
iteration: bounds and steps of the loops that assign and of those that read must fit. It is a warning where the code
may not be reached.)",
     R"(sub main() {
  df x;
  for i = 1..9 init(i, x[i]);
  for i = 1..9 show(x[i - 1]);
})",
     R"(sub main() {
  df x;
  for i = 0..9 init(i, x[i]);
  for i = 1..9 show(x[i - 1]);
})"},
    {"T312", "cycle", Severity::error, "data fragments wait for each other",
     R"(Each is computed from the other, so none can be computed first. The notes follow the ring. In a loop, the
fragment of the iteration before is usually meant, with a first one that is assigned by itself.)",
     R"(sub main() {
  df x, y;
  init(y + 1, x);
  init(x + 1, y);
})",
     R"(sub main() {
  df x, y;
  init(1, x);
  init(x + 1, y);
  show(y);
})"},
    {"T313", "read-after-delete", Severity::warning, "a data fragment is read after it was deleted",
     R"(The reader waits for something that only the deleting call makes, so it runs later. It may still have got hold of
the fragment before, so this is a warning; the run reports T403 when it has not. Move the `delete` or `-->` to the last reader.)",
     R"(sub main() {
  df x, y;
  init(1, x);
  init(x, y) @ { delete x; };
  show(x + y);
})",
     R"(sub main() {
  df x, y;
  init(1, x);
  init(x, y);
  show(x + y) @ { delete x; };
})"},
    {"T314", "delete-race", Severity::warning, "nothing orders a reader and the call that deletes",
     R"(The order of statements means nothing: if the deleting call happens to run first, the reader finds no fragment. Let the deleting
call read something that the other readers make (`>> (done)` gives a signal), or leave the fragment to the end of its block.
A `for` beside the deleting call needs nothing: its readers are waited for.)",
     R"(sub main() {
  df x;
  init(1, x);
  show(x);
  show(x + 1) @ { delete x; };
})",
     R"(sub main() {
  df x, done;
  init(1, x);
  show(x) >> (done);
  show(x + done) @ { delete x; };
})"},
    {"T315", "read-too-often", Severity::warning, "a data fragment is read more often than `req_count` allows",
     R"(`req_count x = n;` frees `x` after `n` reads. Each statement counts once in each iteration, also conditions
and bounds. Readers that came early enough get it all the same, so this is a warning; the run reports T403 for the others.)",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x = 1; };
  for i = 1..2 show(x + i);
})",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x = 2; };
  for i = 1..2 show(x + i);
})"},
    {"T316", "unknown-locator", Severity::error, "a locator depends on a value that is never known",
     R"(A fragment starts where its locator says, so everything in the locator must be known before: it can't be something
that nothing assigns, nor what the fragment itself makes.)",
     R"(sub main() {
  df x;
  init(1, x) @ { locator_cyclic: x; };
  show(x);
})",
     R"(sub main() {
  df x, where;
  init(2, where);
  init(1, x) @ { locator_cyclic: where; };
  show(x);
})"},
    {"T317", "unused-value", Severity::warning, "a data fragment is assigned but never used",
     R"(No statement reads any fragment of the name. An output that a kernel must be given but nobody wants is marked by
`drop x;` at the call, or by a name that begins with `_`. The `out` of a `while` need not be used.)",
     R"(sub main() {
  df x;
  init(1, x);
})",
     R"(sub main() {
  df x, y;
  init(1, x);
  init(2, y) @ { drop y; };
  show(x);
})"},
    {"T318", "constant-condition", Severity::warning, "a condition is always true or always false",
     R"(It says the same in every run, so it does not decide anything, or a `while` never ends. Conditions that
consist of one number, and those with macros or `let`, are not reported: they are there to be changed.)",
     R"(for i = 0..9 if i > 9 show(i);)", R"(for i = 0..9 if i > 8 show(i);)"},
    {"T319", "endless-recursion", Severity::error, "a sub calls itself without a condition",
     R"(Whenever it runs, it is called again, perhaps through other subs, so the program never ends. Put the call into an `if`
that is false in the end.)",
     R"(sub down(int n) {
  show(n);
  down(n - 1);
}
sub main() { down(3); })",
     R"(sub down(int n) {
  show(n);
  if n > 0 down(n - 1);
}
sub main() { down(3); })"},
    {"T320", "empty-range", Severity::warning, "the body of a loop never runs",
     R"(The last value of a `for` is less than its first one, or the condition of a `while` is false for its first value,
whatever the values of the names in them are. Bounds are inclusive: `0..n - 1` has n values. What comes from macros or `let` is
not reported: it is there to be changed.)",
     R"(for i = 5..3 show(i);)", R"(for i = 3..5 show(i);)"},
};

std::span<const Entry> flow_entries() { return kFlowEntries; }

}  // namespace tessera::compiler
