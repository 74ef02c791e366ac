// `tessera simulate` as its users meet it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.hpp"

namespace tessera::tests {
namespace {

TEST_F(Command, SimulateTellsBalancersApart) {
  const Outcome o = tessera({"simulate", "-w", "matmul:blocks=5", "-c", "mustafin", "-n", "2,4", "-b", "none,central",
                             "--json", "out.json", "--plot", "out.svg"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(o.out.find("matmul:blocks=5 on mustafin"), std::string::npos) << o.out;
  const auto j = nlohmann::json::parse(read("out.json"));
  ASSERT_EQ(j["runs"].size(), 4u);
  const auto& none = j["runs"][1];
  const auto& central = j["runs"][3];
  EXPECT_EQ(central["balancer"], "central");
  EXPECT_EQ(central["ranks"], 4);
  EXPECT_EQ(central["executing"], 3);
  EXPECT_EQ(none["messages"], 0);
  EXPECT_GT(central["moved"], 10);
  EXPECT_LT(central["seconds"], none["seconds"].get<double>() / 2);
  EXPECT_EQ(central["by_rank"]["busy_seconds"].size(), 4u);
  const std::string svg = read("out.svg");
  EXPECT_EQ(svg.rfind("<svg", 0), 0u);
  EXPECT_NE(svg.find("efficiency"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST_F(Command, SimulateGivesTheSameTwice) {
  const Words words = {"simulate", "-w", "tree:depth=6", "-n", "5", "--seed", "7", "--json", "-"};
  const Outcome a = tessera(words), b = tessera(words);
  EXPECT_TRUE(ended(a, 0));
  EXPECT_EQ(a.out, b.out);
  EXPECT_FALSE(nlohmann::json::parse(a.out)["runs"].empty());
}

TEST_F(Command, SimulateLists) {
  const Outcome o = tessera({"simulate", "--list"});
  EXPECT_TRUE(ended(o, 0));
  for (const char* word : {"queens_loop", "branching", "santana40", "uniform"}) {
    EXPECT_NE(o.out.find(word), std::string::npos) << word;
  }
}

TEST_F(Command, SimulateCountsWorkers) {
  const Outcome o = tessera({"simulate", "loop:items=50", "--workers", "3", "-b", "central,steal", "--json", "-"});
  EXPECT_TRUE(ended(o, 0));
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["runs"][0]["ranks"], 4);
  EXPECT_EQ(j["runs"][1]["ranks"], 3);
}

TEST_F(Command, SimulateReadsAndWritesTraces) {
  EXPECT_TRUE(
      ended(tessera({"simulate", "-w", "stencil:width=8,iterations=3", "-n", "4", "--save-trace", "s.trace"}), 0));
  const Outcome o = tessera({"simulate", "-w", "s.trace", "-n", "4", "-b", "steal"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(o.out.find("s.trace on uniform"), std::string::npos) << o.out;
  write("broken.trace", "tessera-trace 1\ngroup 0 : g\nf 1 0 - - x 0\n");
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "broken.trace"}), 2, {"broken.trace:3", "'x'"}));
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "loop", "--save-trace", "l.trace"}), 2, {"matmul"}));
}

TEST_F(Command, SimulateRefusesMoreThanItsIntegersHold) {
  const auto refused = [&](const char* workload, const std::vector<std::string>& parts) {
    return ended(tessera({"simulate", "-w", workload, "-n", "4", "-b", "none,steal"}), 2, parts);
  };
  EXPECT_TRUE(refused("loop:items=1000,weight=100000000s", {"under none on 4 ranks", "4000000000 s"}));
  EXPECT_TRUE(refused("loop:items=1000,weight=900000000s,weights=heavy", {"4000000000 s"}));
  EXPECT_TRUE(refused("stencil:width=100,iterations=10,weight=10000000s", {"4000000000 s"}));
  EXPECT_TRUE(refused("loop:items=1000000000,weight=1us", {"'items'", "100000000"}));
}

// Here a host takes 1 ms for each thing that its balancer is told, and the program 20 us.
TEST_F(Command, SimulatedHostsWorkNoLongerThanTheRunLasts) {
  const Outcome o =
      tessera({"simulate", "-w", "queens_loop:n=8,rows=3", "-c", "santana40", "-n", "40", "-b", "all", "--json", "-"});
  EXPECT_TRUE(ended(o, 0));
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_GT(j["runs"].size(), 10u);
  for (const auto& r : j["runs"]) {
    EXPECT_LE(r["coordinator_load"], 1) << r["balancer"];
    EXPECT_GT(r["coordinator_load"], 0) << r["balancer"];
  }
}

// Under `central` rank 2 executes nothing; the others have left.
TEST_F(Command, SimulateSaysOfEachBalancerWhyItCannotRun) {
  write("two.toml", "ranks = 3\n[[leave]]\nrank = 0\nat = \"10 ms\"\n[[leave]]\nrank = 1\nat = \"20 ms\"\n");
  const Outcome o =
      tessera({"simulate", "-w", "loop:items=20", "-c", "two.toml", "-b", "central,steal", "--json", "two.json"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(o.out.find("central       3 at some time every rank that executes has left"), std::string::npos) << o.out;
  const auto runs = nlohmann::json::parse(read("two.json"))["runs"];
  EXPECT_EQ(runs[0]["error"], "at some time every rank that executes has left");
  EXPECT_GT(runs[1]["seconds"], 0.05);
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "loop:items=20", "-c", "two.toml", "-b", "central"}), 2,
                    {"cluster two.toml", "every rank that executes has left"}));
  EXPECT_TRUE(ended(tessera({"advise", "loop:items=20", "-c", "two.toml", "-b", "central"}), 2,
                    {"cluster two.toml", "every rank that executes has left"}));
}

TEST_F(Command, SimulateSaysWhatIsWrong) {
  const auto wrong = [&](Words words, const std::vector<std::string>& parts) {
    words.insert(words.begin(), "simulate");
    return ended(tessera(words), 2, parts);
  };
  EXPECT_TRUE(wrong({}, {"--workload"}));
  EXPECT_TRUE(wrong({"-w", "lop"}, {"unknown workload `lop`", "did you mean `loop`"}));
  EXPECT_TRUE(wrong({"-w", "loop:item=3"}, {"'item'", "did you mean 'items'"}));
  EXPECT_TRUE(wrong({"-w", "loop:weight=3"}, {"a time with its unit"}));
  EXPECT_TRUE(wrong({"-w", "loop", "-c", "unifrom"}, {"did you mean `uniform`"}));
  EXPECT_TRUE(wrong({"-w", "loop", "-c", "absent.toml"}, {"no such cluster file: absent.toml"}));
  EXPECT_TRUE(wrong({"-w", "loop", "-b", "centrall"}, {"did you mean `central`"}));
  EXPECT_TRUE(wrong({"-w", "loop", "--set", "planer=mean"}, {"did you mean 'planner'"}));
  EXPECT_TRUE(wrong({"-w", "loop", "--set", "planner=best"}, {"mean"}));
  EXPECT_TRUE(wrong({"-w", "loop", "-n", "0"}, {"--ranks", "2,4,8"}));
  EXPECT_TRUE(wrong({"-w", "loop", "-n", "4", "--workers", "4"}, {"use one of them"}));
  EXPECT_TRUE(wrong({"-w", "loop", "--plot", "no/such/folder.svg"}, {"can't write"}));
  write("bad.toml", "ranks = 4\n[link]\nlatency = 50\n");
  EXPECT_TRUE(wrong({"-w", "loop", "-c", "bad.toml"}, {"bad.toml:3", "50 us"}));
  write("gone.toml", "ranks = 1\n[[leave]]\nrank = 0\nat = \"1 ms\"\n");
  EXPECT_TRUE(
      wrong({"-w", "loop", "-c", "gone.toml", "-b", "none"}, {"gone.toml", "every rank that executes has left"}));
}

// Of a loop with random weights: more seeds, a narrower band around the same median.
TEST_F(Command, SimulateTakesSeveralSeedsAndSweepsParameters) {
  const Outcome o = tessera({"simulate", "-w", "loop:items=200,weights=exponential", "-n", "4", "-b", "none,steal",
                             "--seeds", "6", "--sweep", "weight=1ms..2ms", "--sweep", "cluster.link.latency=50us,5ms",
                             "--csv", "o.csv", "--json-lines", "o.jsonl"});
  EXPECT_TRUE(ended(o, 0));
  for (const char* part : {"seeds 1 to 6", "96.9 %", " .. ", "over best", "link.latency"}) {
    EXPECT_NE(o.out.find(part), std::string::npos) << part << "\n" << o.out;
  }
  std::istringstream lines(read("o.jsonl"));
  std::vector<nlohmann::json> runs;
  for (std::string line; std::getline(lines, line);) runs.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(runs.size(), 2u * 2 * 2 * 6);
  // Point by point, balancer by balancer, seed by seed: each run is the one that its words alone give.
  const nlohmann::json& run = runs[6 * 5 + 2];
  EXPECT_EQ(run["sweep"]["weight"], "2ms");
  EXPECT_EQ(run["sweep"]["cluster.link.latency"], "50us");
  EXPECT_EQ(run["balancer"], "steal");
  EXPECT_EQ(run["seed"], 3);
  const Outcome alone = tessera({"simulate", "-w", "loop:items=200,weights=exponential,weight=2ms", "-n", "4", "-b",
                                 "steal", "--seed", "3", "--sweep", "cluster.link.latency=50us", "--json", "-"});
  EXPECT_EQ(nlohmann::json::parse(alone.out)["runs"][0]["seconds"], run["seconds"]);
  EXPECT_GT(runs[6 * 3]["seconds"], runs[6]["seconds"]);  // stealing takes longer over 5 ms
  const std::string csv = read("o.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 48);
  EXPECT_EQ(csv.rfind("workload,cluster,weight,cluster.link.latency,seed,balancer,ranks,", 0), 0u) << csv;
  EXPECT_NE(csv.find("\"loop:items=200,weights=exponential\",uniform,2ms,5ms,6,steal,4,4,"), std::string::npos) << csv;
}

TEST_F(Command, SimulateDrawsSeedsAsBands) {
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "loop:items=100,weights=heavy", "-n", "2,4", "-b", "none,steal",
                             "--seeds", "6", "--plot", "o.svg"}),
                    0));
  const std::string svg = read("o.svg");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  std::size_t bands = 0;
  for (std::size_t at = svg.find("class=\"band\""); at != std::string::npos; at = svg.find("class=\"band\"", at + 1))
    ++bands;
  EXPECT_EQ(bands, 4u);  // two balancers in two charts
}

// One axis for all: the balancer that is faster ends sooner on it, and where nobody can is dashed.
TEST_F(Command, SimulateDrawsAllOnOneTimeAxis) {
  const Outcome o = tessera({"simulate", "-w", "loop:items=100,weights=heavy", "-n", "2,4", "-b", "none,steal",
                             "--plot", "o.svg", "--json", "o.json"});
  ASSERT_TRUE(ended(o, 0));
  const std::string svg = read("o.svg");
  std::vector<double> widths, bounds;
  for (std::size_t at = svg.find("fill=\"none\" stroke=\"#aaa\""); at != std::string::npos;
       at = svg.find("fill=\"none\" stroke=\"#aaa\"", at + 1)) {
    const std::size_t width = svg.rfind("width=\"", at) + 7;
    widths.push_back(std::stod(svg.substr(width)));
  }
  const std::string line = "<line class=\"bound\" x1=\"";
  for (std::size_t at = svg.find(line); at != std::string::npos; at = svg.find(line, at + 1))
    bounds.push_back(std::stod(svg.substr(at + line.size())));
  ASSERT_EQ(widths.size(), 2u);
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0], bounds[1]);
  const auto j = nlohmann::json::parse(read("o.json"));
  const double none = j["runs"][1]["seconds"], steal = j["runs"][3]["seconds"];
  EXPECT_NEAR(widths[1] / widths[0], steal / none, 0.01);
  EXPECT_NE(svg.find("class=\"bound\" points"), std::string::npos) << "and against the number of ranks";
}

TEST_F(Command, SimulateDrawsPagesAndPngs) {
  const Words words = {"simulate", "-w", "matmul:blocks=4", "-n", "3", "-b", "none,steal", "--plot"};
  const auto plot = [&](const char* file) {
    Words all = words;
    all.emplace_back(file);
    return tessera(all);
  };
  EXPECT_TRUE(ended(plot("o.html"), 0));
  const std::string page = read("o.html");
  EXPECT_NE(page.find("\"name\":\"none\""), std::string::npos);
  EXPECT_NE(page.find("\"name\":\"steal\""), std::string::npos);
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "tree", "-n", "3", "-b", "steal", "--plot", "o.html"}), 2,
                    {"--plot", "makes its fragments while it runs"}));
  const Outcome png = plot("o.png");
  if (png.exit_code == 3) {
    EXPECT_TRUE(ended(png, 3, {"--plot", "rsvg-convert", "librsvg2-bin"}));
  } else {
    EXPECT_TRUE(ended(png, 0));
    EXPECT_EQ(read("o.png").substr(1, 3), "PNG");
  }
}

TEST_F(Command, SimulateSaysWhatIsWrongWithASweep) {
  const auto refused = [&](const char* sweep, const std::vector<std::string>& parts) {
    return ended(tessera({"simulate", "-w", "loop", "-n", "4", "-b", "none,steal", "--sweep", sweep}), 2, parts);
  };
  EXPECT_TRUE(refused("weight", {"KEY=VALUE"}));
  EXPECT_TRUE(refused("weight=", {"KEY=VALUE"}));
  EXPECT_TRUE(refused("wieght=1ms", {"`wieght`", "did you mean `weight`"}));
  EXPECT_TRUE(refused("weight=1ms,2", {"--sweep weight=2", "unit"}));
  EXPECT_TRUE(refused("items=3..1", {"`3..1` is empty"}));
  EXPECT_TRUE(refused("items=1..4*1", {"never comes to its end"}));
  EXPECT_TRUE(refused("items=1..100000000", {"10000"}));
  EXPECT_TRUE(refused("weight=1us..2ms", {"different units"}));
  EXPECT_TRUE(refused("cluster.link.latencyy=1ms", {"--sweep", "'link.latencyy'", "known here: latency"}));
  EXPECT_TRUE(refused("cluster.link.latency=1", {"'link.latency' must be a time with its unit"}));
  EXPECT_TRUE(refused("cluster.name.foo=1", {"'name' is no table"}));
  EXPECT_TRUE(refused("cluster.ranks=4,8", {"given by -n"}));
  EXPECT_TRUE(refused("balancer.weight=1ms", {"no balancer"}));
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "loop", "--seeds", "0"}), 2, {"--seeds"}));
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "matmul", "-n", "4", "-b", "steal", "--seeds", "2", "--record", "o"}), 2,
                    {"--record", "one run"}));
}

}  // namespace
}  // namespace tessera::tests
