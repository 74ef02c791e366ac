// Runs that are killed and go on from their journals.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

// Sums of rows, which a fragment kills at its element `at` of row 5, once: when the file `die` is there and the journal
// has something. Each kernel that runs leaves a line.
constexpr const char* kRows =
    "C++ sub begin(int i, name x) ${{ x = i; $}}\n"
    "C++ sub add(int row, int i, int s, name x) ${{\n"
    "  if (FILE* ran = fopen(\"ran\", \"a\")) { fprintf(ran, \"%d %d\\n\", row, i); fclose(ran); }\n"
    "  if (row == 5 && i == 40 && access(\"die\", F_OK) == 0) {\n"
    "    for (int n = 0; n < 5000 && system(\"test $(cat J/*.tsj | wc -c) -gt 900\") != 0; ++n) usleep(2000);\n"
    "    unlink(\"die\");\n"
    "    if (system(\"kill -9 $PPID\") == 0) sleep(60);\n"
    "  }\n"
    "  x = s + i * row;\n"
    "$}}\n"
    "C++ sub show(string what, int v) ${{ printf(\"%s %d\\n\", what, v); fflush(stdout); $}}\n"
    "sub row(int r, name out_) {\n"
    "  df x;\n"
    "  begin(r, x[0]);\n"
    "  for i = 1..60 add(r, i, x[i - 1], x[i]);\n"
    "  if x[60] % 2 == 0 { add(r, 61, x[60], out_); show(\"even\", r); } else add(r, 62, x[60], out_);\n"
    "}\n"
    "sub main(int n) {\n"
    "  df y;\n"
    "  for r = 1..8 cf a[r]: row(r, y[r]) @ { locator_cyclic: r; };\n"
    "  for r = 1..8 show(\"row\", y[r]);\n"
    "}\n";

class Journal : public Command {
 protected:
  Journal() { write("p.fa", kRows); }
  Outcome journalled(Words words, const std::string& argument = "3") {
    words.insert(words.begin(), {"run", "p.fa", "--journal", "J", "--journal-interval", "0.005"});
    words.insert(words.end(), {"--", argument});
    return tessera(words);
  }
  void deadly() { write("die", ""); }
  // The lines without repetitions: what the last moments have printed may be printed again.
  static std::string lines(const std::string& text) {
    std::string once, before;
    for (const std::string all = sorted(text); const char c : all) {
      before += c;
      if (c != '\n') continue;
      if (once.size() < before.size() || once.compare(once.size() - before.size(), before.size(), before) != 0)
        once += before;
      before.clear();
    }
    return once;
  }
};

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

TEST_F(Journal, OfAnotherProgramOrOtherArgumentsIsRefused) {
  deadly();
  EXPECT_NE(journalled({}).exit_code, 0);
  EXPECT_TRUE(ended(journalled({}, "4"), 2, {"is the journal of a run with `3`, not with `4`"}));
  EXPECT_TRUE(ended(journalled({"-n", "2"}, "4"), 2, {"is the journal of a run with `3`, not with `4`"}));
  write("p.fa", kEcho);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--journal", "J", "--", "1", "b"}), 2, {"another program"}));
}

// Values of kernels that were mended would stand beside new ones.
TEST_F(Journal, OfOtherKernelsIsRefused) {
  const std::string kernels =
      "#include <unistd.h>\n#include <cstdio>\n#include <cstdlib>\n#include \"step.h\"\n#include \"ucenv.h\"\n"
      "#ifndef SHIFT\n#define SHIFT 0\n#endif\n"
      "extern \"C\" void start(OutputDF& x) { x = 0; }\n"
      "extern \"C\" void step(int i, int before, OutputDF& x) {\n"
      "  if (i == 40 && access(\"die\", F_OK) == 0) {\n"
      "    for (int n = 0; n < 5000 && system(\"test $(cat J/*.tsj | wc -c) -gt 500\") != 0; ++n) usleep(2000);\n"
      "    unlink(\"die\");\n    kill(getpid(), SIGKILL);\n  }\n"
      "  x = before + STEP + SHIFT;\n}\n";
  write("k/steps.cpp", "#include <csignal>\n" + kernels);
  write("k/step.h", "#define STEP 2\n");
  write("k/p.fa",
        "import start(name) as start;\nimport step(int, int, name) as step;\n"
        "C++ sub show(int v) ${{ printf(\"sum %d\\n\", v); $}}\n"
        "sub main() { df x; start(x[0]); for i = 1..60 step(i, x[i - 1], x[i]); show(x[60]); }\n");
  const std::string options = "-t 1 --journal J --journal-interval 0.005";
  const auto tessera_run = [&](const char* more = "") {
    return run({"sh", "-c", std::string(more) + " exec " TESSERA_COMMAND " run k/p.fa " + options});
  };
  const Words changed = {"the kernels of k/p.fa have changed since", "Remove the folder"};
  deadly();
  EXPECT_NE(tessera_run().exit_code, 0);
  EXPECT_FALSE(fs::exists(path("die")));
  const auto journal = [&] { return run({"sh", "-c", "cat J/*.tsj | md5sum; ls J"}).out; };
  const std::string before = journal();
  // A header, the file itself, an option.
  write("k/step.h", "#define STEP 3\n");
  EXPECT_TRUE(ended(tessera_run(), 2, changed));
  EXPECT_TRUE(ended(run({"sh", "-c", TESSERA_COMMAND " build k/p.fa -o p && TESSERA_OPTIONS='" + options + "' ./p"}), 2,
                    changed));
  EXPECT_TRUE(ended(run({"sh", "-c", "TESSERA_OPTIONS='" + options + "' exec " LUNA_COMMAND " k/p.fa"}), 1, changed));
  write("k/step.h", "#define STEP 2\n");
  write("k/steps.cpp", "#include <csignal>\n" + kernels + "extern \"C\" int other() { return STEP; }\n");
  EXPECT_TRUE(ended(tessera_run(), 2, changed));
  write("k/steps.cpp", "#include <csignal>\n" + kernels);
  EXPECT_TRUE(ended(tessera_run("CXXFLAGS=-DSHIFT=1"), 2, changed));
  EXPECT_EQ(journal(), before);
  // What a person reads is no kernel. Whichever command made the program, it is the same.
  write("k/steps.cpp", "// Steps of STEP.\n\n#include <csignal>\n" + kernels);
  EXPECT_TRUE(ended(run({"sh", "-c",
                         "cp -r J K; " TESSERA_COMMAND " build k/p.fa -o p && "
                         "TESSERA_OPTIONS='-t 1 --journal K' ./p"}),
                    0, {"goes on from the journal"}));
  EXPECT_TRUE(
      ended(run({"sh", "-c",
                 "rm -rf K; cp -r J K; cd k; TESSERA_OPTIONS='--journal ../K' exec " LUNA_COMMAND " --verbose p.fa"}),
            0, {"goes on from the journal"}));
  const Outcome rest = tessera_run();
  EXPECT_TRUE(ended(rest, 0, {"goes on from the journal"}));
  EXPECT_EQ(rest.out, "sum 120\n");
  // It has come to its end: the next one begins anew, with whatever kernels.
  write("k/step.h", "#define STEP 3\n");
  const Outcome anew = tessera_run();
  EXPECT_TRUE(ended(anew, 0, {"begins anew"}));
  EXPECT_EQ(anew.out, "sum 180\n");
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

TEST_F(Journal, IsShownAndCompacted) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  deadly();
  const Outcome killed = journalled({"-n", "2", "--restarts", "0"});
  EXPECT_NE(killed.exit_code, 0);
  const Outcome shown = tessera({"journal", "J", "--verify"});
  EXPECT_TRUE(ended(shown, 0));
  for (const char* part : {"the journal of p.fa -- 3", "1, the last one on 2 ranks", "fragments", "values", "files"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << shown.out;
  const Outcome compacted = tessera({"journal", "J", "--compact"});
  EXPECT_TRUE(ended(compacted, 0));
  EXPECT_NE(compacted.out.find("have become"), std::string::npos);
  const auto fragments = [](const std::string& text) {
    const std::size_t at = text.find("fragments");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(fragments(tessera({"journal", "J"}).out), fragments(shown.out));
  const Outcome rest = journalled({"-t", "1"});
  EXPECT_TRUE(ended(rest, 0, {"goes on from the journal"}));
  EXPECT_EQ(lines(killed.out + rest.out), lines(all.out));

  const Outcome verified =
      run({"sh", "-c", "for f in J/*.tsj; do echo xxxxxxxx >> $f; done; exec " TESSERA_COMMAND " journal J --verify"});
  EXPECT_TRUE(ended(verified, 2));
  EXPECT_NE(verified.out.find("bytes can't be read"), std::string::npos) << verified.out;
  // What is named like a file and is none is named, and opened by nobody.
  const Outcome odd = run({"sh", "-c",
                           "cp -r J K; mkdir K/00009-00000-00000.tsj; mkfifo K/00010-00000-00000.tsj; "
                           "timeout 20 " TESSERA_COMMAND " journal K --verify"});
  EXPECT_TRUE(ended(odd, 2));
  for (const char* part : {"K/00009-00000-00000.tsj: is no file", "K/00010-00000-00000.tsj: is no file", "fragments"})
    EXPECT_NE(odd.out.find(part), std::string::npos) << odd.out;
  const Outcome beside =
      run({"sh", "-c", "rm K/finished; exec timeout 60 " TESSERA_COMMAND " run p.fa -t 1 --journal K -- 3"});
  EXPECT_TRUE(ended(beside, 0, {"K/00010-00000-00000.tsj is no file", "goes on from the journal"}));
  EXPECT_TRUE(ended(tessera({"journal", "nosuch"}), 2, {"no such folder"}));
  EXPECT_TRUE(ended(tessera({"journal", "."}), 2, {"there is no journal"}));
  // Over before there was a sweep.
  write("short.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "-q", "short.fa", "--journal", "S", "--journal-interval", "100"}), 0));
  const Outcome over = tessera({"journal", "S"});
  EXPECT_TRUE(ended(over, 0));
  EXPECT_NE(over.out.find("came to its end"), std::string::npos) << over.out;
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
    EXPECT_TRUE(ended(run({"sh", "-c", begin}), 0));
    const std::string ran = read("ran");
    EXPECT_LT(std::count(ran.begin(), ran.end(), '\n'), 120) << "what was done is done again";
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

// Text that mpirun or `tessera` has in hand when they are killed is printed by the next run: its kernels have not run
// as long as it is not out. Here nobody reads it, so more than a pipe takes is still under way.
TEST_F(Journal, NoLineIsLostWithWhoPassesItOn) {
  write("say.fa",
        "C++ sub say(int i) ${{\n"
        "  if (FILE* ran = fopen(\"ran\", \"a\")) { fprintf(ran, \"%d\\n\", i); fclose(ran); }\n"
        "  printf(\"%d %s\\n\", i, std::string(1000, 'x').c_str());\n"
        "$}}\n"
        "C++ sub stay() ${{ if (access(\"die\", F_OK) == 0) sleep(60); $}}\n"
        "sub main() { for i = 1..100 say(i); stay(); }\n");
  // With two seconds the first sweep comes when `tessera` is gone and the ranks live yet.
  for (const std::string ranks :
       {"0.01 -n 2 -t 2 --restarts 0", "0.01 -t 2 --restarts 1", "2 -n 2 -t 2 --restarts 0"}) {
    fs::remove_all(path("J"));
    fs::remove(path("ran"));
    deadly();
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

TEST_F(Journal, WhereItCantBeWrittenTheRunGoesOn) {
  EXPECT_TRUE(
      ended(tessera({"run", "p.fa", "--journal", "/proc/J", "--", "3"}), 2, {"--journal: can't make the folder"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--journal-interval", "x", "--", "3"}), 2, {"write auto, or seconds"}));
  write("slow.fa",
        "C++ sub f(int i, name x) ${{ usleep(3000); x = i; $}}\n"
        "sub main() { df x; for i = 1..100 f(i, x[i]); }\n");
  EXPECT_TRUE(ended(tessera({"build", "slow.fa", "-o", "p"}), 0));
  const Outcome o =
      run({"sh", "-c", "trap '' XFSZ; ulimit -f 2; TESSERA_OPTIONS='-t 1 --journal J --journal-interval 0.005' ./p"});
  EXPECT_TRUE(ended(o, 0, {"warning: the journal can't be written", "File too large", "the run goes on"}));
}

// Each rank has a folder of its own where the other sees none: nothing runs.
TEST_F(Journal, AFolderThatRanksDoNotShareIsRefused) {
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  const Outcome o = run({"sh", "-c",
                         "mkdir 0 1; export TESSERA_OPTIONS='--journal /proc/self/cwd/J'; mpirun --allow-run-as-root "
                         "--oversubscribe -n 2 sh -c 'cd $OMPI_COMM_WORLD_RANK; exec ../p 3'"});
  EXPECT_TRUE(ended(o, 3, {"rank 1: --journal: /proc/self/cwd/J is not the folder that rank 0 sees there"}));
  EXPECT_EQ(o.out, "");
  EXPECT_FALSE(fs::exists(path("0/ran")));
}

// Of 190,000 fragments that take less time than to write more of them, ranges are written; and no more is done about
// them than that when the run goes on.
TEST_F(Journal, OfManySmallFragmentsLittleIsWritten) {
  write("many.fa",
        "C++ sub start(name x) ${{ x = 1; $}}\n"
        "C++ sub link(int before, name x) ${{ x = before + 1; $}}\n"
        "C++ sub cell(int a, int b, name x) ${{ x = (a + b) % 1000; $}}\n"
        "C++ sub hold(int a, int b, name x) ${{\n"
        "  if (access(\"die\", F_OK) == 0) { fclose(fopen(\"held\", \"w\")); sleep(60); }\n"
        "  x = a + b;\n"
        "$}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x, y, z; start(x[0]);\n"
        "  for i = 1..100000 link(x[i - 1], x[i]);\n"
        "  for i = 0..300 start(y[0][i]);\n"
        "  for t = 1..300 { start(y[t][0]); for i = 1..300 cell(y[t - 1][i - 1], y[t - 1][i], y[t][i]); }\n"
        "  hold(x[100000], y[300][300], z);\n"
        "  show(z);\n"
        "}\n");
  const Outcome all = tessera({"run", "many.fa", "-q"});
  deadly();
  const std::string begin = TESSERA_COMMAND " run many.fa -q -t 1 --journal J --journal-interval 1000 ";
  EXPECT_TRUE(ended(
      run({"sh", "-c", begin + "& p=$!; until test -f held; do sleep 0.05; done; sleep 0.2; kill -TERM $p; wait $p"}),
      75));
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(path("J"))) bytes += file.file_size();
  EXPECT_LT(bytes, 60'000u);
  fs::remove(path("die"));
  const Outcome rest = run({"sh", "-c", begin + "--summary s.json"});
  EXPECT_TRUE(ended(rest, 0));
  EXPECT_EQ(rest.out, all.out);
  const auto summary = nlohmann::json::parse(read("s.json"));
  EXPECT_GE(summary.at("ranks").at(0).at("recalled").get<std::int64_t>(), 185'000);
  for (const auto& group : summary.at("groups"))
    EXPECT_LT(group.at("count").get<std::int64_t>(), 2'000) << group.at("label");
}

// Ranks that share a loop skip the same iterations of it: each is recalled once.
TEST_F(Journal, WhatAllRanksSkipCountsOnce) {
  write("spread.fa",
        "C++ sub start(int i, name x) ${{ x = i; $}}\n"
        "C++ sub hold(int a, int b, name x) ${{\n"
        "  if (access(\"die\", F_OK) == 0) { fclose(fopen(\"held\", \"w\")); sleep(60); }\n"
        "  x = a + b;\n"
        "$}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x, z;\n"
        "  for i = 0..19999 start(i, x[i]) @ { locator_cyclic: i * ranks / 20000; };\n"
        "  hold(x[0], x[19999], z);\n"
        "  show(z);\n"
        "}\n");
  deadly();
  const std::string begin = TESSERA_COMMAND " run spread.fa -q -n 2 -t 1 --journal J --journal-interval 1000 ";
  EXPECT_TRUE(ended(
      run({"sh", "-c", begin + "& p=$!; until test -f held; do sleep 0.05; done; sleep 0.5; kill -TERM $p; wait $p"}),
      75));
  fs::remove(path("die"));
  const Outcome rest = run({"sh", "-c", begin + "--summary s.json"});
  EXPECT_TRUE(ended(rest, 0));
  EXPECT_EQ(rest.out, "19999\n");
  std::int64_t recalled = 0;
  const auto summary = nlohmann::json::parse(read("s.json"));
  for (const auto& rank : summary.at("ranks")) recalled += rank.at("recalled").get<std::int64_t>();
  EXPECT_GE(recalled, 15'000);
  EXPECT_LE(recalled, 20'002);
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
  const Outcome o = journalled({"-n", "2", "--summary", "s.json"});
  EXPECT_TRUE(ended(o, 0, {"   recalled "}));
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
