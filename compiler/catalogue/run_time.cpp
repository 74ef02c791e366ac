// T4xx: what is found while a program runs. The messages are made in runtime/.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr auto kRun = Entry::By::run;

static constexpr Entry kRunTimeEntries[] = {
    {"T401", "deadlock", Severity::error, "the program cannot finish",
     R"(Everything that could run has run, and some fragments still wait for data that nothing will produce. The report
shows what is at the root of that: a data fragment, with its indices, that nothing will assign, not even what waits; who waits for it first;
which statements assign others of that name; and how many fragments wait behind it. Or fragments that wait for each other. Often an index is off by one.)",
     R"(sub main() {
  df x, last;
  init(2, last);
  init(1, x[1]);
  show(x[last]);
})",
     R"(sub main() {
  df x, last;
  init(1, last);
  init(1, x[1]);
  show(x[last]);
})",
     kRun},
    {"T402", "assigned-twice", Severity::error, "a data fragment is assigned twice",
     R"(The message names both statements, the second one with its variables, the first one with those that follow from the
indices: of `f(i, x[i + 1])` and `x[3]` it is `i=2`, of `x[i / 2]` nothing. A data fragment is assigned exactly once: use
another name, or an index that differs each time.)",
     R"(sub main() {
  df x, two;
  init(2, two);
  for i = 0..9
    init(i, x[i / two]);
  show(x[0]);
})",
     R"(sub main() {
  df x, two;
  init(2, two);
  for i = 0..9
    init(i, x[i * two]);
  show(x[0]);
})",
     kRun},
    {"T403", "freed-too-early", Severity::error, "a data fragment is read after it was freed",
     R"(`delete`, `-->` or `req_count` freed it, and then somebody read it. Move the `delete` to the last reader, raise the
count, or leave the advice out: a fragment is freed with its block anyway.)",
     R"(sub main() {
  df x, seen;
  init(1, x) @ { req_count x = 1; };
  init(x, seen);
  if seen == 1
    show(x);
})",
     R"(sub main() {
  df x, seen;
  init(1, x) @ { req_count x = 2; };
  init(x, seen);
  if seen == 1
    show(x);
})",
     kRun},
    {"T404", "value-type", Severity::error, "a data fragment holds a value of the wrong type",
     R"(What a data fragment holds is known when it is assigned. An int is taken where a real is needed; a real for an int
needs `int(e)`; strings and numbers convert by `int(e)`, `real(e)`, `string(e)`; bytes are for kernels only.)",
     R"(C++ sub half(int v, name x) ${{ x = v / 2.0; $}}
sub main() {
  df x;
  half(5, x);
  show(x);
})",
     R"(C++ sub half(int v, name x) ${{ x = v / 2.0; $}}
sub main() {
  df x;
  half(5, x);
  show(int(x));
})",
     kRun},
    {"T405", "kernel-access", Severity::error, "a kernel uses a data fragment wrongly",
     R"(The kernel reads a value as another type than it has, reads an output before assigning it, or assigns a value that
does not fit. `get_int()` and the like want exactly that type; `cast_int()` and the like convert.)",
     R"(C++ sub text(name x) ${{ x = "5"; $}}
C++ sub print(value v) ${{ printf("%d\n", v.get_int()); $}}
sub main() {
  df x;
  text(x);
  print(x);
})",
     R"(C++ sub text(name x) ${{ x = "5"; $}}
C++ sub print(value v) ${{ printf("%d\n", v.cast_int()); $}}
sub main() {
  df x;
  text(x);
  print(x);
})",
     kRun},
    {"T406", "division-by-zero", Severity::error, "an expression divides by zero",
     R"(The right side of `/` or `%` was 0. Put the statement into an `if` that asks first: both values of `c ? a : b` may be
computed.)",
     R"(for i = -1..1
  show(10 / i);)",
     R"(for i = -1..1
  if i != 0
    show(10 / i);)",
     kRun},
    {"T407", "int-overflow", Severity::error, "an int overflows",
     R"(An `int` has 32 bits: -2147483648 .. 2147483647; a `long` has 64. Compute with longs, `long(i) * i`, with reals,
`real(i) * i`, or in a kernel.)",
     R"(for i = 46340..46341
  show(i * i);)",
     R"(C++ sub print(long v) ${{ printf("%ld\n", v); $}}
sub main() {
  for i = 46340..46341
    print(long(i) * i);
})",
     kRun},
    {"T408", "bad-conversion", Severity::error, "a string can't be converted to a number",
     R"(The whole string must be a number: no blanks, no unit. `int(..)` takes no decimal point.)",
     R"(for i = 1..2
  show(int(i + " apples"));)",
     R"(for i = 1..2
  show(int(i + "0"));)",
     kRun},
    {"T409", "kernel-exception", Severity::error, "a kernel threw an exception",
     R"(An exception that leaves a kernel ends the program with its text, the fragment and the line. Kernels may throw for
just that purpose; otherwise catch it in the kernel.)",
     R"(C++ sub work(int i) ${{ if (i == 2) throw std::runtime_error("no data for 2"); $}}
sub main() { for i = 1..3 work(i); })",
     R"(C++ sub work(int i) ${{ if (i == 2) printf("no data for 2\n"); $}}
sub main() { for i = 1..3 work(i); })",
     kRun},
    {"T410", "kernel-crash", Severity::error, "a kernel crashed",
     R"(A wild pointer, an index outside an array, endless recursion, `abort()`, or an exception where nobody can catch it:
in a thread that the kernel has started, in a destructor. `tessera run -g --sanitize address` shows where memory is misused; a debugger
is started with `gdb --args tessera run -g prog.fa`.)",
     R"(C++ sub work(int i) ${{ if (i == 2) std::abort(); $}}
sub main() { for i = 1..3 work(i); })",
     R"(C++ sub work(int i) ${{ printf("%d\n", i); $}}
sub main() { for i = 1..3 work(i); })",
     kRun},
    {"T411", "unassigned-output", Severity::error, "a kernel returned without assigning an output",
     R"(A kernel assigns each of its `name` parameters before it returns, on every path.)",
     R"(C++ sub divide(int a, int b, name quotient, name rest) ${{ quotient = a / b; $}}
sub main() {
  df q, r;
  divide(7, 2, q, r);
  show(q + r);
})",
     R"(C++ sub divide(int a, int b, name quotient, name rest) ${{ quotient = a / b; rest = a % b; $}}
sub main() {
  df q, r;
  divide(7, 2, q, r);
  show(q + r);
})",
     kRun},
    {"T412", "read-count", Severity::error, "a `req_count` that can't be right",
     R"(A count of reads is 0 or more, and the same wherever it is given for a data fragment.)",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x = 2; };
  show(x) @ { req_count x = 1; };
})",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x = 1; };
  show(x) @ { req_count x = 1; };
})",
     kRun},
    {"T413", "unread", Severity::warning, "there were fewer reads than `req_count` says",
     R"(The value was kept until its block ended, as it is without the advice. A statement that mentions a data fragment
reads it once; passing its name on to a sub is no read.)",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x = 2; };
  show(x + x);
})",
     R"(sub main() {
  df x;
  init(1, x) @ { req_count x = 1; };
  show(x + x);
})",
     kRun},
    {"T414", "kernel-exit", Severity::error, "a kernel ended the process, or took what it needs",
     R"(A kernel called `exit()`, `_exit()` or one of `exec...()`, or something it uses did; or closed stdout, or file descriptors that it had not opened; or
left something for the end of the process, with `atexit()`, that does not return. The program ends by itself when all its fragments have run;
a kernel that must give up throws an exception.)",
     R"(C++ sub work(int i) ${{ if (i == 2) std::exit(0); $}}
sub main() { for i = 1..3 work(i); })",
     R"(C++ sub work(int i) ${{ if (i == 2) printf("no data for 2\n"); $}}
sub main() { for i = 1..3 work(i); })",
     kRun},
    {"T415", "kernel-overrun", Severity::error, "a kernel wrote outside its output",
     R"(Behind its last or before its first byte. What lies there belongs to others and may be damaged, so the run ends at
once. `tessera run -g --sanitize address` shows the statement that does it, also where only reading leaves the bytes.)",
     R"(C++ sub fill(int n, name x) ${{ int *p = x.create<int>(n); for (int i = 0; i <= n; i++) p[i] = i; $}}
sub main() { df x; fill(5, x); })",
     R"(C++ sub fill(int n, name x) ${{ int *p = x.create<int>(n); for (int i = 0; i < n; i++) p[i] = i; $}}
sub main() { df x; fill(5, x); })",
     kRun},
    {"T416", "kernel-fork", Severity::error, "a child that a kernel forked came back",
     R"(After `fork()` there are two processes in the kernel, and only one may return from it. A child ends with `_exit()`, or
becomes another program. It is ended with the run at the latest.)",
     R"(C++ sub helper(int v, name x) ${{ if (fork() > 0) sleep(1); x = v; $}}
sub main() { df x; helper(1, x); })",
     R"(C++ sub helper(int v, name x) ${{ if (fork() == 0) _exit(0); x = v; $}}
sub main() { df x; helper(1, x); })",
     kRun},
    {"T417", "kernel-writes-input", Severity::error, "a kernel wrote to its input",
     R"(Others read the same bytes, before or after: which, differs from run to run. Take inputs as `const`, and write to a copy.
Looked for by `tessera run -g`, and where `--check-inputs` is among the options of the run.)",
     R"(C++ sub make(name x) ${{ x.create<double>(2); $}}
C++ sub twice(value v, name y) ${{ double *p = const_cast<double *>(v.getData<double>()); p[0] = 2; y = 1; $}}
sub main() {
  df x, y;
  make(x);
  twice(x, y);
})",
     R"(C++ sub make(name x) ${{ x.create<double>(2); $}}
C++ sub twice(value v, name y) ${{ const double *p = v.getData<double>(); y = 2 * p[0]; $}}
sub main() {
  df x, y;
  make(x);
  twice(x, y);
})",
     kRun},
};

std::span<const Entry> run_time_entries() { return kRunTimeEntries; }

}  // namespace tessera::compiler
