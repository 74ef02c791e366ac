// `tessera advise`: on programs whose limit is certain, it names that one.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace tessera::tests {
namespace {

class Advise : public Command {
 protected:
  nlohmann::json advice(Words words) {
    words.insert(words.begin(), "advise");
    words.insert(words.end(), {"--json", "-"});
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0));
    return o.exit_code == 0 ? nlohmann::json::parse(o.out) : nlohmann::json();
  }
  static std::string first_limit(const nlohmann::json& j) {
    return j["limits"].empty() ? "none" : j["limits"][0]["name"].get<std::string>();
  }
};

TEST_F(Advise, AChainIsACriticalPath) {
  std::string trace = "tessera-trace 1\ngroup 0 : link\n";
  for (int i = 0; i < 50; ++i) {
    trace += "f " + std::to_string(i) + " 0 - " + (i == 0 ? "-" : std::to_string(i - 1)) + " 20000000 0\n";
  }
  write("chain.trace", trace + "end 50\n");
  const auto j = advice({"chain.trace", "-c", "uniform", "-n", "1,2,4"});
  EXPECT_EQ(first_limit(j), "critical path");
  for (const auto& l : j["limits"]) EXPECT_GT(l["share"], 0.95);
  EXPECT_EQ(j["best"]["ranks"], 1);
  EXPECT_FALSE(j["more_ranks_pay"]);
  EXPECT_NEAR(j["best"]["seconds"].get<double>(), 1.0, 0.01);
}

// Of a run that was recorded: the words that its report has at the top.
TEST_F(Advise, EndsWithWhatTheReportSays) {
  write("p.fa", "C++ sub work(int i, name x) ${{ x = i; $}}\nsub main() { df x; for i = 1..9 work(i, x[i]); }\n");
  ASSERT_TRUE(ended(tessera({"run", "-q", "-t", "1", "--record", "r.trace", "p.fa"}), 0));
  const Outcome report = tessera({"report", "r.trace", "-o", "r.html"});
  const Outcome advice = tessera({"advise", "r.trace", "-n", "1,2"});
  ASSERT_TRUE(ended(report, 0));
  ASSERT_TRUE(ended(advice, 0));
  const std::size_t from = ("\n" + report.out).find("\n- ");  // a note may stand before
  ASSERT_NE(from, std::string::npos) << report.out;
  const std::string said = report.out.substr(from, report.out.rfind("r.html: open") - from);
  EXPECT_EQ(advice.out.substr(advice.out.find("\n- ") + 1), said) << advice.out;
  EXPECT_NE(advice.out.find("the run itself, "), std::string::npos) << advice.out;
}

TEST_F(Advise, TinyFragmentsAreAMatterOfGranularity) {
  const auto j = advice({"loop:items=5000,weight=1us", "-c", "uniform", "-n", "1,4,16"});
  EXPECT_EQ(first_limit(j), "granularity");
}

TEST_F(Advise, OneLongFragmentIsAMatterOfGranularity) {
  std::string trace = "tessera-trace 1\ngroup 0 : work\nf 0 0 - - 1000000000 0\n";
  for (int i = 1; i < 30; ++i) trace += "f " + std::to_string(i) + " 0 - - 10000000 0\n";
  write("long.trace", trace + "end 30\n");
  EXPECT_EQ(first_limit(advice({"long.trace", "-c", "uniform", "-n", "1,8"})), "granularity");
}

TEST_F(Advise, HugeInputsOnASlowLinkAreTransfers) {
  write("slow.toml", "ranks = 8\n[link]\nbandwidth = \"5 MB/s\"\n");
  const auto j = advice({"matmul:blocks=5", "-c", "slow.toml", "-n", "1,8"});
  EXPECT_EQ(first_limit(j), "transfers");
}

TEST_F(Advise, ASlowCoordinatorIsNamed) {
  write("big.toml",
        "ranks = 400\n[processing]\nevent = \"200 us\"\nsend = \"200 us\"\n"
        "[coordinator]\nevent = \"200 us\"\nsend = \"200 us\"\n");
  const auto j = advice({"loop:items=8000,weight=20ms", "-c", "big.toml", "-n", "400", "-b", "central"});
  EXPECT_EQ(first_limit(j), "coordinator");
}

TEST_F(Advise, WhatIsBalancedHasNoLimit) {
  const auto j = advice({"loop:items=2000,weight=20ms", "-c", "uniform", "-n", "1,2,4,8"});
  EXPECT_EQ(first_limit(j), "none");
  EXPECT_TRUE(j["more_ranks_pay"]);
  EXPECT_EQ(j["best"]["ranks"], 8);
  EXPECT_GT(j["best"]["used"], 0.95);
  EXPECT_EQ(j["by_ranks"].size(), 4u);
}

TEST_F(Advise, WorkThatABalancerLeavesWhereItIsIsItsFault) {
  EXPECT_EQ(first_limit(advice({"loop:items=1000", "-c", "mustafin", "-b", "none"})), "balancer");
  EXPECT_EQ(first_limit(advice({"loop:items=100000,weight=22us", "-c", "mustafin", "-n", "16", "-b", "none"})),
            "balancer");
  const auto j = advice({"loop:items=2000,weights=heavy", "-c", "uniform", "-n", "16", "-b", "equal"});
  EXPECT_EQ(first_limit(j), "balancer");
  EXPECT_LT(j["default"]["seconds"], j["best"]["seconds"]);
}

// The profile says that nothing is worth moving: no balancer does.
TEST_F(Advise, WorkThatNobodyMovesIsNotWorkThatIsNotReady) {
  write("stay.profile",
        "version = 1\nprogram = \"p.fa\"\nhash = \"c7bac57cf5cdbb8f3a2947069d9f6794\"\n\n"
        "[[group]]\nlabel = \"mix\"\nposition = \"p.fa:9\"\ncount = 300\nmean_ns = 44171222\nvariance_ns2 = "
        "11943231819299.8\n"
        "bytes = 102400\nmoved = 0\nworth_moving = false\n\n"
        "\n[end]\nchecksum = \"561fffab599d35c5\"\n");
  const auto j = advice({"stay.profile", "-c", "uniform", "-n", "1,8"});
  EXPECT_EQ(first_limit(j), "balancer");
  EXPECT_GT(j["limits"][0]["share"], 0.9);
}

// The best that a balancer can do is to leave the rows where they are: since they are large.
TEST_F(Advise, WhatIsNotMovedSinceItIsLargeIsAMatterOfTransfers) {
  const auto j = advice({"rowreduce:rows=30", "-c", "chaparro", "-n", "1,8"});
  EXPECT_EQ(first_limit(j), "transfers");
}

TEST_F(Advise, OneNumberOfRanksTellsNothingOfMore) {
  EXPECT_FALSE(advice({"loop:items=200", "-c", "mustafin", "-n", "16"}).contains("more_ranks_pay"));
  const Outcome o = tessera({"advise", "loop:items=200", "-c", "mustafin", "-n", "16"});
  EXPECT_NE(o.out.find("ranks:  only 16 were tried\n"), std::string::npos) << o.out;
}

// The mean over both groups would be that of none.
TEST_F(Advise, TheFragmentsThatAreShortAreNamed) {
  std::string trace = "tessera-trace 1\ngroup 0 : long\ngroup 1 : brief\n";
  int n = 0;
  for (int i = 0; i < 30; ++i) trace += "f " + std::to_string(n++) + " 0 - - 70000 0\n";
  for (int i = 0; i < 3000; ++i) trace += "f " + std::to_string(n++) + " 1 - - 1000 0\n";
  write("two.trace", trace + "end " + std::to_string(n) + "\n");
  const auto j = advice({"two.trace", "-c", "uniform", "-n", "1,16"});
  ASSERT_EQ(first_limit(j), "granularity");
  EXPECT_NE(
      j["limits"][0]["text"].get<std::string>().find("a fragment of brief takes 1.00 us in the mean (3000 of them)"),
      std::string::npos)
      << j["limits"][0]["text"];
}

TEST_F(Advise, TurnsOfLoopsAreNoFragments) {
  std::string trace = "tessera-trace 1\ngroup 0 range body=1 : for i\ngroup 1 : brief\n";
  for (int i = 0; i < 3000; ++i) {
    trace += "f " + std::to_string(2 * i) + " 0 - - 100 0\nf " + std::to_string(2 * i + 1) + " 1 - " +
             std::to_string(2 * i) + " 1000 0\n";
  }
  write("loop.trace", trace + "end 6000\n");
  const Outcome o = tessera({"advise", "loop.trace", "-n", "1,16"});
  EXPECT_NE(o.out.find("loop.trace on uniform: 3000 fragments,"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("a fragment of brief takes 1.00 us in the mean (3000 of them)"), std::string::npos) << o.out;
}

// Without a word on where it is the same cluster that `tessera simulate` takes.
TEST_F(Advise, WithoutAClusterItIsTheUniformOne) {
  EXPECT_EQ(advice({"loop:items=200", "-n", "2"})["cluster"], "uniform");
}

// Of balancers between which the simulator can't tell, the default.
TEST_F(Advise, AnotherThanTheDefaultIsBetterByMoreThanCanBeTold) {
  for (const char* workload : {"matmul:blocks=6", "loop:items=300,weight=5ms", "loop:items=500,weights=heavy",
                               "iterate:iterations=5", "queens_loop:n=9"}) {
    const auto j = advice({workload, "-c", "mustafin", "-n", "2..4"});
    EXPECT_EQ(j["margin"], 0.05);
    if (j["best"]["balancer"] != j["default"]["balancer"] || !j["best"]["settings"].empty()) {
      EXPECT_LT(j["best"]["seconds"], 0.95 * j["default"]["seconds"].get<double>()) << workload;
    }
    EXPECT_LE(j["best"]["seconds"], j["default"]["seconds"]) << workload;
    if (j.contains("faster")) {
      EXPECT_LT(j["faster"]["seconds"], j["best"]["seconds"]) << workload;
    }
  }
}

// Weights as they lie in a program are not known: dealt out evenly beforehand they would take the least.
TEST_F(Advise, AProfileIsTheBestCaseAndSaysSo) {
  write("p.profile",
        "version = 1\nprogram = \"p.fa\"\nhash = \"c7bac57cf5cdbb8f3a2947069d9f6794\"\n\n"
        "[[group]]\nlabel = \"mix\"\nposition = \"p.fa:9\"\ncount = 300\nmean_ns = 44171222\nvariance_ns2 = "
        "11943231819299.8\n"
        "bytes = 102400\nmoved = 0\nworth_moving = true\n\n"
        "[[group]]\nlabel = \"work\"\nposition = \"p.fa:9\"\ncount = 300\nmean_ns = 8674145\nvariance_ns2 = "
        "18693736768202.3\n"
        "bytes = 0\nmoved = 0\nworth_moving = true\n\n"
        "\n[end]\nchecksum = \"076b5d9608dc9ab0\"\n");
  const auto j = advice({"p.profile", "-c", "emulated"});
  EXPECT_TRUE(j["from_profile"]);
  EXPECT_EQ(j["margin"], 0.2);
  EXPECT_EQ(j["best"]["balancer"], "auto");
  const Outcome o = tessera({"advise", "p.profile", "-c", "emulated"});
  EXPECT_NE(o.out.find("knows nothing of order and dependences: this is the best case"), std::string::npos) << o.out;
}

TEST_F(Advise, AnswersInAFewLinesTheSameEachTime) {
  const Words words = {"advise", "loop:items=300,weight=5ms", "-c", "mustafin", "-n", "2,4"};
  const Outcome a = tessera(words), b = tessera(words);
  EXPECT_TRUE(ended(a, 0));
  EXPECT_EQ(a.out, b.out);
  for (const char* word : {"best:", "ranks:", "limit:", "--balancer"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << a.out;
  }
  EXPECT_LT(std::count(a.out.begin(), a.out.end(), '\n'), 16) << a.out;
}

TEST_F(Advise, ReadsTracesAndProfilesOfRuns) {
  write("p.fa",
        "C++ sub work(int i, name r) ${{ usleep(2000); r = i; $}}\n"
        "sub main() { df x; for i = 1..60 work(i, x[i]) @ { stealable; }; }\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-t", "1", "--record", "p.trace", "--save-groups", "p.profile",
                             "--summary", "s.json"}),
                    0));
  const auto summary = nlohmann::json::parse(read("s.json"));
  double took = 0;  // 0.12 s, and more on a busy machine
  for (const auto& g : summary["groups"]) {
    if (g["label"] == "work") took = g["mean_ns"].get<double>() * g["count"].get<double>() / 1e9;
  }
  EXPECT_GE(took, 0.12);
  for (const char* input : {"p.trace", "p.profile"}) {
    const auto j = advice({input, "-c", "uniform", "-n", "1,2"});
    EXPECT_NEAR(j["by_ranks"][0]["seconds"].get<double>() / took, 1, 0.1) << input;
    EXPECT_NEAR(j["by_ranks"][1]["seconds"].get<double>() / took, 0.5, 0.1) << input;
  }
}

TEST_F(Advise, SaysWhatIsWrong) {
  const auto wrong = [&](Words words, const std::vector<std::string>& parts) {
    words.insert(words.begin(), "advise");
    return ended(tessera(words), 2, parts);
  };
  write("text", "hello\n");
  write("cut.trace", "tessera-trace 1\ngroup 0 : g\n");
  write("none.trace", "tessera-trace 1\nend 0\n");
  EXPECT_TRUE(wrong({}, {"program"}));
  EXPECT_TRUE(wrong({"absent.trace", "-c", "uniform"}, {"absent.trace"}));
  EXPECT_TRUE(wrong({"text", "-c", "uniform"}, {"text", "tessera-trace"}));
  EXPECT_TRUE(wrong({"cut.trace", "-c", "uniform"}, {"cut off"}));
  EXPECT_TRUE(wrong({"none.trace", "-c", "uniform"}, {"no fragments"}));
  EXPECT_TRUE(wrong({"loop", "-c", "unifrom"}, {"did you mean `uniform`"}));
  EXPECT_TRUE(wrong({"loop", "-c", "uniform", "-b", "stael"}, {"did you mean `steal`"}));
  EXPECT_TRUE(wrong({"loop", "-c", "uniform", "-n", "x"}, {"--ranks", "2,4,8"}));
  EXPECT_TRUE(wrong({"loop", "-c", "uniform", "-n", "1", "-b", "central"}, {"need more ranks"}));
  EXPECT_TRUE(wrong({"loop", "-c", "uniform", "--json", "no/such/file"}, {"can't write"}));
}

}  // namespace
}  // namespace tessera::tests
