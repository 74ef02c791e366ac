// The same on several ranks, or threads: what is made ahead, what is swept between ranks, what piles up.
#include <array>

#include "flat.hpp"

namespace tessera::tests {
namespace {

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
