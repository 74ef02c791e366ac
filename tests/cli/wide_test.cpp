// Programs that have much at once: with four times as much they may not take much more than four times as long,
// whatever waits in queues and lists.
#include <string>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

struct Wide {
  const char* name;
  int size;          // and four times as much
  const char* body;  // of `sub main(int which, int n)`
};

constexpr const char* kSubs = R"fa(
C++ sub init(int v, name x) ${{ x = v; $}}
C++ sub below(int i, name x) ${{ unsigned h = i * 2654435761u; h ^= h >> 15; x = i > 0 ? static_cast<int>(h % i) : 0; $}}
C++ sub row(int n, int v, name x) ${{ x.create<int>(n)[0] = v; $}}
C++ sub first(value x) ${{ printf("%d\n", x.getData<int>()[0]); $}}
C++ sub show(int v) ${{ printf("%d\n", v); $}}
sub later(int v, name r) { df m; init(v % 3, m); if m == 0 init(v, r); else { df q; init(m, q); init(q + v, r); } }
)fa";

constexpr Wide kShapes[] = {
    {"what a table tells, in a chain", 16'000,
     "for i = 0..n - 1 init(i * 7 % n, p[i]); for i = 0..n - 1 init(i, v[i]); init(0, s[0]);\n"
     "for i = 0..n - 1 init((s[i] * 3 + v[p[i]]) % 10007, s[i + 1]); show(s[n]);"},
    {"an if on data that comes last", 16'000,
     "for i = 0..n - 1 init(i * 7 % 3, p[i]);\n"
     "for i = 0..n - 1 if p[n - 1 - i] == 0 init(2 * i, v[i]); else init(i, v[i]);\n"
     "init(0, s[0]); for i = 0..n - 1 init((s[i] * 3 + v[i]) % 10007, s[i + 1]); show(s[n]);"},
    {"an if on data around large values", 8'000,
     "for i = 0..n - 1 init(i * 7 % 3, p[i]);\n"
     "for i = 0..n - 1 if p[n - 1 - i] == 0 row(100, i, v[i]); else row(50, i, v[i]); first(v[n - 1]);"},
    {"a tree by pointers, backwards", 16'000,
     "for i = 0..n - 1 below(n - 1 - i, p[n - 1 - i]);\n"
     "for i = 0..n - 2 let k = n - 1 - i { init(v[p[k]] * 3 % 10007 + 1, v[k]); } init(0, v[0]); show(v[n - 1]);"},
    {"each names the next one's place", 16'000,
     "for i = 0..n - 1 init((i * 7 + 3) % n, p[i]); init(1, v[3]);\n"
     "for i = 0..n - 2 init((v[p[i]] * 3 + i) % 10007, v[p[i + 1]]); show(v[p[n - 1]]);"},
    {"calls that wait for data", 8'000,
     "for i = 0..n - 1 later(v[n - 1 - i], s[i]); for i = 0..n - 1 init(i * 7 % 1000, v[i]); show(s[n - 1]);"},
    {"loops that wait for data", 4'000,
     "for i = 0..n - 1 for j = 0..p[n - 1 - i] init(i, v[i][j]); for i = 0..n - 1 init(i % 5, p[i]); show(v[n - "
     "1][0]);"},
    {"whiles side by side", 4'000,
     "for i = 0..n - 1 { init(i % 5, v[i][0]); while v[i][t] > 0, t = 0 .. out w[i] init(v[i][t] - 1, v[i][t + 1]); }\n"
     "for i = 0..n - 1 show(w[i] - i % 5);"},
    {"all read one", 32'000, "for i = 0..n - 1 init(v[0] + i, s[i]); init(1, v[0]); show(s[n - 1]);"},
    {"one line, read from its end", 32'000,
     "for i = 0..n - 1 init(v[n - 1 - i] + 1, s[i]); for i = 0..n - 1 init(i, v[i]); show(s[n - 1]);"},
};

class WideTest : public Command {
 protected:
  std::string printed;  // by the last run

  double cpu_seconds(std::size_t which, int n, const Words& options) {
    Words words = {"run", "p.fa", "--summary", "s.json", "-q"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", std::to_string(which), std::to_string(n)});
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0));
    printed = o.out;
    const auto summary = nlohmann::json::parse(read("s.json"));
    double seconds = 0;
    for (const auto& rank : summary.at("ranks")) seconds += rank.at("cpu_seconds").get<double>();
    return seconds;
  }
};

TEST_F(WideTest, FourTimesAsMuchTakesAboutFourTimesAsLong) {
  std::string program = kSubs;
  program += "sub main(int which, int n) {\n";
  for (std::size_t k = 0; k < std::size(kShapes); ++k)
    program += "if which == " + std::to_string(k) + " { df p, v, s, w;\n" + std::string(kShapes[k].body) + " }\n";
  write("p.fa", program + "}\n");
  const Words runs[] = {{"-n", "1", "-t", "1"}, {"-n", "1", "-t", "2"}, {"-n", "2", "-t", "1"}};
  for (std::size_t k = 0; k < std::size(kShapes); ++k) {
    const Wide& s = kShapes[k];
    std::string alone;
    for (const Words& run : {runs[0], runs[1 + k % 2]}) {
      const double once = cpu_seconds(k, s.size, run), more = cpu_seconds(k, 4 * s.size, run);
      EXPECT_LT(more, 8 * once + 0.15) << s.name << ": " << s.size << ", and four times as many; " << run[1]
                                       << " ranks, " << run[3] << " threads";
      if (alone.empty()) alone = printed;
      EXPECT_EQ(printed, alone) << s.name;
    }
  }
}

}  // namespace
}  // namespace tessera::tests
