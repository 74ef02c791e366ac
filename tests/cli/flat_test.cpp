// Memory that does not grow with a program's steps, whatever its shape (docs/optimisations.md, count-uses,
// sweep-names).
#include <algorithm>
#include <array>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

struct Steps {
  const char* name;
  int steps;                    // and four times as many
  const char* body;             // of `sub main(int which, int n)`
  const char* grows = nullptr;  // all the same, and why
  double most_mb = 4;           // more, with four times as many
};

constexpr const char* kSubs = R"fa(
C++ sub init(int v, name x) ${{ x.create(400); x.getData<char>()[0] = v % 64; $}}
C++ sub number(int v, name x) ${{ x = v; $}}
C++ sub step(value a, value b, name x) ${{
  x.create(400);
  x.getData<char>()[0] = (a.getData<char>()[0] + b.getData<char>()[0]) % 64;
$}}
C++ sub large(int v, name x) ${{ x.create(8000); x.getData<char>()[0] = v % 64; $}}
C++ sub read(value a, value b, name x) ${{
  x.create(400);
  char sum = a.getData<char>()[0];
  for (int k = 0; k < 3; ++k) for (int i = 0; i < 8000; ++i) sum = sum * 5 + b.getData<char>()[i];
  x.getData<char>()[0] = sum % 64;
$}}
C++ sub read_all(value a, name x) ${{
  x.create(8000);
  for (int i = 0; i < 8000; ++i) x.getData<char>()[i] = (a.getData<char>()[i] + 1) % 64;
$}}
C++ sub larger(value a, name x) ${{ x.create(40000); x.getData<char>()[0] = a.getData<char>()[0]; $}}
C++ sub parts(value a, name k) ${{ k = 2 + a.getData<char>()[0] % 4; $}}
C++ sub norm(value a, name x) ${{ x = 1; $}}
C++ sub show(value a) ${{ printf("%d\n", a.getData<char>()[0]); $}}
sub row(int n, name x, name p) { for i = 0..n { init(i, x[0][i]); number((i + 3) % (n + 1), p[i]); } }
sub cell(name from, int i, int k, name to) { step(from[i], from[(i + k) % 10], to); }
sub tree(name x, int t, int from, int to) {
  if from == to step(x[t - 1][from], x[t - 1][9 - from], x[t][from]);
  if from < to { tree(x, t, from, (from + to) / 2); tree(x, t, (from + to) / 2 + 1, to); }
}
sub segment(name x, int o, int n, name to) {
  df w;
  number(0, x[o][n + 1]);
  while x[o][n + 1] + t < n, t = 0 .. out w step(x[o][t], x[o][t], x[o][t + 1]);
  step(x[o][w], x[o][n], to);
}
sub go(name x, int t, int n) {
  for i = 0..9 step(x[t - 1][i], x[t - 1][9 - i], x[t][i]);
  if t < n go(x, t + 1, n);
}
sub down(name a, int t, int n) {
  df b;
  read_all(a, b);
  if t % 100 == 0 show(a);
  if t < n down(b, t + 1, n);
  if t == n show(b);
}
sub leap(name x, name p, int t, int n) {
  for i = 0..9 step(x[t - 1][p[i]], x[t - 2][i], x[t][i]);
  if t < n leap(x, p, t + 1, n);
}
sub watched(name x, name p, int t, int n) {
  for i = 0..9 step(x[t - 1][i], x[t - 1][9 - i], x[t][i]);
  norm(x[t][0], p[t]);
  if t < n && p[t] % 3 != 0 watched(x, p, t + 1, n);
  if t < n && p[t] % 3 == 0 watched(x, p, t + 1, n);
}
sub hand(name u, int t, int n) {
  if t == n show(u[0]);
  else { df v; for i = 0..9 step(u[i], u[9 - i], v[i]); hand(v, t + 1, n); }
}
sub level(int d, name a, name o) {
  if d == 0 step(a, a, o);
  if d > 0 { df l; step(a, a, l); level(d - 1, l, o); }
}
sub split(int d, name a, name o) {
  if d == 0 step(a, a, o);
  if d > 0 { df l, m; split(d - 1, a, l[0]); split(d - 1, a, l[1]); step(l[0], l[1], m); split(d - 1, m, o); }
}
sub sums(int d, int v, name o) {
  df a, b, c, e, k;
  if d <= 0 init(v % 64, o);
  if d > 0 { sums(d - 1, v, a); sums(d - 2, v + 1, b); sums(d - 2, v, c); sums(d - 3, v, e); step(a, b, o); }
  if d > 1 norm(c, k);
}
sub move(name a, name b) step(a, a, b);
sub smooth(name f, name t, name p) { for i = 0..9 step(f[p[i]], f[i], t[i]); }
C++ sub bursts(value a, name x) ${{  // is tiny, but for 200 calls of each 4000
  static int calls = 0;
  if (++calls % 4000 < 200) usleep(20);
  x.create(400);
  x.getData<char>()[0] = (a.getData<char>()[0] + 1) % 64;
$}}
sub drops(name a, name b) step(a, a, b) @ { delete a; };
sub drops_slowly(name a, name b) bursts(a, b) @ { delete a; };
sub drops_row(name a, name b) for i = 0..9 step(a[i], a[i], b[i]) @ { delete a[i]; };
sub drops_after(name a, name b) { df c; step(a, a, c) --> (a); step(c, c, b); }
)fa";

constexpr Steps kShapes[] = {
    {"mesh", 1000,
     "row(9, x, p); for t = 1..n for i = 0..9 step(x[t - 1][p[i]], x[t - 1][i], x[t][i]); show(x[n][0]);"},
    {"mesh backwards, time last", 1000,
     "for i = 0..9 { init(i, x[i][n]); number((i + 3) % 10, p[i]); }\n"
     "for t = 1..n for i = 0..9 step(x[p[i]][n + 1 - t], x[i][n + 1 - t], x[i][n - t]); show(x[0][0]);"},
    {"periodic 2D", 300,
     "for i = 0..5 for j = 0..5 init(i + j, x[0][i][j]);\n"
     "for t = 1..n for i = 0..5 for j = 0..5 step(x[t - 1][(i + 1) % 6][(j + 5) % 6], x[t - 1][i][j], x[t][i][j]);\n"
     "for i = 0..5 show(x[n][i][i]);"},
    {"periodic 3D", 150,
     "for i = 0..3 for j = 0..3 for k = 0..3 init(i + j + k, x[0][i][j][k]);\n"
     "for t = 1..n for i = 0..3 for j = 0..3 for k = 0..3\n"
     "  step(x[t - 1][(i + 1) % 4][(j + 3) % 4][(k + 2) % 4], x[t - 1][i][j][k], x[t][i][j][k]);\n"
     "show(x[n][1][2][3]);"},
    {"two loops at different speed", 1000,
     "row(9, x, p); for i = 0..9 init(i, y[0][i]);\n"
     "for t = 1..n for i = 0..9 step(x[t - 1][p[i]], x[t - 1][i], x[t][i]);\n"
     "for u = 1..n/4 for i = 0..9 step(y[u - 1][p[i]], x[4 * u][p[i]], y[u][i]);\n"
     "show(y[n/4][0]);"},
    {"a call for each cell", 1000,
     "number(3, k); for i = 0..9 init(i, x[0][i]);\n"
     "for t = 1..n for i = 0..9 cell(x[t - 1], i, k, x[t][i]); show(x[n][0]);"},
    {"a tree of subs that share a name", 800,
     "for i = 0..9 init(i, x[0][i]); for t = 1..n tree(x, t, 0, 9); show(x[n][0]);"},
    {"a while in a sub in a loop", 100,
     "init(1, x[0][0]); for o = 0..n - 1 segment(x, o, 90, x[o + 1][0]); show(x[n][0]);"},
    {"a while over a mesh", 1000,
     "row(9, x, p); number(1, k[0]);\n"
     "while k[t] > 0 && t < n, t = 0 .. out w {\n"
     "  for i = 0..9 step(x[t][p[i]], x[t][i], x[t + 1][i]); norm(x[t + 1][0], k[t + 1]); }\n"
     " show(x[w][0]);"},
    {"a while over a mesh, and who reads some of its rows", 1000,
     "row(9, x, p); number(1, k[0]);\n"
     "while k[t] > 0 && t < n, t = 0 .. out w {\n"
     "  for i = 0..9 step(x[t][p[i]], x[t][i], x[t + 1][i]); norm(x[t + 1][0], k[t + 1]); }\n"
     "\n"
     "for i = 0..9 step(x[w - 1][p[i]], x[w][i], y[i]); for i = 0..9 if p[i] > 8 show(x[w][i]); show(y[0]);"},
    {"an index that is read", 8000,
     "init(1, x[0]); for i = 0..n-1 { number(i, p[i]); step(x[p[i]], x[i], x[i + 1]); } show(x[n]);",
     "x[p[i]] may be any"},
    {"steps by recursion", 1000, "for i = 0..9 init(i, x[0][i]); go(x, 1, n); show(x[n][0]);"},
    {"leapfrog by recursion", 1000, "row(9, x, p); for i = 0..9 init(i, x[1][i]); leap(x, p, 2, n); show(x[n][0]);"},
    {"recursion by a value", 1000, "for i = 0..9 init(i, x[0][i]); watched(x, p, 1, n); show(x[n][0]);"},
    {"a while on a value from outside", 1000,
     "for i = 0..9 init(i, x[0][i]); number(1, k);\n"
     "while k > 0 && t < n, t = 0 .. out w for i = 0..9 step(x[t][i], x[t][9 - i], x[t + 1][i]); show(x[w][0]);"},
    {"a chain in a while on a value from outside", 8000,
     "init(0, x[0]); number(1, k); while k > 0 && t < n, t = 0 .. out w step(x[t], x[t], x[t + 1]); show(x[w]);"},
    {"a while that begins at what is read", 8000,
     "number(3, p); init(0, x[3]); number(1, k[3]); while k[t] > 0 && t < n, t = p .. out w {\n"
     "  step(x[t], x[t], x[t + 1]); norm(x[t + 1], k[t + 1]); }\n"
     "show(x[w]);"},
    {"one while behind another", 8000,
     "init(0, x[0]); number(1, k[0]); while k[t] > 0 && t < n/2, t = 0 .. out w {\n"
     "  step(x[t], x[t], x[t + 1]); norm(x[t + 1], k[t + 1]); }\n"
     "while k[t] > 0 && t < n, t = w .. out v { step(x[t], x[t], x[t + 1]); norm(x[t + 1], k[t + 1]); }\n"
     "show(x[v]);"},
    {"a while over a mesh, and a loop behind it", 1000,
     "row(9, x, p); number(1, k[0]);\n"
     "while k[t] > 0 && t < n/2, t = 0 .. out w {\n"
     "  for i = 0..9 step(x[t][p[i]], x[t][i], x[t + 1][i]); norm(x[t + 1][0], k[t + 1]); }\n"
     "for t = w .. n - 1 for i = 0..9 step(x[t][p[i]], x[t][i], x[t + 1][i]); show(x[n][0]);"},
    {"three whiles over a mesh, backwards", 1000,
     "for i = 0..9 { init(i, x[n][i]); number((i + 3) % 10, p[i]); } number(1, k[0]);\n"
     "while k[t] > 0 && t < n/3, t = 0 .. out w {\n"
     "  for i = 0..9 step(x[n - t][p[i]], x[n - t][i], x[n - t - 1][i]); norm(x[n - t - 1][0], k[t + 1]); }\n"
     "while k[t] > 0 && t < n/3*2, t = w .. out v {\n"
     "  for i = 0..9 step(x[n - t][p[i]], x[n - t][i], x[n - t - 1][i]); norm(x[n - t - 1][0], k[t + 1]); }\n"
     "while k[t] > 0 && t < n, t = v .. out u {\n"
     "  for i = 0..9 step(x[n - t][p[i]], x[n - t][i], x[n - t - 1][i]); norm(x[n - t - 1][0], k[t + 1]); }\n"
     "show(x[n - u][0]);"},
    {"a loop, and who reads what it makes", 20000, "for t = 0..n init(t, x[t]); for t = 0..n show(x[t]);"},
    {"a loop, and who reads what it makes, before it", 20000, "for t = 0..n show(x[t]); for t = 0..n init(t, x[t]);"},
    {"loops in a row", 80000,  // 53 MB, whenever that is reached, wait for the next loop
     "for t = 0..n init(t, x[t]); for t = 0..n move(x[t], y[t]); for t = 0..n step(y[t], y[t], p[t]);\n"
     "for t = 0..n show(p[t]);",
     nullptr, 24},
    {"rows, and who reads them", 4000,
     "for t = 0..n for i = 0..9 init(i, x[t][i]); for t = 0..n for i = 0..9 show(x[t][(i + 1) % 10]);"},
    {"what a while reads, made by a loop", 20000,
     "for t = 0..n init(t, x[t]); init(0, y[0]); number(1, k[0]);\n"
     "while k[t] > 0 && t < n, t = 0 .. out w { step(y[t], x[t], y[t + 1]); norm(y[t + 1], k[t + 1]); } show(y[w]);"},
    {"a chain, and who looks on", 20000,
     "init(0, x[0]); for t = 1..n step(x[t - 1], x[t - 1], x[t]); for t = 0..n show(x[t]);"},
    {"who looks on at each k-th step", 20000,
     "init(0, x[0]); for t = 1..n step(x[t - 1], x[t - 1], x[t]);\n"
     "let k = 2 + n % 3 { for t = 1..n / k step(x[t * k], x[t * k], y[t]); }"},
    {"who looks on some steps behind", 20000,
     "init(0, x[0]); for t = 1..n step(x[t - 1], x[t - 1], x[t]);\n"
     "let k = 2 + n % 3 { for t = 0..n step(x[t > k ? t - k : 0], x[t], y[t]); }"},
    {"skewed loops", 2000,
     "for i = 0..9 init(i, x[0][i]); for t = 1..n { init(0, x[t][0]); init(9, x[t][9]); }\n"
     "let m = 8 + n / 1000000 { for s = 1..m + 2 * (n - 1)\n"
     "  for t = (s > m ? (s - m + 1) / 2 : 0)..((s - 1) / 2 < n - 1 ? (s - 1) / 2 : n - 1)\n"
     "    step(x[t][s - 2 * t - 1], x[t][s - 2 * t + 1], x[t + 1][s - 2 * t]); show(x[n][4]); }"},
    {"a while that is slow at times, and who looks on", 20000,
     "init(1, x[0]); number(1, k[0]); while k[t] > 0 && t < n, t = 0 .. out w {\n"
     "  drops_slowly(x[t], x[t + 1]) @ { locator_cyclic: 0; }; norm(x[t + 1], k[t + 1]); }\n"
     "for t = 0..n - 1 norm(x[t], p[t]); show(x[w]);"},
    {"a while that is slow at times, without a sub", 20000,
     "init(1, x[0]); number(1, k[0]); while k[t] > 0 && t < n, t = 0 .. out w {\n"
     "  bursts(x[t], x[t + 1]); norm(x[t + 1], k[t + 1]); }\n"
     "for t = 0..n - 1 norm(x[t], p[t]); show(x[w]);"},
    {"a chain that follows another", 20000,
     "init(0, x[0]); init(0, y[0]); for t = 1..n step(x[t - 1], x[t - 1], x[t]);\n"
     "for t = 1..n step(y[t - 1], x[t], y[t]); show(y[n]);"},
    {"levels that hand their own names on", 500, "for i = 0..9 init(i, x[i]); hand(x, 0, n);"},
    {"rows that a sub makes", 1000, "row(9, x, p); for t = 1..n smooth(x[t - 1], x[t], p); show(x[n][0]);"},
    {"a while on what says that a sub has ended", 20000,
     "init(1, x[0]); number(1, k[0]); while k[t] && t < n, t = 0 .. out w move(x[t], x[t + 1]) >> (k[t + 1]);\n"
     "show(x[w]);"},
    {"if a sub has ended", 20000,
     "init(1, x[0]); number(1, k[0]); for t = 0..n - 1 if k[t] move(x[t], x[t + 1]) >> (k[t + 1]); show(x[n]);"},
    {"what says that a sub has ended, for nobody but the last", 20000,
     "init(1, x[0]); for t = 0..n - 1 move(x[t], x[t + 1]) >> (k[t]); show(x[n]); if k[n - 1] show(x[n]);"},
    {"a recursion with names of its own in each step", 8000,
     "init(1, x[0]); for t = 0..n - 1 level(2, x[t], x[t + 1]); show(x[n]);"},
    {"a recursion that hands a name of its own on", 1000, "large(0, x[0]); down(x[0], 1, n);"},
    {"sums by calls, some of which nobody reads", 2000, "for t = 0..n { df o; sums(3, t, o); if t == n show(o); }"},
    {"a tree with names of its own in a while", 4000,
     "init(1, x[0]); number(1, k[0]); while k[t] > 0 && t < n, t = 0 .. out w {\n"
     "  split(2, x[t], x[t + 1]); norm(x[t + 1], k[t + 1]); }\n"
     "show(x[w]);"},
    {"two names in turn", 1000,
     "row(9, x, p); for t = 1..n { smooth(x[t - 1], y[t], p); smooth(y[t], x[t], p); } show(x[n][0]);"},
    // A delete may wait for loops of the caller until the end: what it leaves is swept.
    {"a delete in a sub, and who looks on", 8000,
     "init(1, x[0]); for t = 1..n drops(x[t - 1], x[t]) @ { locator_cyclic: 0; }; for t = 0..n - 1 norm(x[t], p[t]);\n"
     "show(x[n]);"},
    {"a delete in a sub, and who reads the first", 8000,
     "init(1, x[0]); for t = 1..n drops(x[t - 1], x[t]) @ { locator_cyclic: 0; }; for t = 0..3 norm(x[t], p[t]);\n"
     "show(x[n]);"},
    {"deletes of rows in a sub, and who looks on", 1000,
     "for i = 0..9 init(i, x[0][i]); for t = 1..n drops_row(x[t - 1], x[t]) @ { locator_cyclic: 0; };\n"
     "for t = 0..n - 1 for i = 0..9 norm(x[t][i], p[t][i]); show(x[n][0]);"},
    {"a delete in a sub in a while, and who looks on", 8000,
     "init(1, x[0]); number(1, k[0]); while k[t] > 0 && t < n, t = 0 .. out w {\n"
     "  drops(x[t], x[t + 1]) @ { locator_cyclic: 0; }; norm(x[t + 1], k[t + 1]); }\n"
     "for t = 0..n - 1 norm(x[t], p[t]); show(x[w]);"},
    {"deletes of two names in two subs, and who looks on", 4000,
     "init(1, x[0]); for t = 1..n { drops(x[t - 1], y[t]) @ { locator_cyclic: 0; };\n"
     "  drops_after(y[t], x[t]) @ { locator_cyclic: 0; }; }\n"
     "for t = 1..n - 1 { norm(x[t], p[t]); norm(y[t], k[t]); } show(x[n]);"},
    {"a delete by who does not read it", 8000,
     "init(1, x[0]); for t = 1..n {\n"
     "  step(x[t - 1], x[t - 1], x[t]); step(x[t - 1], x[t], p[t]); norm(p[t], k[t]) --> (x[t - 1]); }\n"
     "for t = n..n norm(x[t], y[t]); show(x[n]);"},
};

// On several ranks: what is counted, so that what is made ahead is all that could grow.
constexpr Steps kCounted[] = {
    {"plain", 3000,
     "for i = 0..9 init(i, x[0][i]); for t = 1..n for i = 0..9 step(x[t - 1][i], x[t - 1][9 - i], x[t][i]);\n"
     "for i = 0..9 show(x[n][i]);"},
    {"a ring", 3000,
     "for i = 0..9 init(i, x[0][i]);\n"
     "for t = 1..n for i = 0..9 step(x[t - 1][(i + 9) % 10], x[t - 1][(i + 1) % 10], x[t][i]);\n"
     "for i = 0..9 show(x[n][i]);"},
    {"a ring, a part on each rank", 3000,
     "for i = 0..9 init(i, x[0][i]) @ { locator_cyclic: i / 4; };\n"
     "for t = 1..n for i = 0..9\n"
     "  step(x[t - 1][(i + 9) % 10], x[t - 1][(i + 1) % 10], x[t][i]) @ { locator_cyclic: i / 4; };\n"
     "for i = 0..9 show(x[n][i]);"},
    {"an if on data", 6000,
     "for i = 0..9 { init(i, x[0][i]); number(i % 2, p[i]); }\n"
     "for t = 1..n for i = 0..9 { if p[i] == 0 step(x[t - 1][i], x[t - 1][i], x[t][i]);\n"
     "  if p[i] == 1 step(x[t - 1][9 - i], x[t - 1][9 - i], x[t][i]); }\n"
     "for i = 0..9 show(x[n][i]);"},
};

// What is swept there.
constexpr Steps kSwept[] = {
    {"a mesh", 8000,
     "row(9, x, p); for t = 1..n for i = 0..9 step(x[t - 1][p[i]], x[t - 1][i], x[t][i]);\n"
     "for i = 0..9 show(x[n][i]);"},
    {"a mesh that is stolen from", 8000,
     "row(9, x, p); for t = 1..n for i = 0..9 step(x[t - 1][p[i]], x[t - 1][i], x[t][i]);\n"
     "for i = 0..9 show(x[n][i]);"},
    {"a mesh, a part on each rank", 8000,
     "row(9, x, p); for t = 1..n for i = 0..9\n"
     "  step(x[t - 1][p[i]], x[t - 1][i], x[t][i]) @ { locator_cyclic: i / 4; };\n"
     "for i = 0..9 show(x[n][i]);"},
    {"steps by recursion", 8000, "for i = 0..9 init(i, x[0][i]); go(x, 1, n); show(x[n][0]);", "not known why"},
    {"as many parts of a step as its values say", 1500,
     "for i = 0..5 init(i, x[0][i]) @ { locator_cyclic: i; };\n"
     "for t = 0..n - 1 { df f, k; parts(x[t][0], k); for i = 0..5 step(x[t][i], x[t][i], f[0][i]);\n"
     "  for j = 0..k - 1 for i = 0..5\n"
     "    step(f[j][(i + 5) % 6], f[j][(i + 1) % 6], f[j + 1][i]) @ { locator_cyclic: i; };\n"
     "  for i = 0..5 step(f[k][i], f[k][i], x[t + 1][i]) @ { locator_cyclic: i; }; }\n"
     "for i = 0..5 show(x[n][i]);"},
    {"a delete in a sub, and who looks on", 30000,
     "init(1, x[0]); for t = 1..n drops(x[t - 1], x[t]) @ { locator_cyclic: t; };\n"
     "for t = 0..n - 1 norm(x[t], p[t]) @ { locator_cyclic: t / 2; }; show(x[n]);"},
};

// Of two threads one makes what the other one reads, more slowly.
constexpr Steps kOfTwo[] = {
    {"a chain that reads what a loop makes", 12000,
     "for t = 0..n large(t, x[t]); init(0, y[0]); for t = 1..n read(y[t - 1], x[t], y[t]); show(y[n]);"},
    {"the same, each in a place", 12000,
     "for t = 0..n large(t, x[t]) @ { locator_cyclic: 0; }; init(0, y[0]) @ { locator_cyclic: 0; };\n"
     "for t = 1..n read(y[t - 1], x[t], y[t]) @ { locator_cyclic: 0; }; show(y[n]);"},
    {"a chain, what is larger, and a slower chain that reads that", 6000,
     "large(0, x[0]); init(0, y[0]); for t = 1..n read_all(x[t - 1], x[t]);\n"
     "for t = 1..n larger(x[t], p[t]); for t = 1..n read(y[t - 1], p[t], y[t]); show(y[n]);"},
    {"five of them", 6000,
     "large(0, x[0]); init(0, y[0]); for t = 1..n read_all(x[t - 1], x[t]); for t = 1..n read_all(x[t], u[t]);\n"
     "for t = 1..n read_all(u[t], v[t]); for t = 1..n larger(v[t], p[t]);\n"
     "for t = 1..n read(y[t - 1], p[t], y[t]); show(y[n]);"},
};

// What is made before the first of it is read.
constexpr double kMostOfTwoMb = 40;  // twice that on two threads, of which one may get no core for long
// What is made until a sweep has come around, on a busy machine. With --without sweep-names such a mesh takes 218 MB
// more for four times 8,000 steps.
constexpr double kMostSweptMb = 30;

class Flat : public Command {
 protected:
#ifdef __SANITIZE_ADDRESS__
  void SetUp() override { GTEST_SKIP() << "AddressSanitizer holds back what is freed"; }
#endif
  double peak_mb(std::size_t which, int steps, const Words& options = {}) {
    Words words{"run", "-q", "p.fa", "--summary", "s.json", "-t", "1"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", std::to_string(which), std::to_string(steps)});
    return peak_mb(words);
  }
  // Of the rank that takes most.
  double peak_mb(const Words& words) {
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0));
    const auto summary = nlohmann::json::parse(read("s.json"));
    double most = 0;
    for (const auto& rank : summary.at("ranks")) most = std::max(most, rank.at("peak_memory_kb").get<double>());
    return most / 1024;
  }
  template <std::size_t N>
  void write_program(const Steps (&shapes)[N]) {
    std::string program = kSubs;
    program += "sub main(int which, int n) {\n";
    for (std::size_t k = 0; k < N; ++k) {
      program += "if which == " + std::to_string(k) + " { df x, y, p, k, w, v, u;\n" + shapes[k].body + " }\n";
    }
    program += "}\n";
    write("p.fa", program);
  }
};

TEST_F(Flat, MemoryDoesNotGrowWithTheSteps) {
  write_program(kShapes);
  for (std::size_t k = 0; k < std::size(kShapes); ++k) {
    const Steps& s = kShapes[k];
    if (s.grows != nullptr) continue;
    EXPECT_LT(peak_mb(k, 4 * s.steps), peak_mb(k, s.steps) + s.most_mb)
        << s.name << ": " << s.steps << " steps, and four times as many";
  }
  const Words without{"--without", "sweep-names"};
  EXPECT_GT(peak_mb(0, 4 * kShapes[0].steps, without), peak_mb(0, kShapes[0].steps, without) + kShapes[0].most_mb)
      << "the check can fail";
}

TEST_F(Flat, WhoMakesValuesFasterThanTheyAreReadHoldsOn) {
  write_program(kOfTwo);
  for (std::size_t k = 0; k < std::size(kOfTwo); ++k) {
    const Steps& s = kOfTwo[k];
    for (const Words& workers : {Words{"-t", "1"}, Words{"-t", "2"}, Words{"-n", "2", "--balancer", "none"}}) {
      const auto mb = [&](int steps) {
        Words words{"run", "-q", "p.fa", "--summary", "s.json"};
        words.insert(words.end(), workers.begin(), workers.end());
        words.insert(words.end(), {"--", std::to_string(k), std::to_string(steps)});
        return peak_mb(words);
      };
      const double most = mb(s.steps / 16) + (workers[1] == "2" && workers[0] == "-t" ? 2 : 1) * kMostOfTwoMb;
      double least = mb(s.steps);
      // A thread that gets no core for long reads nothing: it was in vain then to hold on.
      for (int again = 0; again < 2 && least >= most; ++again) least = std::min(least, mb(s.steps));
      EXPECT_LT(least, most) << s.name << ": " << s.steps / 16 << " steps, and sixteen times as many, " << workers[0]
                             << workers[1];
    }
  }
}

// What they took when this was measured, in MB, and half as much again, for what runs ahead differs.
TEST_F(Flat, ExamplesTakeNoMoreThanTheyDid) {
  struct {
    const char* name;
    Words workers;
    double mb;
  } const examples[] = {{"rowreduce", {"-t", "1"}, 238}, {"rowreduce", {"-t", "2"}, 203},
                        {"rowreduce", {"-n", "2"}, 245}, {"heat", {"-t", "1"}, 39},
                        {"cholesky", {"-t", "1"}, 22},   {"conjugate", {"-t", "1"}, 15}};
  for (const auto& [name, workers, mb] : examples) {
    const std::string program = std::string(TESSERA_SOURCE_DIR "/examples/") + name + "/" + name + ".fa";
    Words words{"run", "-q", program, "--summary", "s.json"};
    words.insert(words.end(), workers.begin(), workers.end());
    EXPECT_LT(peak_mb(words), 1.5 * mb) << name << " " << workers[0] << workers[1];
  }
}

// However busy the machine is: what ranks make ahead is bounded by how many fragments wait (runtime/work/lead.hpp).
TEST_F(Flat, RanksDoNotMakeEverythingAhead) {
  write_program(kCounted);
  const std::vector<Words> runs = {{"-n", "2", "--balancer", "none"},
                                   {"-n", "2", "--balancer", "auto"},
                                   {"-n", "3", "--balancer", "steal"},
                                   {"-n", "4", "--balancer", "central"},
                                   {"-n", "4", "--balancer", "none"}};
  for (std::size_t k = 0; k < std::size(kCounted); ++k) {
    const Steps& s = kCounted[k];
    for (std::size_t r : {std::size_t{0}, 1 + k % (runs.size() - 1)}) {
      EXPECT_LT(peak_mb(k, 4 * s.steps, runs[r]), peak_mb(k, s.steps, runs[r]) + s.most_mb)
          << s.name << ": " << s.steps << " steps, and four times as many, " << runs[r][1] << " ranks, " << runs[r][3];
    }
  }
}

// Loops around others do not go on before these, whatever piles up: all steps of a factorisation waited while its first
// one ran (170 MB), and thousands of cycles of a solver whose levels are a recursion (290 to 400 MB).
TEST_F(Flat, RanksGoStepByStep) {
  write("lu.fa",
        "C++ sub init(int i, int j, name x) ${{ x = (i * 131 + j * 37) % 1000; $}}\n"
        "C++ sub diag(int a, name d) ${{ d = (a * 7 + 3) % 1009; $}}\n"
        "C++ sub pan(int a, int d, name l) ${{ l = (a * 5 + d) % 1009; $}}\n"
        "C++ sub upd(int a, int l, int u, name b) ${{ b = (a + l * u) % 1009; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int N) {\n  df a, d, l, u;\n"
        "  for i = 0..N-1 for j = 0..N-1 init(i, j, a[0][i][j]);\n"
        "  for k = 0..N-1 {\n    diag(a[k][k][k], d[k]);\n"
        "    for i = k+1..N-1 { pan(a[k][i][k], d[k], l[k][i]); pan(a[k][k][i], d[k], u[k][i]); }\n"
        "    for i = k+1..N-1 for j = k+1..N-1 upd(a[k][i][j], l[k][i], u[k][j], a[k+1][i][j]);\n  }\n"
        "  show(d[N-1]);\n}\n");
  write("levels.fa",
        "C++ sub init(int i, name x) ${{ x = i * 131 % 1000; $}}\n"
        "C++ sub two(int l, int c, name y) ${{ y = (l + 2 * c + 1) % 1009; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub cycle(name u, int n, name v) {\n  df c, d;\n  if n == 1 two(u[0], u[0], v[0]);\n  if n > 1 {\n"
        "    for i = 0..n/2-1 two(u[2*i], u[2*i+1], c[i]);\n    cycle(c, n/2, d);\n"
        "    for i = 0..n-1 two(d[i/2], u[i], v[i]);\n  }\n}\n"
        "sub main(int T) {\n  df u;\n  for i = 0..63 init(i, u[0][i]);\n"
        "  for t = 0..T-1 cycle(u[t], 64, u[t+1]);\n  show(u[T][0]);\n}\n");
  constexpr double kMostOfRank = 90;
  for (const auto& [program, size, balancer] :
       {std::array{"lu.fa", "150", "none"}, {"lu.fa", "150", "auto"}, {"levels.fa", "12000", "none"}}) {
    const Words words{"run",        "-q",     program,     "-n",     "2",  "-t", "1",
                      "--balancer", balancer, "--summary", "s.json", "--", size};
    double least = peak_mb(words);
    // Who gets no core for long has nothing to run meanwhile, and makes more.
    for (int again = 0; again < 2 && least >= kMostOfRank; ++again) least = std::min(least, peak_mb(words));
    EXPECT_LT(least, kMostOfRank) << program << " " << balancer;
  }
}

// What is made and read on the rank that has stolen it: its home, slower than that, was told of each value and of each
// reader (20 bytes a fragment, and 80 to 400 MB of what it had not got round to).
TEST_F(Flat, NobodyIsToldOfWhatIsReadWhereItWasMade) {
  write("chains.fa",
        "C++ sub number(int v, name x) ${{ x = v; $}}\n"
        "C++ sub inc(int v, name x) ${{ x = v + 1; $}}\n"
        "C++ sub show(int a) ${{ printf(\"%d\\n\", a); $}}\n"
        "sub main(int k, int n) {\n  df x;\n"
        "  for c = 1..k number(c, x[c][0]);\n"
        "  for c = 1..k for t = 1..n inc(x[c][t-1], x[c][t]);\n"
        "  for c = 1..k show(x[c][n]);\n}\n");
  for (const char* balancer : {"steal", "auto"}) {
    const double peak = peak_mb({"run", "-q", "chains.fa", "-n", "2", "-t", "1", "--balancer", balancer, "--summary",
                                 "s.json", "--", "50", "60000"});
    EXPECT_LT(peak, 60) << balancer;
    double sent = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& rank : summary.at("ranks")) sent += rank.at("bytes_sent").get<double>();
    EXPECT_LT(sent / 3e6, 6) << "bytes a fragment, " << balancer;
  }
}

// A rank that has everything asks nobody what may be freed, and who makes the values frees them: the communication
// thread was so far behind that 260 to 310 MB of this stayed.
TEST_F(Flat, ARankThatHasEverythingKeepsUpWithItself) {
  write("partners.fa",
        "C++ sub number(int v, name x) ${{ x = v; $}}\n"
        "C++ sub mix(int a, int b, name c) ${{ c = (a * 31 + b * 17 + 5) % 1000003; $}}\n"
        "C++ sub show(int a) ${{ printf(\"%d\\n\", a); $}}\n"
        "sub main(int n, int steps) {\n  df x;\n"
        "  for i = 0..n-1 number(i, x[0][i]);\n"
        "  for t = 0..steps-1 for i = 0..n-1 mix(x[t][i], x[t][(i*5+t*3+1)%n], x[t+1][i]);\n"
        "  for i = 0..n-1 show(x[steps][i]);\n}\n");
  EXPECT_LT(peak_mb({"run", "-q", "partners.fa", "-n", "2", "-t", "1", "--balancer", "none", "--summary", "s.json",
                     "--", "40", "40000"}),
            60);
}

// What calls in places have for themselves is swept there likewise, though what they were called with came from
// elsewhere: up to 270 MB of this stayed, and it took 1.7 times the time.
TEST_F(Flat, CallsInPlacesSweepWhatIsTheirOwn) {
  write("chains.fa",
        "C++ sub number(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub chain(int k, int n, name r) {\n  df u, last;\n  number(k, u[0]);\n"
        "  while u[t] >= 0 && t < n, t = 0 .. out last {\n"
        "    if u[t] < 100 { number(u[t] + 1, u[t + 1]); } else { number(u[t] - 50, u[t + 1]); }\n  }\n"
        "  number(u[last], r);\n}\n"
        "sub main(int n) {\n  df r;\n"
        "  for k = 0..3 chain(k, n, r[k]) @ { locator_cyclic: k; };\n  for k = 0..3 show(r[k]);\n}\n");
  EXPECT_LT(peak_mb({"run", "-q", "chains.fa", "-n", "2", "-t", "1", "--balancer", "none", "--summary", "s.json", "--",
                     "800000"}),
            60);
}

TEST_F(Flat, RanksSweep) {
  write_program(kSwept);
  const std::vector<Words> runs = {{"-n", "2", "--balancer", "none"}, {"-n", "2", "--balancer", "steal"}};
  for (std::size_t k = 0; k < std::size(kSwept); ++k) {
    const Steps& s = kSwept[k];
    const Words& run = runs[k % 2];
    if (s.grows != nullptr) continue;
    EXPECT_LT(peak_mb(k, 4 * s.steps, run), peak_mb(k, s.steps, run) + kMostSweptMb)
        << s.name << ": " << s.steps << " steps, and four times as many, " << run[3];
  }
}

}  // namespace
}  // namespace tessera::tests
