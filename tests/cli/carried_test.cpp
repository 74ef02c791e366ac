// What a balancer gets of loops whose iterations wait for each other, and of calls that wait for a condition.
#include <algorithm>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

// It waits for `f`, and is as heavy as one that has no `if` around it.
TEST_F(Command, ACallUnderAnIfMovesToo) {
  write("p.fa",
        "C++ sub set(int v, name x) ${{ x = v; $}}\n"
        "C++ sub heavy(int v, name y) ${{ usleep(300); y = v; $}}\n"
        "C++ sub add(int a, int b, name c) ${{ c = a + b; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int n) {\n"
        "  df f, y, s, w;\n"
        "  set(0, s[0]);\n"
        "  while i < n, i = 0 .. out w {\n"  // no iterations that could move instead
        "    set(i + 1, f[i]);\n"
        "    if f[i] > 0 heavy(i + 1, y[i]);\n"
        "    add(s[i], y[i], s[i + 1]);\n"
        "  }\n"
        "  show(s[w]);\n"
        "}\n");
  const Outcome o = tessera({"run", "p.fa", "-t", "1", "--balancer", "steal", "--transport", "inproc", "--inproc-ranks",
                             "2", "--summary", "s.json", "--", "1500"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "1125750\n");
  const auto ranks = nlohmann::json::parse(read("s.json")).at("ranks");
  EXPECT_GE(ranks[1].at("busy_seconds").get<double>(), ranks[0].at("busy_seconds").get<double>() / 2);
}

// Of 400 MB what waits for a chain: another rank that got the far half of the iterations made, and kept, what the chain
// reads at the end, 200 MB.
TEST_F(Command, WhatAChainReadsIsNotMadeFarAhead) {
  write("p.fa",
        "C++ sub first(name x) ${{ x = 0; $}}\n"
        "C++ sub make(int i, name v) ${{ usleep(100); v.create<char>(100000)[0] = static_cast<char>(i % 100); $}}\n"
        "C++ sub step(int x, value v, name y) ${{ y = x + v.getData<char>()[0]; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int n) {\n"
        "  df v, x;\n"
        "  first(x[0]);\n"
        "  for i = 1..n { make(i, v[i]); step(x[i - 1], v[i], x[i]); }\n"
        "  show(x[n]);\n"
        "}\n");
  for (const char* balancer : {"auto", "steal"}) {
    const Outcome o =
        tessera({"run", "p.fa", "-n", "2", "-t", "1", "--balancer", balancer, "--summary", "s.json", "--", "4000"});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, "198000\n");
    const auto ranks = nlohmann::json::parse(read("s.json")).at("ranks");
    for (const auto& r : ranks) EXPECT_LE(r.at("peak_memory_kb").get<std::int64_t>(), 200 << 10) << balancer;
  }
}

}  // namespace
}  // namespace tessera::tests
