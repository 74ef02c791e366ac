// Memory that does not grow with a program's steps, whatever its shape (docs/optimisations.md, count-uses,
// sweep-names). On several ranks and threads: flat_ranks_test.cpp.
#include "flat.hpp"

namespace tessera::tests {
namespace {

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

}  // namespace
}  // namespace tessera::tests
