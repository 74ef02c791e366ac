// Traces of real runs: recorded on any ranks, replayed by the simulator, and never half of one.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "balancer/simulator/trace.hpp"
#include "command.hpp"

namespace tessera::tests {
namespace {

using balancer::index;
using balancer::simulator::Fragment;
using balancer::simulator::Trace;

// Ten stealable fragments of i ms from a loop, their sum in a chain, and one that waits for the end of all.
constexpr const char* kRecorded = R"(
C++ sub work(int i, name r) ${{ usleep(1000 * i); r = i; $}}
C++ sub add(int a, int b, name r) ${{ r = a + b; $}}
C++ sub show(int n) ${{ printf("%d\n", n); $}}
sub all(name x) { for i = 1..10 work(i, x[i]) @ { stealable; }; }
sub main() {
  df x, done, sum;
  all(x) >> (done);
  add(0, 0, sum[0]);
  for i = 1..10 add(sum[i - 1], x[i], sum[i]);
  show(sum[10]);
  show(done);
}
)";

std::vector<const Fragment*> of_group(const Trace& t, const std::string& label) {
  std::vector<const Fragment*> found;
  for (const Fragment& f : t.work.fragments) {
    if (t.work.groups[index(f.group)].label.rfind(label, 0) == 0) found.push_back(&f);
  }
  return found;
}

class Record : public Command {
 protected:
  // Runs with --record and reads what that left.
  Trace record(Words options) {
    options.insert(options.begin(), {"run", "-q", "p.fa", "--record", "p.trace"});
    EXPECT_TRUE(ended(tessera(options), 0));
    return balancer::simulator::read_trace(path("p.trace").string());
  }
};

TEST_F(Record, KeepsWeightsParentsInputsAndGroups) {
  write("p.fa", kRecorded);
  for (const Words& ways : {Words{"-t", "1"}, Words{"-t", "3"}, Words{"-n", "3", "-t", "1", "--balancer", "steal"},
                            Words{"--inproc-ranks", "3", "-t", "1", "--seed", "4", "--balancer", "central"}}) {
    const Trace t = record(ways);
    EXPECT_EQ(t.hash.size(), 32u);
    const auto work = of_group(t, "work at");
    ASSERT_EQ(work.size(), 10u);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_GE(work[i]->weight, 1'000'000 * static_cast<std::int64_t>(i + 1));
      EXPECT_LT(work[i]->weight, 1'000'000 * static_cast<std::int64_t>(i + 1) + 5'000'000'000);
      EXPECT_EQ(work[i]->output, 4);
      EXPECT_TRUE(t.work.groups[index(work[i]->group)].stealable);
    }
    // Iterations belong to ranges that name what they make; the loop of sums is one chain.
    EXPECT_EQ(of_group(t, "for i at").size(), 10u);
    for (const Fragment* f : of_group(t, "for i at")) {
      const balancer::GroupInfo& g = t.work.groups[index(f->group)];
      EXPECT_TRUE(g.range);
      ASSERT_EQ(g.body.size(), 1u);
      ASSERT_EQ(f->children.size(), 1u);
      EXPECT_EQ(t.work.fragments[f->children[0]].group, g.body[0]);
    }
    // sum[i] reads sum[i - 1] and x[i].
    const auto add = of_group(t, "add at");
    ASSERT_EQ(add.size(), 11u);
    std::size_t with_work = 0;
    for (const Fragment* f : add) {
      for (const auto& in : f->inputs) {
        EXPECT_EQ(in.bytes, 4);
        with_work += t.work.fragments[in.fragment].group == work[0]->group ? 1 : 0;
      }
    }
    EXPECT_EQ(with_work, 10u);
    // `>>`: a fragment of no weight reads nothing of all ten, and `show` reads it.
    const auto end = of_group(t, "end of all");
    ASSERT_EQ(end.size(), 1u);
    EXPECT_EQ(end[0]->inputs.size(), 10u);
    EXPECT_GE(t.work.work(), 55'000'000);
  }
}

// In each step fragment i does what it did in the one before; the balancer moves them all the same.
TEST_F(Record, KeepsSeries) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub step(int a, int i, name x) ${{ usleep(i % 2 == 0 ? 800 : 100); x = a + i; $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  for i = 0..5 init(i, x[0][i]) @ { locator_cyclic: i; };\n"
        "  for t = 1..20 for i = 0..5 step(x[t - 1][i], i, x[t][i]) @ { locator_cyclic: i; };\n"
        "} @ { locator_cyclic x[t][i] => i; }\n");
  for (const Words& ways : {Words{"-t", "2"}, Words{"-n", "2", "-t", "1", "--balancer", "steal"}}) {
    const Trace t = record(ways);
    const auto step = of_group(t, "step at");
    ASSERT_EQ(step.size(), 120u);
    std::set<std::uint32_t> numbers;
    for (std::size_t k = 0; k < step.size(); ++k) {
      EXPECT_GT(step[k]->series, 0u);
      EXPECT_EQ(step[k]->series, step[k % 6]->series);
      numbers.insert(step[k]->series);
    }
    EXPECT_EQ(numbers.size(), 6u);
    for (const Fragment* f : of_group(t, "init at")) EXPECT_EQ(f->series, 0u);
  }
  const Outcome o = tessera({"simulate", "-w", "p.trace", "-c", "emulated", "-n", "2", "-b", "steal,auto"});
  EXPECT_TRUE(ended(o, 0));
}

// When and where: nothing overlaps on a worker but what runs inside something else, nothing begins before its inputs
// are there, and names and numbers are those of the program.
TEST_F(Record, TellsTimes) {
  write("p.fa", kRecorded);
  for (const Words& ways : {Words{"-t", "2"}, Words{"-n", "3", "-t", "1", "--balancer", "steal"}}) {
    const Trace t = record(ways);
    const auto& times = t.times;
    ASSERT_GT(times.finished, 10'000'000);
    ASSERT_FALSE(times.bars.empty());
    std::set<std::int64_t> numbers;
    for (std::size_t i = 0; i < times.bars.size(); ++i) {
      const auto& b = times.bars[i];
      EXPECT_GE(b.start, 0);
      EXPECT_LE(b.start + b.length, times.finished);
      if (i > 0 && times.bars[i - 1].rank == b.rank && times.bars[i - 1].worker == b.worker) {
        EXPECT_GE(b.start, times.bars[i - 1].start);
      }
      const auto& block = times.blocks[b.block];
      EXPECT_EQ(t.work.fragments[b.fragment].group, balancer::Group{block.group});
      if (block.text != "work(i, x[i])") continue;
      EXPECT_EQ(block.names, (std::vector<std::string>{"i"}));
      ASSERT_EQ(block.slots.size(), 1u);
      EXPECT_EQ(block.slots[0].base, "x");
      EXPECT_TRUE(block.slots[0].output);
      ASSERT_EQ(b.numbers, 2u) << "the counter, and the index of x";
      EXPECT_EQ(times.numbers_of(b)[0], times.numbers_of(b)[1]);
      EXPECT_GE(b.length, 1'000'000 * times.numbers_of(b)[0]);
      numbers.insert(times.numbers_of(b)[0]);
    }
    EXPECT_EQ(numbers.size(), 10u);
    // An input that came by a message came after it was made and before it was read. It may come back to where it was
    // made, from its home.
    for (const auto& reader : times.bars) {
      for (const auto& a : times.arrivals_of(reader)) {
        const std::size_t maker = t.work.fragments[reader.fragment].inputs[a.input].fragment;
        for (const auto& made : times.bars) {
          if (made.fragment != maker) continue;
          EXPECT_GE(a.at, made.start);
        }
        EXPECT_LE(a.at, reader.start);
      }
    }
    EXPECT_EQ(times.ranks.size(), ways.size() == 2 ? 1u : 3u);
    EXPECT_EQ(times.messages.empty(), times.ranks.size() == 1);
    for (const auto& r : times.ranks) EXPECT_LE(std::abs(r.offset), r.error) << "there is one clock only";
    ASSERT_EQ(times.sources.size(), 1u);
    EXPECT_NE(times.sources[0].lines.at(4).find("sub all"), std::string::npos);
  }
}

// Every rank goes on making what belongs there.
TEST_F(Record, LeavesLoopsThatSpreadAsTheyAre) {
  write("p.fa",
        "C++ sub f(int i, name x) ${{ x = i; $}}\n"
        "sub main() { df x; for i = 0..29 f(i, x[i]) @ { locator_cyclic: i; }; }\n");
  const Trace t = record({"--inproc-ranks", "3", "-t", "1"});
  std::map<int, int> iterations, kernels;
  for (const auto& b : t.times.bars) {
    if (t.work.groups[index(t.work.fragments[b.fragment].group)].range) ++iterations[b.rank];
    if (t.times.blocks[b.block].kernel) ++kernels[b.rank];
  }
  EXPECT_EQ(iterations, (std::map<int, int>{{0, 30}, {1, 30}, {2, 30}}));
  EXPECT_EQ(kernels, (std::map<int, int>{{0, 10}, {1, 10}, {2, 10}}));
  EXPECT_EQ(of_group(t, "for i at").size(), 30u) << "of the graph, each is one";
}

// What runs on the spot, inside the run of what made it, counts once.
TEST_F(Record, WeightsDoNotContainEachOther) {
  write("p.fa", R"(
C++ sub one(name r) ${{ r = 1; $}}
C++ sub add(int a, int b, name r) ${{ r = a + b; $}}
sub tree(int d, name r) {
  df a, b;
  if d > 0 { tree(d - 1, a); tree(d - 1, b); add(a, b, r); }
  if d == 0 one(r);
}
sub main() { df r; tree(12, r); }
)");
  const Trace t = record({"-t", "1", "--summary", "s.json"});
  EXPECT_GT(t.work.fragments.size(), 12'000u);
  const double seconds = nlohmann::json::parse(read("s.json"))["seconds"];
  EXPECT_LE(static_cast<double>(t.work.work()) * 1e-9, seconds);
}

// Locators as they stand, also those that are known only when data is there.
TEST_F(Record, KeepsPlaces) {
  write("p.fa", R"(
C++ sub put(int v, name r) ${{ r = v; $}}
C++ sub show(int v) ${{ printf("%d\n", v); $}}
sub main() {
  df x, n;
  put(5, n);
  for i = 1..3 put(i, x[i]) @ { locator_cyclic: 7 * i; };
  for i = 1..3 show(x[i]) @ { locator_cyclic: n + i; };
}
)");
  for (const Words& ways : {Words{"-t", "1"}, Words{"--inproc-ranks", "4", "--seed", "3", "--balancer", "steal"}}) {
    const Trace t = record(ways);
    std::multiset<int> homes;
    for (const char* label : {"put at", "show at"}) {
      for (const Fragment* f : of_group(t, label)) homes.insert(index(f->home));
    }
    // `put(5, n)`, and what `show` runs before its locator is known, have none.
    homes.erase(-1);
    EXPECT_EQ(homes, (std::multiset<int>{6, 7, 7, 8, 14, 21}));
  }
}

TEST_F(Record, IsReplayed) {
  write("p.fa", kRecorded);
  record({"-t", "1"});
  const Outcome o = tessera({"simulate", "-w", "p.trace", "-n", "1,2,5", "-b", "steal", "--json", "-"});
  EXPECT_TRUE(ended(o, 0));
  const auto runs = nlohmann::json::parse(o.out)["runs"];
  ASSERT_EQ(runs.size(), 3u);
  // What sleeps is measured as long as the machine let it sleep: never less.
  EXPECT_GT(runs[0]["seconds"].get<double>(), 0.05);
  EXPECT_LT(runs[2]["seconds"].get<double>(), 0.7 * runs[0]["seconds"].get<double>());
}

TEST_F(Record, EveryIterationOfAFusedChainIsAFragment) {
  write("p.fa",
        "C++ sub f(int v, name x) ${{ x = v; $}}\n"
        "sub main() { df x, _y; f(0, x[0]); for i = 1..9 f(x[i - 1] + 1, x[i]); f(x[9], _y); }\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-t", "1", "--record", "p.trace"}), 0));
  EXPECT_NE(read("p.trace").find("\nend 12 "), std::string::npos) << read("p.trace");
}

TEST_F(Record, WritesWholeFilesOrNone) {
  write("p.fa", kRecorded);
  write("bad.fa", "C++ sub f() ${{ throw 1; $}}\nsub main() { for i = 1..100 f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "bad.fa", "--record", "bad.trace"}), 1));
  EXPECT_TRUE(ended(tessera({"run", "-q", "bad.fa", "-n", "2", "--record", "bad.trace"}), 1));
  EXPECT_FALSE(std::filesystem::exists(path("bad.trace")));
  EXPECT_FALSE(std::filesystem::exists(path("bad.trace.part")));
  write("long.fa",
        "C++ sub f(int i, name x) ${{ x = i; $}}\n"
        "sub main() { df x; for i = 1..20000 f(i, x[i]); }\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "long.fa", "-t", "1", "--record", "l.trace"}), 0));
  EXPECT_NE(read("l.trace").find("\nend 40001 "), std::string::npos);
}

// Of a run that needs more room than there is the end is kept: all of it, and true.
TEST_F(Record, KeepsTheEndOfWhatIsTooLong) {
  write("long.fa",
        "C++ sub f(int i, int a, name x) ${{ if (i % 300 == 0) usleep(1000); x = a + i; $}}\n"
        "C++ sub show(int a) ${{ $}}\n"
        "sub main() { df x; f(0, 0, x[0]); for i = 1..20000 f(i, x[i - 1], x[i]) @ { locator_cyclic: i / 100; }; "
        "show(x[20000]); } @ { locator_cyclic x[i] => i / 100; }\n");
  for (const Words& ways : {Words{"-t", "1"}, Words{"-n", "2", "-t", "1"},
                            Words{"--inproc-ranks", "3", "-t", "2", "--balancer", "steal"}}) {
    Words words = {"run", "-q", "long.fa", "--record", "l.trace", "--record-limit-mb", "4"};
    words.insert(words.end(), ways.begin(), ways.end());
    EXPECT_TRUE(ended(
        tessera(words), 0,
        {"warning: --record: this is only the last", "had no room for more in ", "the 4 MB of --record-limit-mb"}));
    const Trace t = balancer::simulator::read_trace(path("l.trace").string());
    EXPECT_GT(t.work.fragments.size(), 1000u);
    EXPECT_LT(t.work.fragments.size(), 40'000u);
    ASSERT_FALSE(t.times.notes.empty());  // another one, where the machine has other things to do
    ASSERT_GT(t.times.from, 0);
    std::vector<bool> ran(t.work.fragments.size());
    for (const auto& b : t.times.bars) {
      EXPECT_GE(b.start, t.times.from);
      EXPECT_LE(b.start + b.length, t.times.finished);
      ran[b.fragment] = true;
    }
    EXPECT_EQ(std::count(ran.begin(), ran.end(), false), 0);
    for (const auto& m : t.times.messages) EXPECT_GE(m.at, t.times.from);
    // Each in the chain reads the one before it, the first that is kept reads what is not.
    std::size_t without = 0, chain = 0;
    for (const Fragment* f : of_group(t, "f at")) {
      ++chain;
      if (!f->inputs.empty()) continue;
      ++without;
      EXPECT_EQ(f->bytes, 4);
    }
    EXPECT_EQ(without, 1u) << "of " << chain;
    EXPECT_EQ(of_group(t, "show at").size(), 1u) << "the end is there";
    EXPECT_TRUE(ended(tessera({"simulate", "-w", "l.trace", "-n", "2", "-b", "steal"}), 0));
    const Outcome o = tessera({"report", "l.trace", "-o", "l.html"});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out.rfind("note: this is only the last ", 0), 0u) << o.out;
    // What workers did adds up to what is kept of the run.
    EXPECT_TRUE(ended(tessera({"export", "l.trace", "-f", "csv", "-o", "l"}), 0, {"note: this is only the last"}));
    std::istringstream rows(read("l/workers.csv"));
    std::map<std::string, std::int64_t> sum;
    std::string row;
    std::getline(rows, row);
    while (std::getline(rows, row)) {
      std::int64_t rank = 0, worker = 0, start = 0, end = 0;
      ASSERT_EQ(std::sscanf(row.c_str(), "%ld,%ld,%ld,%ld", &rank, &worker, &start, &end), 4) << row;
      sum[std::to_string(rank) + "." + std::to_string(worker)] += end - start;
    }
    for (const auto& [worker, ns] : sum) EXPECT_EQ(ns, t.times.finished - t.times.from) << worker;
  }
  // Room for little, shared by many.
  EXPECT_TRUE(ended(tessera({"run", "-q", "long.fa", "-t", "8", "--record", "m.trace", "--record-limit-mb", "1"}), 0,
                    {"warning: --record: this is only the last"}));
}

// One rank of four does it all: it gets what the others do not need. With its quarter less than half would be kept. (Of
// 16 MB it got as much, but in 3 of 10 runs on busy cores not in time.)
TEST_F(Record, RoomGoesToTheRankThatFillsIt) {
  write("one.fa",
        "C++ sub f(int i, int a, name x) ${{ usleep(20); x = a + i; $}}\n"
        "C++ sub show(int a) ${{ $}}\n"
        "sub main() { df x; f(0, 0, x[0]); for i = 1..12000 f(i, x[i - 1], x[i]) @ { locator_cyclic: 3; }; "
        "show(x[12000]); }\n");
  for (const Words& ways : {Words{"-n", "4"}, Words{"--inproc-ranks", "4"}}) {
    Words words = {"run", "-q", "one.fa", "-t", "1", "--balancer", "none", "--record", "o.trace", "--record-limit-mb",
                   "24"};
    words.insert(words.end(), ways.begin(), ways.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.err.find("this is only the last"), std::string::npos) << o.err;
    const Trace t = balancer::simulator::read_trace(path("o.trace").string());
    EXPECT_EQ(of_group(t, "f at").size(), 12'001u);
  }
}

// The folder of the record is gone when the run ends: that is told, and is no reason to begin it again, with a journal
// neither, which has come to its end.
TEST_F(Record, WhatCannotBeWrittenIsNotRunAgain) {
  write("p.fa",
        "C++ head ${{\n#include <filesystem>\n$}}\n"
        "C++ sub f(int i, name x) ${{ if (i == 5) std::filesystem::remove_all(\"gone\"); x = i; $}}\n"
        "C++ sub show(int n) ${{ printf(\"%d\\n\", n); $}}\n"
        "sub main() { df x; for i = 1..10 { f(i, x[i]); show(x[i]); } }\n");
  for (const Words& ways : {Words{}, Words{"-n", "2"}, Words{"--inproc-ranks", "2"}}) {
    std::filesystem::create_directory(path("gone"));
    Words words = {"run", "-q", "p.fa", "-t", "1", "--journal", "J", "--record", "gone/r.trace"};
    words.insert(words.end(), ways.begin(), ways.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 3, {"gone/r.trace cannot be written: No such file or directory"}));
    EXPECT_EQ(o.err.find("again"), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 10) << o.out;
    const Outcome journal = tessera({"journal", "J"});
    EXPECT_NE((journal.out + journal.err).find("begins anew"), std::string::npos) << journal.out << journal.err;
  }
}

// What moved is in the record, also parts of loops in subs: as many as the summary counts.
TEST_F(Record, MovesAreThoseOfTheSummary) {
  write("p.fa", R"(
C++ sub leaf(int d, int at, name r) ${{ usleep(at % 5 == 0 ? 3000 : 300); r = 1; $}}
C++ sub join(int a, int b, name r) ${{ usleep(200); r = a + b; $}}
C++ sub light(int i, name r) ${{ usleep(40); r = i; $}}
C++ sub show(int n) ${{ $}}
sub tree(int d, int at, name r) {
  if d == 0 leaf(d, at, r);
  else {
    df x;
    for side = 0..1 tree(d - 1, 2 * at + side, x[side]);
    join(x[0], x[1], r);
  }
}
sub main() {
  df r, y;
  tree(6, 1, r);
  show(r);
  for i = 0..11999 light(i, y[i]);
}
)");
  std::int64_t parts = 0;
  for (const char* balancer : {"steal", "central", "auto", "demand"}) {
    const Trace t = record({"--inproc-ranks", "3", "-t", "1", "--balancer", balancer, "--summary", "s.json"});
    const auto summary = nlohmann::json::parse(read("s.json"));
    std::int64_t moved = 0;
    for (const auto& r : summary["ranks"]) moved += r["moved_in"].get<std::int64_t>();
    const auto by_policy =
        std::count_if(t.times.moves.begin(), t.times.moves.end(), [](const auto& m) { return m.by_policy; });
    EXPECT_EQ(by_policy, moved) << balancer;
    for (const auto& m : t.times.moves) parts += t.work.groups[index(t.work.fragments[m.fragment].group)].range ? 1 : 0;
  }
  EXPECT_GT(parts, 0) << "also parts of loops";
}

// A part of a record, for whom all is too much.
TEST_F(Record, IsReadInParts) {
  write("p.fa", kRecorded);
  const Trace t = record({"-t", "1"});
  const auto& bars = t.times.bars;
  const auto work = std::find_if(bars.begin(), bars.end(), [&](const auto& b) {
    return t.times.blocks[b.block].text == "work(i, x[i])" && b.length > 5'000'000;
  });
  ASSERT_NE(work, bars.end());
  const auto in_us = [](balancer::Time t) { return std::to_string(t / 1000) + "us"; };
  const std::string from = in_us(work->start + work->length / 4), to = in_us(work->start + work->length / 2);
  EXPECT_TRUE(ended(tessera({"export", "p.trace", "-f", "dot", "-o", "p.dot", "--from", from, "--to", to}), 0,
                    {"note: this is the part from"}));
  const std::string dot = read("p.dot");
  EXPECT_EQ(dot.find("work (i="), dot.rfind("work (i=")) << dot;
  EXPECT_NE(dot.find("work (i="), std::string::npos) << dot;
  EXPECT_TRUE(ended(tessera({"export", "p.trace", "-f", "csv", "-o", "part", "--from", from, "--to", to}), 0));
  const std::string fragments = read("part/fragments.csv");
  EXPECT_EQ(std::count(fragments.begin(), fragments.end(), '\n'), 2) << fragments;
  EXPECT_NE(fragments.find(",created,"), std::string::npos) << "what the whole knows its part does: " << fragments;
  EXPECT_TRUE(ended(tessera({"report", "p.trace", "-o", "p.html", "--from", from}), 0));
  EXPECT_TRUE(ended(tessera({"report", "p.trace", "-o", "p.html", "--from", "1h"}), 2, {"nothing ran from 1h"}));
  EXPECT_TRUE(ended(tessera({"report", "p.trace", "-o", "p.html", "--from", "soon"}), 2, {"--from", "soon", "1.5ms"}));
}

TEST_F(Record, RefusesAPathBeforeTheRun) {
  write("p.fa", "C++ sub f() ${{ printf(\"ran\\n\"); $}}\nsub main() { f(); }\n");
  for (const Words& ranks : {Words{}, Words{"-n", "2"}}) {
    Words words = {"run", "p.fa", "--record", "no/such/p.trace"};
    words.insert(words.end(), ranks.begin(), ranks.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 2, {"--record", "no/such", "there is no directory"}));
    EXPECT_EQ(o.out, "");
  }
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--record", "."}), 2, {"--record", "it is a directory"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--record-limit-mb", "0"}), 2, {"--record-limit-mb"}));
}

// Rank 0 was always late to ask itself for the time, and its communication thread ran all the while.
TEST_F(Command, RecordingTakesNoProcessorWhileNothingHappens) {
  write("sleeps.fa", "C++ sub nap() ${{ usleep(1500000); $}}\nsub main() { nap(); }\n");
  for (const char* ranks : {"1", "2"}) {
    ASSERT_TRUE(ended(tessera({"run", "-q", "sleeps.fa", "--inproc-ranks", ranks, "-t", "1", "--record", "s.trace",
                               "--summary", "s.json"}),
                      0));
    const std::string summary = read("s.json");
    const std::size_t at = summary.find("\"cpu_seconds\": ");
    ASSERT_NE(at, std::string::npos) << summary;
    EXPECT_LT(std::stod(summary.substr(at + 15)), 0.12) << ranks << " ranks, of 1.5 s";
  }
}

}  // namespace
}  // namespace tessera::tests
