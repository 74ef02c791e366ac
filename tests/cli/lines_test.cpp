// Lines that a program prints with one call arrive whole and in the order in which its rank printed them, whatever
// becomes of the ranks afterwards.
#include <map>
#include <sstream>

#include "command.hpp"

namespace tessera::tests {
namespace {

// Prints lines `WAY NUMBER xxx WAY NUMBER end`, with as many x as the number says.
constexpr const char* kPrinter = R"fa(
C++ head ${{
static std::string line(const char* way, int i, int length) {
  const std::string head = std::string(way) + " " + std::to_string(i) + " ";
  return head + std::string(length, 'x') + " " + head + "end";
}
$}}
C++ sub by_printf(int i, int n) ${{ printf("printf %d %s printf %d end\n", i, std::string(n, 'x').c_str(), i); $}}
C++ sub by_puts(int i, int n) ${{ puts(line("puts", i, n).c_str()); $}}
C++ sub by_cout(int i, int n) ${{ std::cout << line("cout", i, n) + "\n"; $}}
C++ sub by_write(int i, int n) ${{
  const std::string text = line("write", i, n) + "\n";
  if (write(1, text.data(), text.size()) < 0) abort();
$}}
C++ sub unsynchronised() ${{ std::ios::sync_with_stdio(false); $}}
sub main() {
  for i = 1..300 {
    by_printf(i, i % 90) @ { locator_cyclic: i; };
    by_puts(i, i % 70) @ { locator_cyclic: i + 1; };
    by_cout(i, i % 50) @ { locator_cyclic: i + 2; };
    by_write(i, i % 30) @ { locator_cyclic: i + 3; };
  }
  for i = 301..312 {
    by_printf(i, 1000 * (i - 300)) @ { locator_cyclic: i; };
    by_puts(i, 20000) @ { locator_cyclic: i; };
    by_cout(i, 7000) @ { locator_cyclic: i; };
    by_write(i, 5000) @ { locator_cyclic: i; };
  }
  for i = 0..3 unsynchronised() @ { locator_cyclic: i; };
}
)fa";

// How many lines each way printed; those that are not whole count as "cut".
std::map<std::string, int> whole_lines(const std::string& text) {
  std::map<std::string, int> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string way, number, xs, way_again, number_again, end, more;
    words >> way >> number;
    std::vector<std::string> rest;
    while (words >> more) rest.push_back(more);
    if (rest.size() == 4 && rest[0].find_first_not_of('x') == std::string::npos) rest.erase(rest.begin());
    const bool whole = rest == std::vector<std::string>{way, number, "end"};
    ++counts[whole ? way : "cut"];
  }
  return counts;
}

class Lines : public Command {};

const std::map<std::string, int> kAll = {{"printf", 312}, {"puts", 312}, {"cout", 312}, {"write", 312}};

TEST_F(Lines, ArriveWholeFromRanks) {
  write("lines.fa", kPrinter);
  const Outcome o = tessera({"run", "-q", "lines.fa", "-n", "4"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(whole_lines(o.out), kAll);
}

TEST_F(Lines, ArriveWholeThroughAnyMpirun) {
  write("lines.fa", kPrinter);
  const Words mpirun = {"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", "3"};
  Words words = mpirun;
  words.insert(words.end(), {LUNA_COMMAND, "-q", "lines.fa"});
  EXPECT_EQ(whole_lines(run(words).out), kAll);
  // What ranks print into a filter of their own stays there.
  words = mpirun;
  words.insert(words.end(), {"sh", "-c", "\"$0\" -q lines.fa | wc -l >lines.$OMPI_COMM_WORLD_RANK", LUNA_COMMAND});
  EXPECT_EQ(run(words).out, "");
  int lines = 0;
  for (const char* rank : {"0", "1", "2"}) {
    const int of_rank = std::atoi(read(std::string("lines.") + rank).c_str());
    EXPECT_GT(of_rank, 0) << rank;
    lines += of_rank;
  }
  EXPECT_EQ(lines, 4 * 312);
  // mpirun is to say whose they are.
  words = mpirun;
  words.insert(words.begin() + 1, "--tag-output");
  words.insert(words.end(), {LUNA_COMMAND, "-q", "lines.fa"});
  const std::string tagged = run(words).out;
  for (const char* rank : {"[1,0]", "[1,1]", "[1,2]"}) EXPECT_NE(tagged.find(rank), std::string::npos) << rank;
}

TEST_F(Lines, KeepTheOrderOfTheirRank) {
  write("order.fa",
        "C++ sub say(int rank, value before, int i, name after) ${{\n"
        "  if (i % 2) printf(\"rank %d line %d\\n\", rank, i); else std::cout << \"rank \" << rank << \" line \" << i "
        "<< std::endl;\n"
        "  after = i;\n$}}\n"
        "C++ sub init(name x) ${{ x = 0; $}}\n"
        "sub main() { df x; for r = 0..2 { init(x[r][0]); for i = 1..200 say(r, x[r][i - 1], i, x[r][i]) @ { "
        "locator_cyclic: r; }; } }\n");
  const Outcome o = tessera({"run", "-q", "order.fa", "-n", "3", "--balancer", "none"});
  EXPECT_TRUE(ended(o, 0));
  int last[3] = {0, 0, 0}, rank = 0, number = 0;
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) {
    ASSERT_EQ(std::sscanf(line.c_str(), "rank %d line %d", &rank, &number), 2) << line;
    ASSERT_EQ(number, ++last[rank]) << line;
  }
  for (const int n : last) EXPECT_EQ(n, 200);
}

TEST_F(Lines, OfStderrAreWholeToo) {
  write("p.fa",
        "C++ sub say(int i) ${{ fprintf(stderr, \"word %d end\\n\", i); $}}\nsub main() { for i = 1..4000 say(i) @ { "
        "locator_cyclic: i; }; }\n");
  const Outcome o = tessera({"run", "-q", "p.fa", "-n", "3", "-t", "1"});
  ASSERT_TRUE(ended(o, 0));
  std::istringstream in(o.err);
  int whole = 0;
  for (std::string line; std::getline(in, line); ++whole)
    EXPECT_TRUE(line.rfind("word ", 0) == 0 && line.ends_with(" end") && line.size() <= 13) << line;
  EXPECT_EQ(whole, 4000);
}

// Longer than what goes through a pipe in one piece; less than what it holds.
TEST_F(Lines, OfStderrAreWholeHoweverTheyAreWritten) {
  write("p.fa",
        "C++ sub say(int i) ${{\n"
        "  const std::string line(4000 + 90 * (i % 40), static_cast<char>('a' + i % 26));\n"
        "  if (i % 2 == 0) fprintf(stderr, \"%s end\\n\", line.c_str());\n"
        "  const std::string text = line + line + \" end\\n\";\n"
        "  if (i % 2 == 1 && write(2, text.data(), text.size()) < 0) abort();\n$}}\n"
        "sub main() { for i = 1..90 say(i) @ { locator_cyclic: i / 2; }; }\n");
  const Outcome o = tessera({"run", "-q", "p.fa", "-n", "3", "-t", "1"});
  ASSERT_TRUE(ended(o, 0));
  std::istringstream in(o.err);
  int whole = 0;
  for (std::string line; std::getline(in, line); ++whole) {
    ASSERT_TRUE(line.ends_with(" end"));
    EXPECT_EQ(line.find_first_not_of(line[0]), line.size() - 4);
  }
  EXPECT_EQ(whole, 90);
}

TEST_F(Lines, AreNotLostWithTheirRank) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer ends the rank";
#endif
  write("crash.fa",
        "C++ head ${{\n#include <csignal>\n$}}\n"
        "C++ sub say(int i, name x) ${{ for (int k = 0; k < 200; ++k) printf(\"before %d %d\\n\", i, k); x = i; $}}\n"
        "C++ sub crash(int n) ${{ fputs(\"the last words\\n\", stdout); raise(n > 0 ? SIGSEGV : SIGABRT); $}}\n"
        "sub main() { df x; for i = 0..3 say(i, x[i]) @ { locator_cyclic: i; };\n"
        "  crash(x[0] + x[1] + x[2] + x[3]) @ { locator_cyclic: 2; }; }\n");
  const Outcome o = tessera({"run", "-q", "crash.fa", "-n", "3"});
  EXPECT_TRUE(ended(o, 1, {"[T410]"}));
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 801) << o.out;
  EXPECT_NE(o.out.find("the last words\n"), std::string::npos);
}

}  // namespace
}  // namespace tessera::tests
