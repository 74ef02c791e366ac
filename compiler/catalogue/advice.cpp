// T240 .. T259: advice `@ { ... }` and pragmas, which never change results.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kAdviceEntries[] = {
    {"T240", "unknown-pragma", Severity::warning, "an unknown pragma is ignored",
     R"(The pragmas are `<< rush >>`, `<< static >>`, `<< static_for >>` and `<< unrolling >>`.)",
     R"(for << unroling >> i = 1..3 show(i);)", R"(for i = 1..3 show(i);)"},
    {"T241", "unknown-advice", Severity::warning, "unknown advice is ignored",
     R"(Results are the same without it, but the program may run slower or use more memory than meant. docs/language.md
lists the advice there is.)",
     R"(show(1) @ { locator_cyclc: 1; };)", R"(show(1) @ { locator_cyclic: 1; };)"},
    {"T242", "advice-target", Severity::warning, "advice about something that is no data fragment",
     R"(The name must be a data fragment that is visible at the place of the advice: for a call, inside its block; for
a block, one declared in it or around it.)",
     R"(for i = 1..3
  show(i) @ { delete i; };)",
     R"(sub main() {
  df x;
  init(1, x);
  show(x) @ { delete x; };
})"},
    {"T243", "advice-form", Severity::warning, "advice in a form that it does not have is ignored",
     R"(docs/language.md has the form of each kind of advice, such as `req_count x = n;`. Behind a block, neither counts
nor indices can depend on data fragments: they are needed when the block is entered. `nfparam n;` stands behind a sub, `nfparam n
=> e;` at its calls.)",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x; };
  show(x);
})",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x = 1; };
  show(x);
})"},
    {"T244", "missing-nfparam", Severity::warning, "a non-functional parameter gets no value",
     R"(The sub declares `nfparam n;`, so each call says what `n` is: `@ { nfparam n => e; }`. Without it 0 is used.)",
     R"(sub placed(int i) {
  show(i) @ { locator_cyclic: i + shift; };
} @ { nfparam shift; }
sub main() { placed(1); })",
     R"(sub placed(int i) {
  show(i) @ { locator_cyclic: i + shift; };
} @ { nfparam shift; }
sub main() { placed(1) @ { nfparam shift => 2; }; })"},
    {"T245", "without-effect", Severity::note, "advice that Tessera does not need",
     R"(Not a mistake, and shown by `tessera check` only: this advice, pragma or `: CUDA` is accepted so that existing
programs keep working, and changes nothing here. Values need no locators, since each is found wherever it was made; they are
pushed to who waits for them without being told; and bodies are never unrolled before they are needed.)",
     R"(sub main() {
  df x;
  init(1, x);
  show(x);
} @ { locator_cyclic x => 1; })",
     R"(sub main() {
  df x;
  init(1, x) @ { locator_cyclic: 1; };
  show(x);
})"},
    {"T246", "lives-long", Severity::note, "data fragments that live until their block ends",
     R"(Not a mistake, and shown by `tessera check` only. A data fragment goes with its last use where the translator can say how
many there will be (docs/optimisations.md, count-uses). The fragments of this name are assigned in a loop, and it can't say
so of them, for the reason given: so they stay until the block that declares the name has ended, which costs memory, and
time, since new values are made in memory that is not in the cache. Nor does an index go on with the loop, by which it would be
known what can't be read any more (sweep-names). Or one does, and something waits for another fragment before it is known
which it will read: as long as that waits, all of them are kept. If the loop is long, write the index so that it tells
which iterations read a fragment, declare the name inside the loop, or say `delete` where it is read for the last time.)",
     R"(sub main(int n) {
  df x, p;
  init(1, x[0]);
  for i = 1..n {
    init(i - 1, p[i]);
    init(x[p[i]], x[i]);
  }
})",
     R"(sub main(int n) {
  df x;
  init(1, x[0]);
  for i = 1..n
    init(x[i - 1], x[i]);
})"},
};

std::span<const Entry> advice_entries() { return kAdviceEntries; }

}  // namespace tessera::compiler
