// bench_auto_set: `auto` against every fixed policy on workloads and clusters drawn by number, in simulation.
//
//   bench_auto_set                  the half that may be looked at (even numbers): a row for each case, worst last
//   bench_auto_set --judge          the other half: no rows, only what `--cases` of it come to together
//   bench_auto_set --show N         case N under every policy; its cluster as a file
//   --cases N   of each half (default 100); --seeds N   whose times are averaged (3); --jobs N   at a time (2)
//   --hindsight instead of `auto` the fixed policy that was best for as many other seeds: what a choice among them can
//   reach
//   --set KEY=VALUE   a parameter of `auto`
//   --save FILE   the best fixed policies; --against FILE   takes them from there, and runs `auto` only
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "balancer/simulator/workloads/catalogue.hpp"
#include "bench/auto_set/draw.hpp"

using namespace tessera::balancer;
using namespace tessera::balancer::simulator;
using tessera::bench::Case;

namespace {

constexpr std::int64_t kMostEvents = 30'000'000;

struct Arguments {
  bool judge = false, hindsight = false;
  std::optional<std::uint64_t> show;
  int cases = 100, seeds = 3, jobs = 2;
  std::string save, against;
  Settings of_auto;
};

[[noreturn]] void usage(const std::string& what) {
  std::fprintf(stderr, "bench_auto_set: %s; see the comment in bench/auto_set/main.cpp\n", what.c_str());
  std::exit(2);
}

Arguments read_arguments(int count, char** words) {
  Arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--judge") {
      a.judge = true;
      continue;
    }
    if (word == "--hindsight") {
      a.hindsight = true;
      continue;
    }
    if (i + 1 == count) usage("what is `" + word + "`, or what is missing after it?");
    const std::string value = words[++i];
    const auto number = [&] {
      char* end = nullptr;
      const long n = std::strtol(value.c_str(), &end, 10);
      if (value.empty() || *end != 0 || n < 0) usage(word + " takes a number, not `" + value + "`");
      return n;
    };
    if (word == "--show") {
      a.show = static_cast<std::uint64_t>(number());
    } else if (word == "--cases") {
      a.cases = static_cast<int>(number());
    } else if (word == "--seeds") {
      a.seeds = std::max(1, static_cast<int>(number()));
    } else if (word == "--jobs") {
      a.jobs = std::max(1, static_cast<int>(number()));
    } else if (word == "--set") {
      const std::size_t equals = value.find('=');
      a.of_auto[value.substr(0, equals)] = equals == std::string::npos ? "" : value.substr(equals + 1);
      const auto wrong = check_settings(*find_policy("auto"), a.of_auto);
      if (!wrong.empty()) usage(wrong.front());
    } else if (word == "--save") {
      a.save = value;
    } else if (word == "--against") {
      a.against = value;
    } else {
      usage("what is `" + word + "`?");
    }
  }
  return a;
}

// The mean time in ms over so many seeds from the first one; nothing: the policy can't run there.
std::optional<double> time_of(const Case& c, const std::string& policy, const Settings& settings, int seeds,
                              Outcome* last = nullptr, int first = 1) {
  std::vector<std::string> wrong;
  const WorkloadRequest request = parse_workload(c.workload, wrong);
  const WorkloadInfo* workload = find_workload(request.name);
  double sum = 0;
  for (int seed = first; seed < first + seeds; ++seed) {
    Options o;
    o.balancer = policy;
    o.settings = settings;
    o.seed = static_cast<std::uint64_t>(seed);
    o.event_limit = kMostEvents;
    const std::int32_t executing = executing_ranks(*find_policy(policy), settings, c.ranks);
    if (executing < 1) return std::nullopt;
    apply_cluster(c.cluster, executing, c.ranks - executing, o);
    if (!check_options(o).empty()) return std::nullopt;
    Generated made = generate(*workload, request.settings, {executing, o.seed});
    Outcome outcome = made.graph ? simulate(*made.graph, o) : simulate(*made.program, o);
    if (!outcome.ended) return std::nullopt;
    sum += static_cast<double>(outcome.finished) / 1e6;
    if (last != nullptr) *last = std::move(outcome);
  }
  return sum / seeds;
}

struct Result {
  Case drawn;
  std::string best;
  double best_time = 0, auto_time = 0;
  double ratio() const { return best_time > 0 ? auto_time / best_time : 1; }
};
using Known = std::map<std::uint64_t, std::pair<std::string, double>>;

std::string best_of_others(const Case& c, int seeds) {
  std::string best;
  double least = INFINITY;
  for (const PolicyInfo& p : policies()) {
    if (p.name == "auto") continue;
    const auto t = time_of(c, std::string(p.name), {}, seeds, nullptr, 1 + seeds);
    if (!t || *t >= least) continue;
    best = p.name;
    least = *t;
  }
  return best;
}

Result result_of(const Case& c, const Arguments& a, const Known& known) {
  Result r{c, "", 0, 0};
  if (const auto k = known.find(c.number); k != known.end()) {
    r.best = k->second.first;
    r.best_time = k->second.second;
  } else {
    for (const PolicyInfo& p : policies()) {
      if (p.name == "auto") continue;
      const auto t = time_of(c, std::string(p.name), {}, a.seeds);
      if (!t || (!r.best.empty() && *t >= r.best_time)) continue;
      r.best = p.name;
      r.best_time = *t;
    }
  }
  r.auto_time =
      (a.hindsight ? time_of(c, best_of_others(c, a.seeds), {}, a.seeds) : time_of(c, "auto", a.of_auto, a.seeds))
          .value_or(INFINITY);
  return r;
}

std::vector<Result> run(const Arguments& a, const Known& known) {
  std::vector<Result> results(static_cast<std::size_t>(a.cases));
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int j = 0; j < a.jobs; ++j) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < results.size(); i = next++) {
        results[i] = result_of(tessera::bench::draw_case(2 * i + (a.judge ? 1 : 0)), a, known);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return results;
}

void print_rows(const std::vector<Result>& results) {
  std::printf(
      "| case | workload | ranks | link | best fixed | its time, ms | `auto` takes |\n|---|---|---|---|---|---|---|\n");
  for (const Result& r : results) {
    const ClusterModel& m = r.drawn.cluster;
    const std::string tiers = (m.ranks_per_host > 1 ? ", hosts of " + std::to_string(m.ranks_per_host) : "") +
                              (m.hosts_per_site.empty() ? "" : ", sites") + (m.nodes.size() > 1 ? ", uneven" : "") +
                              (m.changes.empty() ? "" : ", loaded");
    std::printf("| %llu | `%s` | %d | %.0f us, %.0f MB/s%s | `%s` | %.1f | %.3f |\n",
                static_cast<unsigned long long>(r.drawn.number), r.drawn.workload.c_str(), r.drawn.ranks,
                static_cast<double>(m.link.latency) / 1e3, m.link.bandwidth / 1e6, tiers.c_str(), r.best.c_str(),
                r.best_time, r.ratio());
  }
}

void print_summary(const Arguments& a, const std::vector<Result>& sorted) {
  const auto within = [&](double most) {
    return std::count_if(sorted.begin(), sorted.end(), [&](const Result& r) { return r.ratio() <= most; });
  };
  double log_sum = 0;
  for (const Result& r : sorted) log_sum += std::log(r.ratio());
  const auto n = static_cast<double>(std::max<std::size_t>(1, sorted.size()));
  std::printf(
      "\n%s half, %zu cases, %d seeds%s: within 2 %% of the best fixed policy %ld, 5 %% %ld (%.1f %%), 10 %% %ld, "
      "15 %% %ld; over: %ld; mean %.3f, worst %.3f\n",
      a.judge ? "Judging" : "Tuning", sorted.size(), a.seeds, a.hindsight ? ", the best policy of other seeds" : "",
      static_cast<long>(within(1.02)), static_cast<long>(within(1.05)), 100 * static_cast<double>(within(1.05)) / n,
      static_cast<long>(within(1.10)), static_cast<long>(within(1.15)),
      static_cast<long>(sorted.size()) - static_cast<long>(within(1.15)), std::exp(log_sum / n),
      sorted.empty() ? 1 : sorted.back().ratio());
}

void show(std::uint64_t number, const Arguments& a) {
  const Case c = tessera::bench::draw_case(number);
  std::printf("# %s, %d ranks\n%s\n", c.workload.c_str(), c.ranks, tessera::bench::cluster_text(c).c_str());
  for (const PolicyInfo& p : policies()) {
    Outcome o;
    const auto t = time_of(c, std::string(p.name), p.name == "auto" ? a.of_auto : Settings{}, a.seeds, &o);
    if (!t) continue;
    std::printf("# %-13s %10.2f ms  bound %.2f  moved %lld  bytes %.1f MB moved, %.1f MB fetched  messages %lld\n",
                std::string(p.name).c_str(), *t, static_cast<double>(o.bound) / 1e6, static_cast<long long>(o.moved),
                static_cast<double>(o.bytes_moved) / 1e6, static_cast<double>(o.bytes_fetched) / 1e6,
                static_cast<long long>(o.messages));
    for (const auto& [why, count] : o.decisions)
      std::printf("#   %lld x %s\n", static_cast<long long>(count), why.c_str());
  }
}

Known read_known(const std::string& path) {
  Known known;
  std::ifstream in(path);
  if (!in) usage("no file " + path);
  std::uint64_t number = 0;
  std::string best;
  for (double time = 0; in >> number >> best >> time;) known[number] = {best, time};
  return known;
}

}  // namespace

int main(int count, char** words) {
  const Arguments a = read_arguments(count, words);
  if (a.show) {
    show(*a.show, a);
    return 0;
  }
  std::vector<Result> results = run(a, a.against.empty() ? Known{} : read_known(a.against));
  if (!a.save.empty()) {
    std::ofstream out(a.save);
    for (const Result& r : results) out << r.drawn.number << ' ' << r.best << ' ' << r.best_time << '\n';
    if (!out.flush()) usage("can't write " + a.save);
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const Result& x, const Result& y) { return x.ratio() < y.ratio(); });
  if (!a.judge) print_rows(results);
  print_summary(a, results);
  return 0;
}
