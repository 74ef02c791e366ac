#include "drawn_streams.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

namespace tessera::tests {

const char* const kKernels = R"fa(
C++ sub source(int t, int n, name x) ${{ int *p = x.create<int>(n); for (int i = 0; i < n; ++i) p[i] = (t + i) % 101; $}}
C++ sub stage(value x, int s, name y, name n) ${{
  const int *from = x.getData<int>(), size = static_cast<int>(x.getSize() / 4);
  int *to = y.create<int>(size);
  for (int i = 0; i < size; ++i) to[i] = from[i] + s % 3;
  n = s + to[0];
$}}
C++ sub plain(value x, name y) ${{
  const int *from = x.getData<int>(), size = static_cast<int>(x.getSize() / 4);
  int *to = y.create<int>(size);
  for (int i = 0; i < size; ++i) to[i] = from[i] + 1;
$}}
C++ sub sink(value y, int before, name after) ${{ after = (before * 3 + y.getData<int>()[y.getSize() / 4 - 1]) % 10007; $}}
C++ sub zero(name s) ${{ s = 0; $}}
C++ sub show(int v) ${{ printf("%d\n", v); $}}
)fa";

const char* const kSlowKernels = R"fa(
C++ sub slow_source(int t, int n, int us, name x) ${{
  if (us > 0) usleep(us);
  int *p = x.create<int>(n);
  for (int i = 0; i < n; ++i) p[i] = (t + i) % 101;
$}}
C++ sub slow(value x, int us, name y) ${{
  if (us > 0) usleep(us);
  const int *from = x.getData<int>(), size = static_cast<int>(x.getSize() / 4);
  int *to = y.create<int>(size);
  for (int i = 0; i < size; ++i) to[i] = from[i] + 1;
$}}
C++ sub join(value x, value z, int us, name y) ${{
  if (us > 0) usleep(us);
  const int *from = x.getData<int>(), *other = z.getData<int>(), size = static_cast<int>(x.getSize() / 4);
  int *to = y.create<int>(size);
  for (int i = 0; i < size; ++i) to[i] = from[i] + other[i] % 7;
$}}
C++ sub peek(value x, int s, int us) ${{ if (us > 0) usleep(us); if (x.getSize() < 4) printf("%d\n", s); $}}
C++ sub add(int before, int y, name after) ${{ after = (before * 3 + y) % 10007; $}}
C++ sub digest(value x, name y) ${{ y = x.getData<int>()[x.getSize() / 4 - 1] % 101; $}}
C++ sub put(value x, int b, int us, name y) ${{
  if (us > 0) usleep(us);
  const int *from = x.getData<int>(), size = static_cast<int>(x.getSize() / 4);
  int *to = y.create<int>(size);
  for (int i = 0; i < size; ++i) to[i] = (from[i] + b) % 101;
$}}
C++ sub merge(int before, value y, int us, name after) ${{
  if (us > 0) usleep(us);
  after = (before * 3 + y.getData<int>()[y.getSize() / 4 - 1]) % 10007;
$}}
C++ sub merge2(int before, value y, value z, int us, name after) ${{
  if (us > 0) usleep(us);
  after = (before * 3 + y.getData<int>()[5] + z.getData<int>()[7]) % 10007;
$}}
)fa";

namespace {

constexpr int kAll = 768;  // MB that flow into it

}  // namespace

Stream drawn(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  const std::uint32_t stages = 1 + below(4), ranks = 2 + below(2), size = 16'000u << below(5);
  const std::uint32_t items = (static_cast<std::uint32_t>(kAll) << 20) / (4 * size);
  const auto at = [&](std::uint32_t s) {
    const char* const places[] = {"", "s", "s + 1", "2 * s + 1"};
    const std::string place = places[s == 0 ? 1 + below(3) : below(4)];
    return place.empty() ? place : " @ { locator_cyclic: " + place + "; }";
  };
  std::string frame;
  Stream out;
  for (std::uint32_t s = 0; s < stages; ++s) {
    const std::string k = std::to_string(s), next = std::to_string(s + 1);
    const bool state = below(2) == 0;
    const std::string call = state ? "stage(x[" + k + "], st[" + k + "][t], x[" + next + "], st[" + k + "][t + 1])"
                                   : "plain(x[" + k + "], x[" + next + "])";
    if (state) out.body += "zero(st[" + k + "][0]); ";
    frame += "let s = " + k + " { " + call + at(s) + "; } ";
  }
  const std::string sink = "sink(x[" + std::to_string(stages) + "], acc[t], acc[t + 1])" +
                           (below(2) == 0 ? " @ { locator_cyclic: 0; }" : "") + ";";
  out.body += "zero(acc[0]); for t = 0.." + std::to_string(items - 1) + " { df x; source(t, " + std::to_string(size) +
              ", x[0])" + (below(2) == 0 ? " @ { locator_cyclic: 0; }" : "") + "; " + frame + sink + " } show(acc[" +
              std::to_string(items) + "]);";
  out.options = {"-n", std::to_string(ranks), "-t", "1", "--balancer", below(2) == 0 ? "none" : "auto"};
  return out;
}

// The same as a user writes it: each stage in a loop of its own, some read two names, or one again, and a chain reads
// the last one in order, by a `for` or a `while`, one element or two. Of some their loops stand in another order.
Stream drawn_in_loops(unsigned seed) {
  std::mt19937 random(seed + 1000);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  const auto one_of = [&](const Words& list) { return list[below(static_cast<std::uint32_t>(list.size()))]; };
  const std::uint32_t size = 32'000u << below(4), items = (static_cast<std::uint32_t>(kAll) << 20) / (4 * size);
  const auto us = [&] { return std::to_string(below(2) * (100 + 300 * below(2)) * size / 64'000); };
  const bool placed = below(2) == 0;
  const auto at = [&] {
    return placed ? one_of({"", "", " @ { locator_cyclic: i; }", " @ { locator_cyclic: i / 16; }",
                            " @ { locator_cyclic: 1; }"})
                  : std::string();
  };
  const std::string n = std::to_string(items), all = "for i = 1.." + n + " { ";
  Words names, loops;
  for (std::uint32_t k = 0, sources = 1 + below(2); k < sources; ++k) {
    names.push_back("a" + std::to_string(k));
    loops.push_back(all + "slow_source(i, " + std::to_string(size) + ", " + us() + ", " + names.back() + "[i])" + at() +
                    "; }");
  }
  for (std::uint32_t k = 0, stages = below(4); k < stages; ++k) {
    const std::string x = below(4) == 0 ? one_of(names) : names.back(), z = one_of(names), y = "b" + std::to_string(k);
    loops.push_back(all + (x != z && below(2) == 0 ? "join(" + x + "[i], " + z + "[i], " : "slow(" + x + "[i], ") +
                    us() + ", " + y + "[i])" + at() + "; }");
    names.push_back(y);
  }
  for (std::uint32_t k = 0, chains = 1 + below(4) / 3; k < chains; ++k) {
    const std::string x = k == 0 ? names.back() : one_of(names), s = "s" + std::to_string(k), time = us();
    loops.push_back("zero(" + s + "[0]);");
    const std::string merge = "merge(" + s + "[i - 1], " + x + "[i], " + time + ", " + s + "[i])";
    switch (below(4)) {
      case 0:
        loops.push_back("while i <= " + n + ", i = 1 .. out e" + std::to_string(k) + " { " + merge + "; }");
        break;
      case 1:
        loops.push_back("for i = 1.." + n + " - 1 { merge2(" + s + "[i - 1], " + x + "[i], " + x + "[i + 1], " + time +
                        ", " + s + "[i]); } merge(" + s + "[" + n + " - 1], " + x + "[" + n + "], 0, " + s + "[" + n +
                        "]);");
        break;
      default:
        loops.push_back(all + merge + "; }");
    }
    loops.push_back("show(" + s + "[" + n + "]);");
  }
  // Loops around others that read, and nothing else.
  for (std::uint32_t k = 0, readers = seed % 2; k < readers; ++k) {
    loops.push_back(all + "for s = 0.." + std::to_string(seed % 3) + " { peek(" + names.front() + "[i], s, " + us() +
                    "); } }");
  }
  if (below(3) == 0) std::shuffle(loops.begin(), loops.end(), random);
  Stream out;
  out.body = "df e0, e1, s0, s1";
  for (const std::string& name : names) out.body += ", " + name;
  out.body += "; ";
  for (const std::string& loop : loops) out.body += loop + " ";
  return out;
}

// Steps of some parts, which have places: some of what a step makes reads nothing, or only what another step has left,
// so it is ready long before the rest; and all of it is read when the parts have told each other something.
Stream drawn_in_steps(unsigned seed) {
  std::mt19937 random(seed + 2000);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  const std::uint32_t parts = 2 + below(4), size = 32'000u << below(4);
  const std::uint32_t steps = (static_cast<std::uint32_t>(kAll) << 20) / (4 * size * parts);
  const std::string last = std::to_string(parts - 1), n = std::to_string(size), t = std::to_string(steps);
  const char* const places[] = {"", " @ { locator_cyclic: s; }", " @ { locator_cyclic: s / 2; }"};
  const std::string at = places[below(3)], us = std::to_string(below(2) * 200);
  const std::string each = "for s = 0.." + last + " { ", shown = at + "; ";
  Words calls{"digest(u[t][s], b[s])" + shown};
  calls.push_back(below(3) == 0 ? "slow(u[t][s], 0, a[s][0])" + shown
                                : "slow_source(t, " + n + ", " + us + ", a[s][0])" + shown);
  std::string made = "a[s][0]";
  if (below(2) == 0) {
    calls.push_back("for k = 0.." + last + " put(a[s][k], b[k], " + us + ", a[s][k + 1])" + shown);
    made = "a[s][" + last + " + 1]";
  } else {
    calls.push_back("put(a[s][0], b[" + last + " - s], " + us + ", a[s][1])" + shown);
    made = "a[s][1]";
  }
  if (below(2) == 0) {
    calls.push_back("join(" + made + ", u[t][(s + 1) % " + std::to_string(parts) + "], 0, u[t + 1][s])" + shown);
  } else {
    calls.push_back("slow(" + made + ", " + us + ", u[t + 1][s])" + shown);
  }
  if (below(3) == 0) std::shuffle(calls.begin(), calls.end(), random);
  Stream out;
  out.body = "df u; " + each + "slow_source(s, " + n + ", 0, u[0][s])" + shown + "} for t = 0.." + t +
             " - 1 { df a, b; " + each;
  for (const std::string& call : calls) {
    out.body += call;
    if (below(4) == 0) out.body += "} " + each;
  }
  out.body += "} } " + each + "df e; digest(u[" + t + "][s], e); show(e); }";
  return out;
}

// Stages in loops around loops over one row of values, each divided in another way, in any order; and a chain reads the
// last ones in order, or small values that are made of them.
Stream drawn_in_rows(unsigned seed) {
  std::mt19937 random(seed + 3000);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  const std::uint32_t size = 16'000u << below(3), items = (static_cast<std::uint32_t>(kAll) << 20) / (4 * size);
  const std::uint32_t total = items / 120 * 120;
  const std::string n = std::to_string(total);
  std::string at;  // which value the loops are at
  const auto loops = [&]() -> std::string {
    const std::uint32_t block = std::array{1u, 2u, 3u, 4u, 5u, 6u, 8u, 10u}[below(8)], how = below(6);
    if (how == 0) return at = "t", "for t = 0.." + n + " - 1 ";
    at = "(t * " + std::to_string(block) + " + s)";
    const std::string outer = "for t = 0.." + std::to_string(total / block - 1) + " ";
    if (how > 1 || block % 2 != 0) return outer + "for s = 0.." + std::to_string(block - 1) + " ";
    return outer + "for v = 0.." + std::to_string(block / 2 - 1) + " for s = v * 2..v * 2 + 1 ";
  };
  Words all;
  const auto add = [&](const std::string& over, const std::string& call) { all.push_back(over + call + ";"); };
  std::string over = loops();
  add(over, "slow_source(" + at + ", " + std::to_string(size) + ", 0, x0[" + at + "])");
  const std::uint32_t stages = below(3);
  for (std::uint32_t k = 0; k < stages; ++k) {
    over = loops();
    const std::string x = "x" + std::to_string(k), y = ", 0, x" + std::to_string(k + 1) + "[" + at + "])";
    switch (below(4)) {
      case 0:
        add(over, "join(" + x + "[" + at + "], " + x + "[" + at + "]" + y);
        break;
      case 1:
        add(over, "join(" + x + "[" + at + "], x0[" + at + "]" + y);
        break;
      default:
        add(over, "slow(" + x + "[" + at + "]" + y);
    }
  }
  const std::string x = "x" + std::to_string(stages);
  over = loops();
  const std::string from = x + "[" + at + "]", after = "c[" + at + " + 1])";
  switch (below(4)) {
    case 0:
      add(over, "merge2(c[" + at + "], " + from + ", " + from + ", 0, " + after);
      break;
    case 1:
      add(over, "merge(c[" + at + "], " + from + ", 0, " + after);
      break;
    default:
      add(over, "digest(" + from + ", e[" + at + "])");
      over = loops();
      add(over, "add(c[" + at + "], e[" + at + "], c[" + at + " + 1])");
  }
  if (below(4) == 0) {
    over = loops();
    add(over, "peek(x0[" + at + "], 0, 0)");
  }
  if (below(2) == 0) std::shuffle(all.begin(), all.end(), random);
  Stream out;
  out.body = "df x0, x1, x2, c, e; zero(c[0]); ";
  for (const std::string& loop : all) out.body += loop + " ";
  out.body += "show(c[" + n + "]);";
  return out;
}

}  // namespace tessera::tests
