// Runs that are killed and go on from their journals.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "journal_command.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

TEST_F(Journal, ARunThatWasKilledGoesOnOnOtherRanks) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  EXPECT_TRUE(ended(all, 0));
  fs::remove(path("ran"));
  const std::vector<Words> ways = {{"-n", "3", "-b", "none", "--restarts", "0"},
                                   {"-t", "1"},
                                   {"-n", "2", "--restarts", "0"},
                                   {"-n", "2", "-t", "2", "-b", "steal"}};
  for (std::size_t k = 0; k + 1 < ways.size(); ++k) {
    deadly();
    const Outcome killed = journalled(ways[k]);
    EXPECT_NE(killed.exit_code, 0);
    EXPECT_FALSE(fs::exists(path("die"))) << killed.err;
    const Outcome rest = journalled(ways[k + 1]);
    EXPECT_TRUE(ended(rest, 0, {"goes on from the journal", "fragments are done"}));
    EXPECT_EQ(lines(killed.out + rest.out), lines(all.out));
    // It came to its end: the next one begins anew.
    const Outcome anew = journalled({});
    EXPECT_TRUE(ended(anew, 0, {"came to its end", "begins anew"}));
    EXPECT_EQ(sorted(anew.out), sorted(all.out));
  }
}

TEST_F(Journal, WhatIsDoneIsNotDoneAgain) {
  deadly();
  EXPECT_NE(journalled({"-t", "1"}).exit_code, 0);
  const auto ran = [&] {
    const std::string text = read("ran");
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = ran();
  EXPECT_TRUE(ended(journalled({"-t", "2"}), 0));
  // There had been a sweep before it was killed: most fragments were in it.
  EXPECT_LT(ran(), before + 8 * 62 - 20);
}

TEST_F(Journal, WhoeverStartsTheRanksStartsThemAgain) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  deadly();
  const Outcome o = journalled({"-n", "2"});
  EXPECT_TRUE(ended(o, 0, {"was killed", "the run is started again (1 of 3)", "goes on from the journal"}));
  EXPECT_EQ(lines(o.out), lines(all.out));
  // A mistake of the program is one the next time, too.
  write("wrong.fa", "C++ sub f() ${{ throw 1; $}}\nsub main() { f(); }\n");
  const Outcome wrong = tessera({"run", "wrong.fa", "-n", "2", "--journal", "W"});
  EXPECT_TRUE(ended(wrong, 1, {"T409"}));
  EXPECT_EQ(wrong.err.find("started again"), std::string::npos);
  EXPECT_TRUE(ended(tessera({"run", "wrong.fa", "-n", "2", "--restarts", "1"}), 2, {"add --journal DIR"}));
  EXPECT_TRUE(ended(tessera({"run", "wrong.fa", "--journal", "W2", "--restarts", "1"}), 1, {"T409"}));
}

// Ranks are killed, and what kills them sticks mpirun as well, which ends by force only.
TEST_F(Journal, AnMpirunThatIsStuckKeepsNobodyFromStartingThemAgain) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  write("bin/mpirun", std::string("#!/bin/sh\nPATH='") + std::getenv("PATH") +
                          "'\n[ ! -f die ] || { mpirun \"$@\" 2>/dev/null; trap '' TERM; exec sleep 60; }\n"
                          "exec mpirun \"$@\"\n");
  fs::permissions(path("bin/mpirun"), fs::perms::owner_all);
  environment_ = {"PATH=" + path("bin").string() + ":" + std::getenv("PATH")};
  deadly();
  const Outcome o = journalled({"-n", "2"});
  EXPECT_TRUE(ended(o, 0, {"mpirun had not 5 s later", "the run is started again (1 of 3)", "goes on from"}));
  EXPECT_EQ(lines(o.out), lines(all.out));
  // A mistake of the program is one the next time, too.
  write("wrong.fa", "C++ sub f() ${{ unlink(\"die\"); throw 1; $}}\nsub main() { f(); }\n");
  deadly();
  const Outcome wrong = tessera({"run", "wrong.fa", "-n", "2", "--journal", "W"});
  EXPECT_TRUE(ended(wrong, 3, {"a signal has stuck it"}));
  EXPECT_EQ(wrong.err.find("started again"), std::string::npos);
}

// `luna`, and built programs whose ranks somebody else starts.
TEST_F(Journal, OtherCommandsGoOnAsWell) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  const Words luna = {LUNA_COMMAND, "--journal", "J", "--journal-interval", "0.005"};
  const auto with = [](Words first, const Words& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  };
  const Words mpirun = {"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", "2"};
  deadly();
  const Outcome again = run(with(luna, {"--restarts", "1", "--worker-threads-count=1", "p.fa", "3"}));
  EXPECT_TRUE(ended(again, 0, {"it is started again (1 of 1)", "goes on from the journal"}));
  EXPECT_EQ(lines(again.out), lines(all.out));
  // Under mpirun the next command goes on: here a built program, on as many ranks.
  deadly();
  const Outcome killed = run(with(mpirun, with(luna, {"p.fa", "3"})));
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_FALSE(fs::exists(path("die"))) << killed.err;
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  environment_ = {"TESSERA_OPTIONS=--journal J"};
  const Outcome rest = run(with(mpirun, {"./p", "3"}));
  EXPECT_TRUE(ended(rest, 0, {"goes on from the journal"}));
  EXPECT_EQ(lines(killed.out + rest.out), lines(all.out));
  environment_ = {};
  EXPECT_TRUE(ended(run({LUNA_COMMAND, "--restarts", "1", "p.fa", "3"}), 1, {"add --journal DIR"}));
  EXPECT_TRUE(ended(run({LUNA_COMMAND, "--journal", "J", "--journal-interval", "x", "p.fa", "3"}), 1, {"write auto"}));
}

TEST_F(Journal, ARunWithoutRanksIsStartedAgain) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  deadly();
  const Outcome o = journalled({"-t", "1", "--restarts", "2"});
  EXPECT_TRUE(ended(o, 0, {"the run was killed; it is started again (1 of 2)", "goes on from the journal"}));
  EXPECT_EQ(lines(o.out), lines(all.out));
}

// What was done is written before it ends, and not done again.
TEST_F(Journal, AtATimeLimitWhatIsDoneIsWritten) {
  write("slow.fa",
        "C++ sub f(int i, int before, name x) ${{\n"
        "  if (FILE* ran = fopen(\"ran\", \"a\")) { fprintf(ran, \"%d\\n\", i); fclose(ran); }\n"
        "  usleep(i < 30 || access(\"end\", F_OK) == 0 ? 1000 : 100000); x = before + i;\n"
        "$}}\n"
        "C++ sub start(name x) ${{ x = 0; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() { df x; start(x[0]); for i = 1..100 f(i, x[i - 1], x[i]); show(x[100]); }\n");
  for (const std::string ranks : {"", "-n 2 "}) {
    fs::remove(path("ran"));
    fs::remove(path("end"));
    const std::string begin = TESSERA_COMMAND " run slow.fa -q --journal T --journal-interval 100 " + ranks;
    const Outcome o = run({"sh", "-c",
                           begin + "& p=$!; until test $(cat ran 2>/dev/null | wc -l) -gt 32; do sleep 0.05; done; "
                                   "kill -TERM $p; wait $p"});
    EXPECT_TRUE(ended(o, 75));
    write("end", "");
    // (What has run since the last sweep, until all ranks have ended, is done again: it says nothing.)
    const auto ran = [&] {
      const std::string text = read("ran");
      return std::count(text.begin(), text.end(), '\n');
    };
    const auto before = ran();
    EXPECT_TRUE(ended(run({"sh", "-c", begin}), 0));
    EXPECT_LE(ran() - before, 100 - 32) << "what was done is done again";
  }
}

// It does not run again, however long the next sweep is away.
TEST_F(Journal, WhatIsDurableDoesNotRunAgain) {
  write("pay.fa",
        "C++ sub pay(int i, int before, name x) ${{\n"
        "  if (FILE* paid = fopen(\"paid\", \"a\")) { fprintf(paid, \"%d\\n\", i); fclose(paid); }\n"
        "  tessera::durable();\n"
        "  x = before + i;\n"
        "$}}\n"
        "C++ sub die(int i, int before, name x) ${{\n"
        "  if (unlink(\"die\") == 0 && system(\"kill -9 $PPID\") == 0) sleep(60);\n"
        "  x = before;\n"
        "$}}\n"
        "C++ sub start(name x) ${{ x = 0; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x, y; start(x[0]);\n"
        "  for i = 1..20 { pay(i, x[i - 1], y[i]); die(i, y[i], x[i]); }\n"
        "  show(x[20]);\n"
        "}\n");
  const auto go = [&](const Words& more) {
    Words words = {"run", "pay.fa", "-q", "--journal", "J", "--journal-interval", "100"};
    words.insert(words.end(), more.begin(), more.end());
    return tessera(words);
  };
  for (const Words& ranks : {Words{"-t", "1"}, Words{"-n", "2", "--restarts", "0"}}) {
    fs::remove(path("paid"));
    deadly();
    EXPECT_NE(go(ranks).exit_code, 0);
    EXPECT_EQ(read("paid"), "1\n");
    const Outcome rest = go(ranks);
    EXPECT_TRUE(ended(rest, 0));
    EXPECT_EQ(rest.out, "210\n");
    const std::string paid = read("paid");
    EXPECT_EQ(std::count(paid.begin(), paid.end(), '\n'), 20) << paid;
  }
}

// Its group has been noted only for long, one by one.
TEST_F(Journal, WhatIsDurableOnceDoesNotRunAgainEither) {
  write("pay.fa",
        "C++ sub pay(int i, int before, int zero, name x) ${{\n"
        "  if (i == 5000) {\n"
        "    if (FILE* paid = fopen(\"paid\", \"a\")) { fputs(\"paid\\n\", paid); fclose(paid); }\n"
        "    tessera::durable();\n"
        "  }\n"
        "  if (i == 5001 && unlink(\"die\") == 0 && system(\"kill -9 $PPID\") == 0) sleep(60);\n"
        "  x = before + zero + i % 3;\n"
        "$}}\n"
        "C++ sub start(name x) ${{ x = 0; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() { df x, y; start(x[0]); for i = 1..6000 { start(y[i]); pay(i, x[i - 1], y[i], x[i]); } "
        "show(x[6000]); }\n");
  const Words words = {"run", "pay.fa", "-q", "-t", "1", "--journal", "J", "--journal-interval", "100"};
  deadly();
  EXPECT_NE(tessera(words).exit_code, 0);
  EXPECT_EQ(read("paid"), "paid\n");
  const Outcome rest = tessera(words);
  EXPECT_TRUE(ended(rest, 0));
  EXPECT_EQ(rest.out, "6000\n");
  EXPECT_EQ(read("paid"), "paid\n");
}

// What fragments weigh is known before the first has run: so heavy ones are given away at once, and light ones never.
TEST_F(Journal, ARunThatGoesOnKnowsTheWeights) {
  write("w.fa",
        "C++ sub heavy(int i, name x) ${{ usleep(i < 20 || access(\"die\", F_OK) != 0 ? 5000 : 100000); x = i; $}}\n"
        "C++ sub add(int a, int b, name x) ${{ x = a + b; $}}\n"
        "C++ sub start(name x) ${{ x = 0; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x, s; start(s[0]);\n"
        "  for i = 1..40 { heavy(i, x[i]); add(s[i - 1], x[i], s[i]); }\n"
        "  show(s[40]);\n"
        "}\n");
  deadly();
  const std::string begin = TESSERA_COMMAND " run w.fa -q -t 1 --journal J --journal-interval 0.02 ";
  EXPECT_TRUE(ended(run({"sh", "-c",
                         begin + "& p=$!; until test $(cat J/*.tsj 2>/dev/null | wc -c) -gt 900; do sleep 0.05; "
                                 "done; sleep 0.1; kill -9 $p; wait $p"}),
                    137));
  fs::remove(path("die"));
  EXPECT_TRUE(ended(run({"sh", "-c", begin + "--record-policy log -n 2 -b central --restarts 0"}), 0));
  const Outcome known = run({"sh", "-c", "grep -ho '\"label\":\"heavy[^}]*' log*/* log* 2>/dev/null | head -1"});
  EXPECT_NE(known.out.find("\"profile_weight\":"), std::string::npos) << known.out;
  EXPECT_EQ(known.out.find("\"profile_count\":0,"), std::string::npos) << known.out;
}

}  // namespace
}  // namespace tessera::tests
