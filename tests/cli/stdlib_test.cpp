// The standard library as programs meet it. What its kernels compute: tests/stdlib/programs.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "command.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

class Stdlib : public Command {};

// Calls that are wrong, and what is said; a and b are 2 x 3 matrices, x and y have 4 and 5 elements.
constexpr std::pair<const char*, const char*> kWrong[] = {
    {"print_format(\"%d and %d\", 1)", "has two conversions"},
    {"print_format(\"none\", 1)", "has no conversion"},
    {"print_format(\"%d\", 0.5)", "the format \"%d\" is for something else than a real, which %g shows"},
    {"print_format(\"%n\", 1)", "`%n` is none of"},
    {"print_format(\"%ld\", 1)", "`%l` is none of"},
    {"print_format(\"%g\", \"text\")", "something else than a string, which %s shows"},
    {"sqrt(-4, r)", "sqrt of -4 is no real number"},
    {"abs(-2147483647 - 1, r)", "does not fit the int"},
    {"vector(-1, 0, r)", "a vector of -1 elements"},
    {"vector_apply(\"sine\", x, r)", "there is no function \"sine\"; there are sin"},
    {"element(x, 4, r)", "`x` has 4 elements, counted from 0: there is no element 4"},
    {"slice(x, 2, 3, r)", "elements 2 .. 5 (the last not included) of `x`, which has 4"},
    {"part(x, 0, 5, r)", "4 elements can't be split into 5 parts"},
    {"part(x, 2, 2, r)", "there is no part 2 of 2"},
    {"axpy(1, x, y, r)", "`x` has 4 elements, and `y` has 5"},
    {"dot(x, y, r)", "`x` has 4 elements, and `y` has 5"},
    {"norm(a, r)", "`a` is a matrix (2 x 3), and read as a vector"},
    {"matrix(2, 0, 0, r)", "a matrix of 2 x 0 elements"},
    {"matrix_of(2, 3, x, r)", "`x` has 4 elements, not the 6 of a 2 x 3 matrix"},
    {"transpose(x, r)", "`x` holds 32 bytes that are no matrix"},
    {"matrix_multiply(a, b, r)", "`a` is 2 x 3, and `b` is 2 x 3: there is no product a b"},
    {"gemm_nt(1, a, b, 1, a, r)", "`a` is 2 x 3, but the product is 2 x 2"},
    {"gemv(1, a, x, 1, y, r)", "`a` is 2 x 3, `x` has 4 elements and `y` has 5"},
    {"matrix_add(1, a, square, r)", "`a` is 2 x 3, and `square` is 2 x 2"},
    {"syrk(1, a, 1, b, r)", "`b` is 2 x 3, and should be square"},
    {"cholesky(a, r)", "`a` is 2 x 3, and should be square"},
    {"cholesky(square, r)", "`square` is not positive definite: its leading minor of order 2"},
    {"solve_lower(zero, a, r)", "`zero` is singular: element 0 of its diagonal is 0"},
    {"solve_right(square, a, r)", "`square` is 2 x 2, and `a` is 2 x 3: sizes of a system do not fit"},
    {"add(words[0], words[1], r)", "is a string, and a number is needed"},
    {"reduce_sum(one, 0, 0, r)", "a reduction of 0 fragments has no value"},
    {"row(a, 2, r)", "`a` is 2 x 3: there is no row 2"},
    {"beside(a, square3, r)", "`a` is 2 x 3, and `square3` is 3 x 3: blocks beside each other"},
    {"jacobi_step(a, x, 0, 0, 0, r)", "the block is 2 x 3, and `x`, its top, has 4 cells"},
    {"block_of(a, 0, 0, 3, 1, r)", "2 rows can't be split into 3 parts"},
};

TEST_F(Stdlib, WrongArgumentsAreNamedWithTheirSizes) {
  std::string text =
      "#include <std/base.fa>\n#include <std/blocks.fa>\n#include <std/mesh.fa>\n#include <std/reduce.fa>\n"
      "sub main(int which) {\n  df a, b, x, y, square, square3, zero, one, words, r;\n"
      "  matrix(2, 3, 1, a);\n  matrix(2, 3, 1, b);\n  vector(4, 1, x);\n  vector(5, 1, y);\n"
      "  matrix(2, 2, 1, square);\n  matrix(3, 3, 1, square3);\n  matrix(2, 2, 0, zero);\n  set(1, one[0]);  "
      "set(\"a\", words[0]);  set(1, words[1]);\n"
      "  print(b);\n  print(y);\n  print(square3);\n  print(zero);\n  print(one[0]);\n  if which == -1 print(r);\n";
  int number = 0;
  for (const auto& [call, message] : kWrong) {
    text += "  if which == " + std::to_string(number++) + " " + call + ";\n";
  }
  write("p.fa", text + "}\n");
  number = 0;
  for (const auto& [call, message] : kWrong) {
    const std::string line = "p.fa:" + std::to_string(21 + number);
    const std::string which = std::to_string(number++);
    // What goes wrong in a sub of the library goes wrong in a line of it, for which the call is named.
    const bool sub = std::string(call).rfind("reduce", 0) == 0;
    EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "--", which}), 1,
                      {message, sub ? "reduce.fa:" : line + ":", sub ? ", called at " + line + "\n" : ""}))
        << call;
  }
}

// Which of several calls it was is not known; through other subs of the library, the user's calls are
// found, too.
TEST_F(Stdlib, MessagesNameTheCallsOfItsSubs) {
  const std::string head =
      "#include <std/base.fa>\n#include <std/vector.fa>\nsub main(int n) {\n  df x, p, y;\n"
      "  vector(4, 1, x);\n  split_vector(x, 2, p);\n";
  write("one.fa", head + "  join_vector(p, n, y);\n  print(y);\n}\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "one.fa", "--", "3"}), 1,
                    {"waits for `x[2]`", "vector.fa:", ", called at one.fa:7\n"}))
      << "join_vector calls std_join, which calls itself";
  write("many.fa", head +
                       "  join_vector(p, n, y);\n  print(y);\n  df r;\n  for i = 1..2 join_vector(p, i, r[i]);\n"
                       "  print(r[1]); print(r[2]); join_vector(p, 2, r[3]);\n  join_vector(p, 1, r[4]);\n"
                       "  print(r[3]); print(r[4]);\n}\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "many.fa", "--", "3"}), 1,
                    {", called at many.fa:7, many.fa:10, many.fa:11 or 1 more\n"}));
}

TEST_F(Stdlib, OwnNamesWin) {
  write("ucodes.cpp",
        "#include \"ucenv.h\"\n"
        "extern \"C\" void set(int v, OutputDF &x) { x = v + 1000; }\n"
        "extern \"C\" void print(int a, int b) { printf(\"own %d %d\\n\", a, b); }\n");
  write("p.fa",
        "import set(int, name) as set;\n#include <std/base.fa>\n#include <std/reduce.fa>\nimport print(int, int) as "
        "print;\n"
        "sub copy(int v) { print(v, v); }\n"
        "C++ sub add(value a, value b, name c) ${{ c = a.get_int() * b.get_int(); $}}\n"
        "$REDUCTION(my_product, add)\n"
        "sub main() {\n  df x, s, p, v;\n  set(1, x[0]);\n  set(2, x[1]);\n  print(x[0], x[1]);\n  copy(7);\n"
        "  reduce_sum(x, 0, 2, s);\n  my_product(x, 0, 2, p);\n  print(s, p);\n"
        "  for i = 0..1 print_format(\"%d\", i);\n  vector_of(v);\n  print_in_order(\"%d\", x, 2);\n}\n"
        "sub vector_of(name v) set(1, v);\n");
  const Outcome o = tessera({"run", "-q", "-t", "1", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  for (const char* line : {"own 1001 1002\n", "own 7 7\n", "own 2003 1003002\n", "0\n", "1001\n1002\n"}) {
    EXPECT_NE(o.out.find(line), std::string::npos) << line << "in\n" << o.out;
  }
  // And without the library nothing of it is there.
  write("q.fa", "import print(int, int) as print;\nsub main() { print(1, 2); set(1); }\nsub set(int v) print(v, v);\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "q.fa"}), 0));
}

TEST_F(Stdlib, KernelFilesBesideAreLeftAloneByThoseWhoImportNothing) {
  write("broken.cpp", "this is no C++\n");
  write("p.fa", "#include <std/base.fa>\nsub main() { print(1); }\n");
  const Outcome o = tessera({"run", "-q", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "1\n");
}

TEST_F(Stdlib, OnlyWhatIsCalledIsLinked) {
  const auto libraries = [&](const std::string& call) {
    write("p.fa",
          "#include <std/matrix.fa>\n#include <std/vector.fa>\n#include <std/base.fa>\n"
          "sub main() { df x; " +
              call + " print(x); }\n");
    EXPECT_TRUE(ended(tessera({"build", "-q", "p.fa", "-o", "p"}), 0));
    return run({"readelf", "-d", "p"}).out;
  };
  EXPECT_EQ(libraries("vector(3, 1, x);").find("blas"), std::string::npos);
  EXPECT_NE(libraries("identity(3, x);").find("libopenblas"), std::string::npos);
}

TEST_F(Stdlib, PrintsInOrderOnRanks) {
  write("p.fa",
        "#include <std/base.fa>\nC++ sub make(int i, name x) ${{ usleep(1000 * ((i * 7) % 5)); x = i; $}}\n"
        "sub main() { df x; for i = 0..19 make(i, x[i]) @ { locator_cyclic: i; };\n"
        "  print_in_order(\"%02d\", x, 20); }\n");
  std::string expected;
  for (int i = 0; i < 20; ++i) expected += (i < 10 ? "0" : "") + std::to_string(i) + "\n";
  for (const Words& options : {Words{}, Words{"--inproc-ranks", "3"}, Words{"-n", "3"}}) {
    Words words = {"run", "-q"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("p.fa");
    EXPECT_EQ(tessera(words).out, expected);
  }
}

TEST_F(Stdlib, NothingIsSaidAboutWhatIsNotUsed) {
  std::string includes;
  int parts = 0;
  for (const auto& entry : fs::directory_iterator(TESSERA_SOURCE_DIR "/stdlib/std")) {
    if (entry.path().extension() != ".fa") continue;
    includes += "#include <std/" + entry.path().filename().string() + ">\n";
    ++parts;
  }
  EXPECT_EQ(parts, 7);
  write("p.fa", includes + "sub main() { print(1); }\n");
  const Outcome o = tessera({"check", "--strict", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.err, "");
}

TEST_F(Stdlib, FilesAreNamedRightly) {
  write("std/base.fa", "sub main() { }\n");
  write("p.fa", "#include <std/bass.fa>\nsub main() { }\n");
  EXPECT_TRUE(ended(tessera({"check", "p.fa"}), 1,
                    {"p.fa:1:10: error: the library has no `std/bass.fa`; did you mean `std/base.fa`? [T119]"}));
  write("p.fa", "#include <nothing/like_it.fa>\nsub main() { }\n");
  EXPECT_TRUE(ended(tessera({"check", "p.fa"}), 1, {"; it has std/arithmetic.fa, std/base.fa, "}));
  write("p.fa", "#include <cmath>\nsub main() { }\n");
  EXPECT_TRUE(ended(tessera({"check", "p.fa"}), 1, {"no `cmath`; C++ headers are included in `C++ head`"}));
  write("p.fa", "#include <std/base.fa\nsub main() { }\n");
  EXPECT_TRUE(ended(tessera({"check", "p.fa"}), 1, {"p.fa:1:1: error: this `#include <` has no `>` [T117]"}));
  write("p.fa", "#include <std/base.fa>\nsub main() { prin(1); }\n");
  EXPECT_TRUE(ended(tessera({"check", "p.fa"}), 1, {"did you mean `print`?"}))
      << "it is the library's file, not that beside the program";
}

TEST_F(Stdlib, OwnKernelsReadMatrices) {
  std::ifstream in(TESSERA_ROOT "/docs/stdlib.md");
  std::string all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::size_t from = all.find("```cpp\n");
  ASSERT_NE(from, std::string::npos);
  write("ucodes.cpp", all.substr(from + 7, all.find("\n```", from) - from - 7) + "\n");
  write("p.fa",
        "#include <std/base.fa>\n#include <std/matrix.fa>\nimport trace(value, name);\n"
        "import diagonal(int, real, name);\n"
        "sub main() { df a, t, b; identity(4, a); trace(a, t); print(t); diagonal(2, 0.5, b); print(b); }\n");
  const Outcome o = tessera({"run", "-q", "-t", "1", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out.size(), std::string("4\n0.5 0\n0 0.5\n").size()) << o.out;
}

// DESTDIR, as a package is made: the tree may be anywhere.
TEST_F(Stdlib, AnInstalledTreeHasIt) {
  environment_ = {"DESTDIR=" + path("stage").string()};
  ASSERT_TRUE(ended(run({"cmake", "--install", TESSERA_BUILD_DIR, "--prefix", "/opt/tessera"}), 0));
  environment_.clear();
  const fs::path root = path("stage") / "opt" / "tessera";
  const std::string installed = (root / "bin" / "tessera").string();
  write("p.fa",
        "#include <std/base.fa>\n#include <std/blocks.fa>\nsub main() {\n  df A, L, d;\n"
        "  spd_blocks(2, 4, 1, A);\n  cholesky_blocks(A, 2, L);\n  matrix_norm(L[1][1], d);\n"
        "  print(d > 5 && d < 7 ? \"factored\" : \"wrong: \" + d);\n}\n");
  const Outcome o = run({installed, "run", "-q", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "factored\n");
  EXPECT_EQ(run({(root / "bin" / "luna").string(), "-q", "p.fa"}).out, "factored\n");
  fs::remove(root / "share/tessera/stdlib/std/blocks.fa");
  EXPECT_TRUE(ended(run({installed, "check", "p.fa"}), 1, {"the library has no `std/blocks.fa`"}))
      << "the installed library is used, not that of the sources";
}

}  // namespace
}  // namespace tessera::tests
