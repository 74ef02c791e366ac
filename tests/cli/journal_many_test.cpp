// Journals of many small fragments, and what is told of those that are recalled.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "journal_command.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

// Of a program that stands still there while there is the file `die`.
constexpr const char* kHold =
    "C++ sub hold(int a, int b, name x) ${{\n"
    "  if (access(\"die\", F_OK) == 0) { fclose(fopen(\"held\", \"w\")); sleep(60); }\n"
    "  x = a + b;\n"
    "$}}\n"
    "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n";

class HeldJournal : public Journal {
 protected:
  // Runs it until it is held there, and some seconds more; then it is to end and to go on.
  Outcome end_when_held(const std::string& command, const std::string& seconds) {
    deadly();
    const Outcome o = run(
        {"sh", "-c",
         command + "& p=$!; until test -f held; do sleep 0.05; done; sleep " + seconds + "; kill -TERM $p; wait $p"});
    fs::remove(path("die"));
    return o;
  }
};

// Of 190,000 fragments that take less time than to write more of them, ranges are written; and no more is done about
// them than that when the run goes on.
TEST_F(HeldJournal, OfManySmallFragmentsLittleIsWritten) {
  write("many.fa",
        std::string("C++ sub start(name x) ${{ x = 1; $}}\n"
                    "C++ sub link(int before, name x) ${{ x = before + 1; $}}\n"
                    "C++ sub cell(int a, int b, name x) ${{ x = (a + b) % 1000; $}}\n") +
            kHold +
            "sub main() {\n"
            "  df x, y, z; start(x[0]);\n"
            "  for i = 1..100000 link(x[i - 1], x[i]);\n"
            "  for i = 0..300 start(y[0][i]);\n"
            "  for t = 1..300 { start(y[t][0]); for i = 1..300 cell(y[t - 1][i - 1], y[t - 1][i], y[t][i]); }\n"
            "  hold(x[100000], y[300][300], z);\n"
            "  show(z);\n"
            "}\n");
  const Outcome all = tessera({"run", "many.fa", "-q"});
  const std::string begin = TESSERA_COMMAND " run many.fa -q -t 1 --journal J --journal-interval 1000 ";
  EXPECT_TRUE(ended(end_when_held(begin, "0.2"), 75));
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(path("J"))) bytes += file.file_size();
  EXPECT_LT(bytes, 60'000u);
  const Outcome rest = run({"sh", "-c", begin + "--summary s.json"});
  EXPECT_TRUE(ended(rest, 0));
  EXPECT_EQ(rest.out, all.out);
  const auto summary = nlohmann::json::parse(read("s.json"));
  EXPECT_GE(summary.at("ranks").at(0).at("recalled").get<std::int64_t>(), 185'000);
  for (const auto& group : summary.at("groups"))
    EXPECT_LT(group.at("count").get<std::int64_t>(), 2'000) << group.at("label");
}

// Ranks that share a loop skip the same iterations of it: each is recalled once.
TEST_F(HeldJournal, WhatAllRanksSkipCountsOnce) {
  write("spread.fa", std::string("C++ sub start(int i, name x) ${{ x = i; $}}\n") + kHold +
                         "sub main() {\n"
                         "  df x, y, z;\n"
                         "  for i = 0..19999 start(i, x[i]) @ { locator_cyclic: i * ranks / 20000; };\n"
                         "  for t = 1..10 for i = 0..999 start(i, y[t][i]) @ { locator_cyclic: i * ranks / 1000; };\n"
                         "  hold(x[0] + y[1][0], x[19999] + y[10][999], z);\n"
                         "  show(z);\n"
                         "}\n");
  const std::string begin = TESSERA_COMMAND " run spread.fa -q -n 2 -t 1 --journal J --journal-interval 1000 ";
  EXPECT_TRUE(ended(end_when_held(begin, "0.5"), 75));
  const Outcome rest = run({"sh", "-c", begin + "--summary s.json"});
  EXPECT_TRUE(ended(rest, 0));
  EXPECT_EQ(rest.out, "20998\n");
  std::int64_t recalled = 0;
  const auto summary = nlohmann::json::parse(read("s.json"));
  for (const auto& rank : summary.at("ranks")) recalled += rank.at("recalled").get<std::int64_t>();
  EXPECT_GE(recalled, 25'000);
  EXPECT_LE(recalled, 30'002);
}

// Each turn's value decides whether there is a next one, so it is written, and given when the run goes on. What only
// the journal has is no pile: else all that makes more would be held back, and all would be alive at once.
TEST_F(Journal, WhatDecidesIsNoPile) {
  write("p.fa",
        "C++ sub first(int e, name x) ${{\n"
        "  if (e == 20000 && unlink(\"die\") == 0) kill(getpid(), SIGTERM);\n"
        "  x = e * 0.5;\n$}}\n"
        "C++ sub step(real x, name y) ${{ y = x * 0.99 + 1; $}}\n"
        "C++ sub add(real a, real b, name c) ${{ c = a * 0.9 + b; $}}\n"
        "C++ sub show(real v) ${{ printf(\"%.17g\\n\", v); $}}\n"
        "sub chain(int e, name r) {\n"
        "  df x, k;\n  first(e, x[0]);\n"
        "  while t < 20 && x[t] > -1, t = 0 .. out k step(x[t], x[t + 1]);\n"
        "  last(x, k, r);\n}\n"
        "sub last(name x, int n, name r) step(x[n], r);\n"
        "sub main() {\n  df r, s;\n  first(0, s[0]);\n"
        "  for e = 1..40000 { chain(e, r[e]); add(s[e - 1], r[e], s[e]); }\n"
        "  show(s[40000]);\n}\n");
  const auto run_it = [&] {
    return run({"sh", "-c",
                "CXXFLAGS='-include csignal -include unistd.h' exec " TESSERA_COMMAND
                " run p.fa -q -t 1 --journal J --summary s.json"});
  };
  const auto held_mb = [&] {
    const auto summary = nlohmann::json::parse(read("s.json"));
    double bytes = 0;
    for (const auto& h : summary.at("held")) bytes += h.at("bytes").get<double>();
    return bytes / 1e6;
  };
  const Outcome all = run_it();
  ASSERT_TRUE(ended(all, 0));
  EXPECT_LT(held_mb(), 4);
  deadly();
  EXPECT_EQ(run_it().exit_code, 75);
  const Outcome rest = run_it();
  EXPECT_TRUE(ended(rest, 0));
  EXPECT_EQ(rest.out, all.out);
  EXPECT_LT(held_mb(), 4);
}

// What ran in an earlier run counts apart, and is not shipped about.
TEST_F(Journal, WhatIsRecalledCountsApart) {
  deadly();
  EXPECT_NE(journalled({"-n", "2", "--restarts", "0"}).exit_code, 0);
  const auto lines_of_ran = [&] {
    const std::string text = read("ran");
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = lines_of_ran();
  const Outcome o = journalled({"-n", "2", "--summary", "s.json", "--record", "r.trace"});
  EXPECT_TRUE(ended(o, 0, {"   recalled "}));
  EXPECT_NE(read("r.trace").find("note the run went on from a journal: "), std::string::npos);
  const auto summary = nlohmann::json::parse(read("s.json"));
  std::int64_t recalled = 0, added = 0;
  for (const auto& rank : summary.at("ranks")) recalled += rank.at("recalled").get<std::int64_t>();
  for (const auto& group : summary.at("groups"))
    if (group.at("label").get<std::string>() == "add") added += group.at("count").get<std::int64_t>();
  EXPECT_GE(recalled, 30);
  EXPECT_EQ(added, lines_of_ran() - before);
}

}  // namespace
}  // namespace tessera::tests
