// What a run tells of its time and memory is what it was. Kernels sleep, and note themselves for how long.
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.hpp"

namespace tessera::tests {
namespace {

class Numbers : public Command {
 protected:
  // One of 16 fragments sleeps; with a sum, whose fragments run between. Prints how many ns each slept.
  void write_program(int fragments, int us) {
    write(
        "p.fa",
        "C++ sub work(int i, name x) ${{\n"
        "  if (i % 16 == 5) {\n"
        "    const auto from = std::chrono::steady_clock::now();\n"
        "    std::this_thread::sleep_for(std::chrono::microseconds(" +
            std::to_string(us) +
            "));\n"
            "    printf(\"%ld\\n\", (long)std::chrono::nanoseconds(std::chrono::steady_clock::now() - from).count());\n"
            "  }\n"
            "  x = i;\n"
            "$}}\n"
            "C++ sub set(int v, name x) ${{ x = v; $}}\n"
            "C++ sub last(int v) ${{ (void)v; $}}\n"
            "sub main() {\n"
            "  df x, s;\n"
            "  for i = 1.." +
            std::to_string(fragments) +
            " work(i, x[i]);\n"
            "  set(0, s[0]);\n"
            "  for i = 1.." +
            std::to_string(fragments) +
            " set(s[i - 1] + x[i], s[i]);\n"
            "  last(s[" +
            std::to_string(fragments) +
            "]);\n"
            "}\n");
  }
  static double seconds_slept(const std::string& out) {
    std::istringstream lines(out);
    double sum = 0;
    for (double ns; lines >> ns;) sum += ns * 1e-9;
    return sum;
  }
  static double total(const nlohmann::json& summary, const std::string& label) {
    double sum = 0;
    for (const auto& g : summary["groups"]) {
      if (g["atomic"] && (label.empty() || g["label"] == label))
        sum += g["count"].get<double>() * g["mean_ns"].get<double>() * 1e-9;
    }
    return sum;
  }
};

TEST_F(Numbers, ShortAndLongFragmentsOfOneGroup) {
  write_program(2000, 2000);
  const Outcome o = tessera({"run", "-q", "p.fa", "-t", "1", "--summary", "s.json", "--save-groups", "g.profile"});
  ASSERT_TRUE(ended(o, 0));
  const double slept = seconds_slept(o.out);
  const auto s = nlohmann::json::parse(read("s.json"));
  const double busy = s["ranks"][0]["busy_seconds"], seconds = s["seconds"];
  EXPECT_GE(slept, 0.25);
  EXPECT_GE(total(s, "work"), 0.98 * slept);
  EXPECT_LE(busy, seconds);
  EXPECT_NEAR(total(s, "") / busy, 1, 0.02);
  // Of one in 16: the variance is 15 times the square of the mean.
  for (const auto& g : s["groups"]) {
    if (g["label"] != "work") continue;
    const double mean = g["mean_ns"];
    EXPECT_GT(g["variance_ns2"].get<double>(), 12 * mean * mean);
    const std::string profile = read("g.profile");
    EXPECT_NE(profile.find("mean_ns = " + std::to_string(static_cast<long>(mean))), std::string::npos) << profile;
  }
}

TEST_F(Numbers, NoRankIsBusierThanTheTimeThereWas) {
  write_program(2000, 1000);
  const Outcome o = tessera({"run", "-q", "p.fa", "-t", "1", "--inproc-ranks", "3", "--summary", "s.json"});
  ASSERT_TRUE(ended(o, 0));
  const auto s = nlohmann::json::parse(read("s.json"));
  double busy = 0;
  for (const auto& r : s["ranks"]) {
    EXPECT_LE(r["busy_seconds"].get<double>(), s["seconds"].get<double>() * 1.001);
    busy += r["busy_seconds"].get<double>();
  }
  EXPECT_GE(busy, 0.95 * seconds_slept(o.out)) << "less what a kernel had no core for when it woke";
  EXPECT_NEAR(total(s, "") / busy, 1, 0.02);
}

TEST_F(Numbers, ATraceHasAllOfTheTime) {
  write_program(500, 2000);
  const Outcome o = tessera({"run", "-q", "p.fa", "-t", "1", "--record", "p.trace"});
  ASSERT_TRUE(ended(o, 0));
  ASSERT_TRUE(ended(tessera({"simulate", "-w", "p.trace", "-n", "1", "-b", "none", "--json", "t.json"}), 0));
  const auto t = nlohmann::json::parse(read("t.json"));
  EXPECT_GE(t["runs"][0]["seconds"].get<double>(), 0.98 * seconds_slept(o.out));
}

TEST_F(Numbers, TheNamesThatHoldMostAreTold) {
  write("p.fa",
        "C++ sub make(int i, int kb, name x) ${{ (void)i; x.create<char>(kb * 1000); $}}\n"
        "C++ sub use(int i, value x, value y) ${{ (void)i; (void)x; (void)y; $}}\n"
        "sub main() {\n"
        "  df large, small;\n"
        "  for i = 1..20 { make(i, 1000, large[i]); make(i, 100, small[i]); }\n"
        "  for i = 1..20 use(i, large[i], small[21 - i]);\n"
        "}\n");
  const Outcome o = tessera({"run", "p.fa", "-t", "1", "--summary", "s.json"});
  ASSERT_TRUE(ended(o, 0, {"  memory up to ", "; most in large "}));
  EXPECT_EQ(o.err.find("(rank"), std::string::npos) << "there is but one";
  const auto held = nlohmann::json::parse(read("s.json"))["held"];
  EXPECT_EQ(held[0]["name"], "large");
  EXPECT_GE(held[0]["bytes"], 1'000'000);
  EXPECT_LE(held[0]["bytes"], 21'000'000);
}

// A sub's parameter says little to who has not written the sub.
TEST_F(Numbers, WhatHoldsMostIsCalledAsItIsDeclared) {
  write("p.fa",
        "C++ sub make(name x) ${{ x.create<char>(1'000'000); $}}\n"
        "C++ sub use(value x) ${{ (void)x; $}}\n"
        "sub two(int i, name o) { make(o[0]); if i % 2 == 0 make(o[1]); }\n"
        "sub main(int n) { df mine; for i = 1..n two(i, mine[i]); for i = 1..n use(mine[i][0]); }\n");
  ASSERT_TRUE(
      ended(tessera({"run", "p.fa", "-t", "1", "--without", "inline-subs", "--", "20"}), 0, {"; most in mine "}));
}

}  // namespace
}  // namespace tessera::tests
