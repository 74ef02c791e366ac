// What follows from a record: what workers did all the time, why they were idle, and what held the run up.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/failure.hpp"
#include "cli/report/page.hpp"
#include "cli/report/run_data.hpp"
#include "small_trace.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::cli {
namespace {

class ReportRecord : public testing::Test {
 protected:
  RunRecord read(const std::string& text) {
    const std::string path = (folder_ / "r.trace").string();
    std::ofstream(path, std::ios::binary) << text;
    return read_run(path);
  }
  tests::TemporaryFolder folder_;
};

Time sum(const RunRecord& r, Doing d) { return r.sums[static_cast<std::size_t>(d)] / 1000; }

TEST_F(ReportRecord, EachWorkersTimeIsToldToTheLastNanosecond) {
  const RunRecord r = read(tests::kSmallTrace);
  EXPECT_EQ(sum(r, Doing::kernel), 7000);
  EXPECT_EQ(sum(r, Doing::making), 100);
  EXPECT_EQ(sum(r, Doing::overhead), 10 + 5) << "both were ready, and nothing else ran";
  EXPECT_EQ(sum(r, Doing::value), 3510 - 2100) << "rank 0 had nothing else while work(2) ran";
  EXPECT_EQ(sum(r, Doing::transfer), 4000 - 3510);
  EXPECT_EQ(sum(r, Doing::late), 500 - 100) << "work(2) lay on rank 0 until it was moved";
  EXPECT_EQ(sum(r, Doing::elsewhere), 0);
  EXPECT_EQ(sum(r, Doing::nothing), 100 + (6105 - 3510) + (6105 - 6005));
  ASSERT_EQ(r.lanes.size(), 2u);
  for (const Lane& lane : r.lanes) {
    Time at = 0;
    for (const Segment& s : lane.segments) {
      EXPECT_EQ(s.start, at);
      EXPECT_GT(s.end, s.start);
      at = s.end;
    }
    EXPECT_EQ(at, r.finished());
  }
}

// Only the end of the run is kept, and a part of one is looked at: workers' times and the path are of that, to the last
// nanosecond, whatever part it is.
TEST_F(ReportRecord, APartAddsUp) {
  std::string kept = tests::kSmallTrace;
  const std::string run = "run 6105000 live steal\n";
  kept.insert(kept.find(run) + run.size(), "from 510000\n");
  for (int n = 0; n < 300; ++n) {
    const std::string path = (folder_ / "r.trace").string();
    std::ofstream(path, std::ios::binary) << (n % 2 == 0 ? kept : tests::kSmallTrace);
    Part part;
    if (n >= 2)
      part.from = std::to_string(510 + n * 18) + "us", part.to = std::to_string(1110 + n * 18 + n * n % 2000) + "us";
    const RunRecord r = read_run(path, part);
    SCOPED_TRACE(part.from + " to " + part.to);
    EXPECT_LT(r.from(), r.finished());
    for (const Lane& lane : r.lanes) {
      Time at = r.from();
      for (const Segment& s : lane.segments) {
        EXPECT_EQ(s.start, at);
        EXPECT_GT(s.end, s.start);
        at = s.end;
      }
      EXPECT_EQ(at, r.finished());
    }
    Time end = r.finished();
    for (const Step& s : r.path) {
      EXPECT_EQ(s.end, end);
      end = s.start;
    }
    EXPECT_EQ(end, r.from());
    EXPECT_EQ(RunData(r).json()["from"], r.from());
  }
}

// A rank to which nothing was moved meanwhile.
TEST_F(ReportRecord, WorkThatLayElsewhereAndNeverCameIsNotLate) {
  std::string text = tests::kSmallTrace;
  const std::string last = "rank 1 1 same-host 0 0 here\n";
  text.insert(text.find(last) + last.size(), "rank 2 1 same-host 0 0 here\n");
  const RunRecord r = read(text);
  EXPECT_EQ(sum(r, Doing::late), 500 - 100);
  EXPECT_EQ(sum(r, Doing::elsewhere), 500 - 100);
}

TEST_F(ReportRecord, ThePathGoesBackToWhatEachHadToWaitFor) {
  const RunRecord r = read(tests::kSmallTrace);
  using enum Step::Kind;
  const std::vector<std::tuple<Time, Time, Step::Kind, std::size_t>> wanted = {
      {6005, 6105, overhead, kNobody},  // the runtime's end
      {4005, 6005, run, 2},
      {4000, 4005, overhead, 2},
      {3510, 4000, transfer, 2},
      {510, 3510, run, 3},
      {500, 510, overhead, 3},
      {100, 500, move, 3},
      {0, 100, run, 0}};
  ASSERT_EQ(r.path.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Step& s = r.path[i];
    EXPECT_EQ(std::tuple(s.start / 1000, s.end / 1000, s.kind, s.bar), wanted[i]) << i;
  }
}

// What is moved takes its inputs along: when they came says nothing of how long it had lain. Here its input was made on
// rank 0 at 300 us, and on rank 1, from where it went to rank 0 at 900 us, at 400 us.
TEST_F(ReportRecord, WhatIsMovedLayReadySinceItsInputsWereThere) {
  const RunRecord r = read(
      "tessera-trace 1\nprogram - p\ngroup 0 : make\ngroup 1 : work\nf 0 0 - - 300000 8\nf 1 1 - 0 100000 0 0:8\n"
      "f 2 1 - - 1200000 0\nrun 1200000 live steal\nrank 0 1 same-host 0 0 h\nrank 1 1 same-host 0 0 h\n"
      "block 0 0 kernel 1 : 1 in p make()\nblock 1 1 kernel 2 : 1 in p work()\n"
      "t 0 0 0 0 300000 0\nt 1 0 0 1000000 100000 1 @0:899000\nt 2 1 0 0 1200000 1\n"
      "moved 1 900000 1 0 policy 400000\nend 3\n");
  EXPECT_EQ(r.ready[1].why, Ready::Why::moved);
  EXPECT_EQ(r.ready[1].made, 400'000);
  EXPECT_EQ(r.ready[1].at, 900'000);
  EXPECT_EQ(sum(r, Doing::late), 900 - 400);
  EXPECT_EQ(sum(r, Doing::nothing), 400 - 300 + 100);
  const Cause cause = cause_of(r, r.lanes[0].segments[2]);
  EXPECT_EQ(r.lanes[0].segments[2].doing, Doing::late);
  EXPECT_EQ(cause.rank, 1) << "there it lay";
}

// A bar inside another one: what makes a fragment and runs it on the spot.
TEST_F(ReportRecord, WhatRunsInsideSomethingElseCountsOnce) {
  const RunRecord r = read(
      "tessera-trace 1\nprogram - p\ngroup 0 : outer\ngroup 1 : inner\nf 0 0 - - 70 0\nf 1 1 - 0 30 0\n"
      "run 100 live none\nrank 0 1 same-host 0 0 h\nblock 0 0 kernel 1 : 1 in p outer()\nblock 1 1 kernel 2 : 1 in p "
      "inner()\nt 1 0 0 20 30 1\nt 0 0 0 0 100 0\nend 2\n");
  EXPECT_EQ(r.own, (std::vector<Time>{70, 30})) << "also when the file has them in another order";
  EXPECT_EQ(r.sums[0], 100);
}

TEST_F(ReportRecord, SentencesSayWhatToDo) {
  const auto all = sentences(read(tests::kSmallTrace));
  ASSERT_GE(all.size(), 2u);
  // main, work(2) and work(3) take 5.1 of 6.1 ms.
  EXPECT_NE(all[0].find("The longest chain of fragments that wait for each other takes 5.10 ms"), std::string::npos)
      << all[0];
  EXPECT_NE(all[1].find("nothing was ready anywhere"), std::string::npos) << all[1];
}

// Of two workers one runs a kernel of 6 s, the other many: both are busy, and more of them would not help.
TEST_F(ReportRecord, OneLongKernelIsNamed) {
  std::string text = "tessera-trace 1\nprogram - p\ngroup 0 : item\nf 0 0 - - 6000000000 0\n";
  std::string bars = "t 0 0 0 0 6000000000 0 30\n";
  for (int i = 1; i <= 100; ++i) {
    const std::string number = std::to_string(i);
    text += "f " + number + " 0 - - 60000000 0\n";
    bars += "t " + number + " 1 0 " + std::to_string((i - 1) * 60'000'000LL) + " 60000000 0 " + number + "\n";
  }
  const auto all = sentences(read(text +
                                  "run 6100000000 live none\nrank 0 1 same-host 0 0 h\nrank 1 1 same-host 0 0 h\n"
                                  "block 0 0 kernel 2 i : 1 in p item(i)\n" +
                                  bars + "end 101\n"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0], "One fragment takes 6.00 s: cut the long ones, of 6.10 s in all: it is `item (i=30)`.");
}

// Who shares a core is not told to take more of them; what is uneven in little of the run is no sentence.
TEST_F(ReportRecord, SentencesAreOfWhatCosts) {
  std::string text = tests::kSmallTrace;
  text.insert(text.find("rank 0 1"),
              "note workers had no core for 60 % of their time: the machine had other things to do\n");
  EXPECT_EQ(sentences(read(text)).at(0).find("For 60 % of their time the workers had no core"), 0u);
  const auto uneven = [&](const char* finished) {
    const auto all = sentences(
        read(std::string("tessera-trace 1\nprogram - p\ngroup 0 : k\nf 0 0 - - 10000000 0\nf 1 0 - - 10000000 0\n"
                         "f 2 0 - - 10000000 0\nrun ") +
             finished +
             " live none\nrank 0 1 same-host 0 0 h\nrank 1 1 same-host 0 0 h\n"
             "block 0 0 kernel 2 : 1 in p k()\nt 0 0 0 0 10000000 0\nt 1 0 0 10000000 10000000 0\n"
             "t 2 0 0 20000000 10000000 0\nend 3\n"));
    return std::accumulate(all.begin(), all.end(), std::string());
  };
  EXPECT_NE(uneven("31000000").find("the same kernels need 48 % of the time that the run took less"), std::string::npos)
      << uneven("31000000");
  EXPECT_EQ(uneven("500000000").find("evenly spread"), std::string::npos) << uneven("500000000");
}

// A part of a run is a cut of what is known of all of it.
TEST_F(ReportRecord, APartIsACutOfTheWhole) {
  const RunRecord whole = read(tests::kSmallTrace);
  for (int from = 0; from < 6000; from += 370) {
    for (int to = from + 200; to < 6100; to += 910) {
      Part part;
      part.from = std::to_string(from) + "us", part.to = std::to_string(to) + "us";
      std::array<Time, kDoings> cut{};
      for (const Lane& lane : whole.lanes) {
        for (const Segment& s : lane.segments)
          cut[static_cast<std::size_t>(s.doing)] +=
              std::max<Time>(0, std::min<Time>(s.end, to * 1000) - std::max<Time>(s.start, from * 1000));
      }
      RunRecord r;
      try {
        r = read_run((folder_ / "r.trace").string(), part);
      } catch (const Failure&) {
        continue;  // nothing ran then
      }
      // What comes after the part is not known there.
      for (const Doing d : {Doing::kernel, Doing::making, Doing::overhead, Doing::transfer, Doing::late})
        EXPECT_EQ(r.sums[static_cast<std::size_t>(d)] <= cut[static_cast<std::size_t>(d)] + 2000, true)
            << part.from << " " << part.to << " " << name_of(d);
      EXPECT_EQ(r.sums[0], cut[0]);
    }
  }
  Part part;
  part.from = "3600us", part.to = "6050us";  // without work(2), which made what was on its way
  const RunRecord r = read_run((folder_ / "r.trace").string(), part);
  EXPECT_EQ(sum(r, Doing::transfer), 400);
  EXPECT_EQ(sum(r, Doing::overhead), 5);
}

// Pauses of 1 us between kernels of 1 us are the runtime's. Such of 1 ms between kernels of 2 ms are not: nobody is
// told to make these longer.
TEST_F(ReportRecord, PausesOfTheMachineAreNotTheRuntimes) {
  const auto told = [&](Time kernel, Time pause) {
    std::string fragments = "f 0 0 - - 10 0\n", bars = "t 0 0 0 0 10 0\n";
    for (int i = 1; i <= 20; ++i) {
      const std::string number = std::to_string(i), length = std::to_string(kernel);
      fragments += "f " + number + " 1 - 0 " + length + " 0\n";
      bars += "t " + number + " 0 0 " + std::to_string(10 + i * pause + (i - 1) * kernel) + " " + length + " 1\n";
    }
    const auto all = sentences(read("tessera-trace 1\nprogram - p\ngroup 0 stack : main\ngroup 1 : work\n" + fragments +
                                    "run " + std::to_string(10 + 20 * (kernel + pause)) +
                                    " live none\nrank 0 1 same-host 0 0 h\nblock 0 0 - 1 : 1 in p main\n"
                                    "block 1 1 kernel 2 : 1 in p work()\n" +
                                    bars + "end 21\n"));
    return all.at(0);
  };
  EXPECT_NE(told(1000, 1000).find("The runtime itself took 50 % of the workers' time"), std::string::npos)
      << told(1000, 1000);
  EXPECT_NE(told(2'000'000, 1'000'000).find("For 33 % of the workers' time work was ready and they did not go on"),
            std::string::npos)
      << told(2'000'000, 1'000'000);
}

// Of all that the page has nothing ends its script, and what is not UTF-8 does no harm.
TEST_F(ReportRecord, NothingInAProgramEndsThePage) {
  std::string text = tests::kSmallTrace;
  text.replace(text.find("// <"), 2, "\xff\xfe");
  const std::string page = page_of({read(text)});
  const std::size_t data = page.find("id=\"data\">"), end = page.find("</script>", data);
  ASSERT_NE(data, std::string::npos);
  EXPECT_EQ(page.substr(data + 10, end - data - 10).find('<'), std::string::npos);
  const auto runs = nlohmann::json::parse(page.substr(data + 10, end - data - 10));
  EXPECT_NE(runs[0]["sources"][0]["lines"][1].get<std::string>().find("</script><!--<script>"), std::string::npos);
}

TEST_F(ReportRecord, PageHasTheSumsOfTheRecord) {
  const auto j = RunData(read(tests::kSmallTrace)).json();
  EXPECT_EQ(j["sums"][0], 7'000'000);
  EXPECT_EQ(j["groups"][1]["own"], 7'000'000);
  EXPECT_EQ(j["groups"][1]["count"], 3);
  EXPECT_EQ(j["groups"][1]["longest"], 3'000'000);
  EXPECT_EQ(j["groups"][0]["count"], 0) << "main is no kernel";
  EXPECT_EQ(j["path"][0], nlohmann::json({"work at small.fa:3", 5'000'000}));
  EXPECT_EQ(j["traffic"]["pairs"], nlohmann::json({{0, 1, 200, 1, 1, 0}, {1, 0, 60, 1, 0, 0}}));
}

// Ends of ends of ends: no recursion.
TEST_F(ReportRecord, LongChainsOfEndsAreFollowed) {
  std::string text = "tessera-trace 1\nprogram - p\ngroup 0 : k\ngroup 1 stack : end of k\nf 0 0 - - 10 0\n";
  constexpr int kDeep = 200'000;
  for (int i = 1; i <= kDeep; ++i) {
    text += "f " + std::to_string(i) + " 1 - 0 0 0 " + std::to_string(i - 1) + ":0\n";
  }
  const std::string last = std::to_string(kDeep + 1);
  text += "f " + last + " 0 - 0 10 0 " + std::to_string(kDeep) + ":0\nrun 100 live none\nrank 0 1 same-host 0 0 h\n" +
          "block 0 0 kernel 1 : 1 in p k()\nt 0 0 0 0 10 0\nt " + last + " 0 0 50 10 0\nend " +
          std::to_string(kDeep + 2) + "\n";
  const RunRecord r = read(text);
  EXPECT_EQ(r.ready[1].by, 0u);
}

}  // namespace
}  // namespace tessera::cli
