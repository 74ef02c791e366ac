// No line that is printed is lost with whoever passes it on.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "journal_command.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

// Text that mpirun or `tessera` has in hand when they are killed is printed by the next run: it is in
// the journal, and nobody has noted that it is out. Here nobody reads it, so more than a pipe takes is still under way.
TEST_F(Journal, NoLineIsLostWithWhoPassesItOn) {
  write("say.fa",
        "C++ sub say(int i) ${{\n"
        "  if (FILE* ran = fopen(\"ran\", \"a\")) { fprintf(ran, \"%d\\n\", i); fclose(ran); }\n"
        "  printf(\"%d %s\\n\", i, std::string(1000, 'x').c_str());\n"
        "$}}\n"
        "C++ sub stay() ${{ if (access(\"die\", F_OK) == 0) sleep(60); $}}\n"
        "sub main() { for i = 1..100 say(i); stay(); }\n");
  // With two seconds the first sweep comes when `tessera` is gone and the ranks live yet.
  for (const std::string ranks : {"0.01 -n 2 -t 2 --restarts 0", "0.01 -t 2 --restarts 1", "2 -n 2 -t 2 --restarts 0",
                                  "0.01 -n 2 -t 1 --restarts 0"}) {
    fs::remove_all(path("J"));
    fs::remove(path("ran"));
    if (ranks.find("-t 2") != ranks.npos) deadly();  // else it is about to end
    const std::string begin = "run say.fa -q --journal J --journal-interval " + ranks;
    const Outcome killed =
        run({"sh", "-c",
             "rm -f pipe; mkfifo pipe; " TESSERA_COMMAND " " + begin +
                 " >pipe & p=$!; exec 3<pipe; until test $(cat ran 2>/dev/null | wc -l) -ge 100; do sleep 0.05; done; "
                 "sleep 0.5; kill -9 $p; cat <&3"});
    fs::remove(path("die"));
    const Outcome rest = run({"sh", "-c", TESSERA_COMMAND " " + begin});
    EXPECT_TRUE(ended(rest, 0));
    std::set<std::string> lines;
    std::istringstream all(killed.out + "\n" + rest.out);
    for (std::string line; std::getline(all, line);) {
      if (line.size() > 1000) lines.insert(line);
    }
    EXPECT_EQ(lines.size(), 100u) << ranks;
    EXPECT_GT(std::count(killed.out.begin(), killed.out.end(), '\n'), 10) << "something was out";
    EXPECT_EQ(killed.out.find('\036'), std::string::npos) << "marks are not shown";
  }
}

// `tessera`, the ranks, or both are killed while lines come one by one.
TEST_F(Journal, NoLineIsLostWhoeverIsKilled) {
  write("some.fa",
        "C++ sub say(int i) ${{\n"
        "  usleep(10000);\n"
        "  if (i == 75 && access(\"die\", F_OK) == 0) sleep(60);\n"
        "  if (i % 5 == 0) system(\"echo a child\");\n"
        "  printf(\"line %d\\n\", i);\n"
        "$}}\n"
        "sub main() { for i = 1..80 say(i); }\n");
  ASSERT_TRUE(ended(tessera({"run", "some.fa", "-q"}), 0));  // it is compiled now
  const std::string begin =
      TESSERA_COMMAND " run some.fa -q --journal J --journal-interval 0.05 --restarts 0 -n 2 -t 1";
  for (const std::string who : {"$p", "$ranks", "$p $ranks"}) {
    fs::remove_all(path("J"));
    deadly();
    const Outcome killed =
        run({"sh", "-c",
             ": >out; " + begin +
                 " >out & p=$!; until test $(cat out | wc -l) -ge 20; do sleep 0.01; done; "
                 "ranks=$(for r in $(pgrep -f [e]xec-program); do test /proc/$r/cwd -ef . && echo $r; done); "
                 "kill -9 " +
                 who + "; rm die; wait $p; cat out"});
    const Outcome rest = run({"sh", "-c", begin});
    EXPECT_TRUE(ended(rest, 0));
    std::set<std::string> seen;
    std::istringstream all(killed.out + rest.out);
    for (std::string line; std::getline(all, line);) seen.insert(line);
    EXPECT_EQ(seen.size(), 81u) << who;
    EXPECT_LT(std::count(killed.out.begin(), killed.out.end(), '\n'), 96) << "it was killed in time";
    EXPECT_EQ((killed.out + rest.out).find('\036'), std::string::npos) << "marks are not shown";
  }
}

// A signal ends a run while it prints as fast as it can, at once and in parts: what is out ends with a line, and the
// next run goes on behind it.
TEST_F(Journal, WhatASignalEndsEndsWithALine) {
  write("many.fa",
        "C++ sub say(int i) ${{\n"
        "  if (i % 2 == 0) printf(\"%d is the line of %d\\n\", i, i);\n"
        "  else std::cout << i << \" is the line of \" << i << \"\\n\";\n"
        "$}}\n"
        "sub main(int n) { for i = 1..n say(i) @ { locator_cyclic: i; }; }\n");
  constexpr int kLines = 60'000;
  ASSERT_TRUE(ended(tessera({"run", "many.fa", "-q", "--", "1"}), 0));  // it is compiled now
  for (const auto& [way, signal] : std::vector<std::pair<std::string, std::string>>{
           {" -n 2 -t 1", "TERM"}, {" -n 2 -t 1", "INT"}, {" -t 1", "TERM"}}) {
    SCOPED_TRACE("-" + signal + way);
    fs::remove_all(path("J"));
    const std::string begin =
        TESSERA_COMMAND " run many.fa -q --journal J --journal-interval 0.1" + way + " -- " + std::to_string(kLines);
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Outcome killed = run(
          {"sh", "-c",
           std::string(attempt == 0 ? ": >out; " : "") + "before=$(stat -c %s out); env --default-signal=INT " + begin +
               " >>out & p=$!; until test $(stat -c %s out) -gt $before || ! kill -0 $p; do sleep 0.01; done; "
               "sleep 0.0" +
               std::to_string(attempt * 3) + "; kill -" + signal + " $p; wait $p"});
      const std::string out = read("out");
      // Beside other tests the signal may come when all is out (CI, once).
      const bool all_out = std::count(out.begin(), out.end(), '\n') >= kLines;
      if (attempt == 0) {
        EXPECT_TRUE(ended(killed, all_out && killed.exit_code == 0 ? 0 : signal == "TERM" ? 75 : 130));
      }
      EXPECT_EQ(out.back(), '\n') << out.substr(out.size() - 50);
    }
    EXPECT_TRUE(ended(run({"sh", "-c", begin + " >>out"}), 0));
    std::vector<bool> seen(kLines + 1);
    std::istringstream all(read("out"));
    for (std::string line; std::getline(all, line);) {
      const auto number = static_cast<std::size_t>(std::atoi(line.c_str()));
      const std::string text = std::to_string(number);
      EXPECT_EQ(line, text + " is the line of " + text);
      if (number < seen.size()) seen[number] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), kLines);
  }
}

// A question is shown before its line ends.
TEST_F(Journal, HalfALineIsShownAfterAMoment) {
  write("ask.fa",
        "C++ sub ask() ${{ printf(\"more? \"); fflush(stdout); while (access(\"yes\", F_OK) != 0) usleep(1000); "
        "puts(\"yes\"); $}}\n"
        "sub main() { ask(); }\n");
  const Outcome o = run({"sh", "-c",
                         TESSERA_COMMAND " run ask.fa -q -n 2 --journal J >out & "
                                         "until grep -q 'more? ' out; do sleep 0.01; done; touch yes; wait; cat out"});
  EXPECT_EQ(o.out, "more? yes\n");
}

}  // namespace
}  // namespace tessera::tests
