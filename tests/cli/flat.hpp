// Programs whose memory may not grow with their steps, and what one takes.
#pragma once

#include <algorithm>
#include <string>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {

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

}  // namespace tessera::tests
