#include "configurations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "balancer/random.hpp"
#include "balancer/restless/restless.hpp"

namespace tessera::differential {
namespace {

// What is ready waits meanwhile, and may be moved; without it kernels are so short that hardly anything ever is.
void rest(Configuration& c) {
  c.longest_rest_us = 150;
  c.name += " (kernels rest)";
}

Configuration make(int ranks, int threads, std::uint64_t seed, const balancer::PolicyInfo& policy) {
  Configuration c;
  c.name = "--transport inproc --inproc-ranks " + std::to_string(ranks) + " -t " + std::to_string(threads) +
           " --seed " + std::to_string(seed) + " --balancer " + std::string(policy.name);
  c.options.transport = "inproc";
  c.options.ranks = ranks;
  c.options.threads = threads;
  c.options.seed = seed;
  c.options.max_delay_us = 100;
  c.options.policy = &policy;
  c.options.quiet = true;
  if (&policy == &balancer::restless_info()) {
    rest(c);
    // Long enough for fragments to go to and fro meanwhile, and for what is told later (once in a millisecond) to catch
    // up with them.
    c.longest_rest_us = 600;
    c.most_rests = 120;
  }
  return c;
}

bool has(const balancer::PolicyInfo& policy, std::string_view parameter) {
  for (const balancer::Parameter& p : policy.parameters) {
    if (p.name == parameter) return true;
  }
  return false;
}

// Plans for all steps to come, in half of the runs of policies that make them.
void settle(Configuration& c, const balancer::PolicyInfo& policy, std::uint64_t seed) {
  if (!has(policy, "settle")) return;
  const char* const settles = balancer::Random(seed).below(2) == 0 ? "true" : "false";
  c.options.settings.emplace("settle", settles);
  c.name += std::string(" --set settle=") + settles;
}

// All values are large, or no copy is kept longer than it is read, or ranks pass on whatever they get, or moving costs
// nothing, or kernels rest so that it pays; or several of these.
void strain(Configuration& c, const balancer::PolicyInfo& policy, std::uint64_t seed) {
  const std::uint64_t what = balancer::Random(seed).below(32);
  if ((what & 1) != 0) {
    c.options.eager_bytes = 0;
    c.name += " --eager-bytes 0";
  }
  if ((what & 2) != 0) {
    c.options.cache_limit_mb = 0;
    c.name += " --cache-limit-mb 0";
  }
  if ((what & 4) != 0) {
    c.options.relay_bytes = 0;
    c.name += " --relay-bytes 0";
  }
  if ((what & 8) != 0 && has(policy, "transfer_margin")) {
    c.options.settings.emplace("transfer_margin", "0");
    c.name += " --set transfer_margin=0";
  }
  if ((what & 16) != 0 && c.longest_rest_us == 0) rest(c);
  settle(c, policy, seed + 1);
}

// So few fragments may wait that their makers are held, in two of three runs.
std::int64_t few_ahead(std::uint64_t which) {
  constexpr std::int64_t kFew[] = {4, 48};
  return which % 3 == 2 ? Configuration().most_ahead : kFew[which % 3];
}

// Its workers note what they do, and it is swept up often.
void keep_journal(Configuration& c) {
  c.options.journal = kSomewhere;
  c.options.journal_interval = 2e-4;
  c.name += " --journal FOLDER (swept each 0.2 ms)";
}

// Ranks that leave at random times of the first milliseconds.
void change_members(Configuration& c, std::uint64_t seed) {
  balancer::Random random(seed);
  c.options.spares = static_cast<std::int32_t>(random.below(2));
  c.options.ranks += c.options.spares;
  if (c.options.spares > 0) c.name += " --spare 1";
  for (int i = 0; i < 4; ++i) {
    runtime::MemberPlan p;
    p.rank = balancer::Rank{static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(c.options.ranks)))};
    p.joins = i > 1 && random.below(2) == 1;
    p.at = std::chrono::microseconds(random.below(i < 2 ? 1500 : 4000));
    c.options.member_plan.push_back(p);
    c.name += (p.joins ? " --join " : " --leave ") + std::to_string(index(p.rank)) + "@" +
              std::to_string(static_cast<double>(p.at.count()) * 1e-9);
  }
}

}  // namespace

std::vector<Configuration> configurations(std::uint64_t seed) {
  std::vector<Configuration> all;
  for (const int threads : {1, 2, 4}) all.push_back(make(1, threads, 0, *balancer::find_policy("none")));
  std::vector<const balancer::PolicyInfo*> policies = {&balancer::restless_info()};
  for (const balancer::PolicyInfo& p : balancer::policies()) policies.push_back(&p);
  for (const int ranks : {2, 4, 7}) {
    for (const balancer::PolicyInfo* policy : policies) {
      const balancer::PolicyInfo& p = *policy;
      for (const int threads : {1, 2}) {
        const std::uint64_t order = seed * 100 + all.size();
        all.push_back(make(ranks, threads, order, p));
        if (threads == 1) strain(all.back(), p, order + 30);
        if (threads == 2) {  // the sweep has to wait for more than one worker
          Configuration changing = make(ranks, threads, order + 70, p);
          change_members(changing, order + 70);
          strain(changing, p, order + 80);
          all.push_back(changing);
        }
        if (threads == 1 && has(p, "faithful")) {
          Configuration faithful = make(ranks, threads, order + 50, p);
          faithful.name += " --set faithful=true";
          faithful.options.settings.emplace("faithful", "true");
          all.push_back(faithful);
          if (!has(p, "goes_home")) continue;
          faithful.name += " --set goes_home=true";
          faithful.options.settings.emplace("goes_home", "true");
          all.push_back(faithful);
        }
      }
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k].most_ahead = few_ahead(seed + k);
    if ((seed + k) % 4 == 1) keep_journal(all[k]);
  }
  for (const int threads : {1, 2, 4}) {  // as the first ones, with kernels that rest
    all.push_back(make(1, threads, 0, *balancer::find_policy("none")));
    rest(all.back());
    all.back().least_to_sweep = threads == 4 ? 6 : 0;
  }
  return all;
}

namespace {

// Anything from nothing to `most`, small more often than not.
whole::Span some(balancer::Random& random, whole::Span most) {
  const std::uint64_t n = static_cast<std::uint64_t>(most.count()) >> random.below(10);
  return whole::Span(n == 0 ? 0 : random.below(n));
}

}  // namespace

Configuration whole_run(std::uint64_t seed, std::size_t run, bool may_be_alone) {
  balancer::Random random(seed * 1'000'003 + run);
  std::vector<const balancer::PolicyInfo*> policies = {&balancer::restless_info(), &balancer::restless_info()};
  for (const balancer::PolicyInfo& p : balancer::policies()) policies.push_back(&p);
  // One in ten has one rank, where values are swept.
  const bool alone = may_be_alone && run % 10 == 7;
  const balancer::PolicyInfo& drawn = *policies[random.below(policies.size())];
  const balancer::PolicyInfo& policy = alone ? *balancer::find_policy("none") : drawn;
  const auto draw = [&](int most) { return 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(most))); };
  const int ranks = 1 + draw(5), threads = draw(3);
  Configuration c = make(alone ? 1 : ranks, alone ? threads + 1 : threads, random.next() | 1, policy);
  c.longest_rest_us = 0;
  if (has(policy, "faithful") && random.below(4) == 0) {
    c.name += " --set faithful=true";
    c.options.settings.emplace("faithful", "true");
    if (has(policy, "goes_home") && random.below(2) == 0) {
      c.name += " --set goes_home=true";
      c.options.settings.emplace("goes_home", "true");
    }
  }
  strain(c, policy, random.next());
  c.longest_rest_us = 0;
  if (random.below(2) == 0 && !alone) change_members(c, random.next());
  c.options.max_delay_us = static_cast<std::int64_t>(random.below(4) == 0 ? 0 : 1 + random.below(3000) / draw(30));
  if (random.below(4) == 0) {
    c.options.link_latency_us = static_cast<std::int64_t>(random.below(2000));
    c.options.link_bandwidth = 1e6 * static_cast<double>(1 + random.below(1000));
  }
  whole::Settings world;
  world.seed = random.next();
  world.cores = static_cast<std::size_t>(draw(4));
  world.longest = random.below(4) == 0 ? whole::Span(0) : some(random, std::chrono::milliseconds(5));
  for (std::uint64_t k = random.below(3); k > 0; --k) {
    whole::Absence a;
    a.rank = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(c.options.ranks)));
    a.from = some(random, std::chrono::milliseconds(20));
    a.until = a.from + some(random, std::chrono::milliseconds(50));
    world.absences.push_back(a);
  }
  c.world = world;
  c.most_ahead = few_ahead(seed + run);
  if ((seed + run) % 3 == 0) c.options.record = kSomewhere;
  rename(c);
  return c;
}

Configuration crashing_run(std::uint64_t seed, std::size_t run) {
  Configuration c = whole_run(seed, run, false);
  balancer::Random random(seed * 999'983 + run);
  whole::Absence crash;
  c.options.record.clear();
  crash.rank = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(c.options.ranks)));
  crash.from = some(random, std::chrono::milliseconds(20));
  c.world->absences = {crash};
  c.world->limit = std::chrono::seconds(10 * kSilenceLimit);
  c.options.silence_limit = kSilenceLimit;
  rename(c);
  return c;
}

std::vector<Configuration> steady_runs(std::uint64_t seed, int ranks, int threads) {
  std::vector<Configuration> all;
  for (const char* policy : {"none", "steal", "auto"}) {
    if (ranks > 1 || all.empty())
      all.push_back(make(ranks, threads, ranks > 1 ? seed : 0, *balancer::find_policy(policy)));
    all.back().most_ahead = 2048;
    all.back().least_to_sweep = 512;  // as ever
  }
  return all;
}

std::vector<Configuration> wide_runs() {
  const auto of = [](int ranks, int threads, const char* policy) {
    Configuration c = make(ranks, threads, 0, *balancer::find_policy(policy));
    c.least_to_sweep = 512;  // as ever
    return c;
  };
  return {of(1, 1, "none"), of(1, 2, "none"), of(2, 1, "none"), of(2, 1, "auto")};
}

void rename(Configuration& c) {
  const auto us = [](whole::Span s) { return static_cast<double>(s.count()) * 1e-3; };
  c.name = fmt::format("whole run {}: {} ranks ({} spare), {} threads on {} cores, {}", c.world->seed, c.options.ranks,
                       c.options.spares, c.options.threads, c.world->cores, c.options.policy->name);
  for (const auto& [name, value] : c.options.settings) c.name += fmt::format(", {}={}", name, value);
  c.name += fmt::format(", kernels up to {} us, deliveries by seed {} up to {} us", us(c.world->longest),
                        c.options.seed, c.options.max_delay_us);
  if (c.options.link_bandwidth > 0)
    c.name += fmt::format(", link {} us {} MB/s", c.options.link_latency_us, c.options.link_bandwidth * 1e-6);
  if (c.most_ahead != Configuration().most_ahead) c.name += fmt::format(", {} ahead", c.most_ahead);
  if (!c.options.record.empty()) c.name += ", recorded";
  const runtime::RunOptions usual;
  if (c.options.eager_bytes != usual.eager_bytes) c.name += fmt::format(", eager {}", c.options.eager_bytes);
  if (c.options.relay_bytes != usual.relay_bytes) c.name += fmt::format(", relay {}", c.options.relay_bytes);
  if (c.options.cache_limit_mb != usual.cache_limit_mb) c.name += fmt::format(", cache {}", c.options.cache_limit_mb);
  for (const runtime::MemberPlan& p : c.options.member_plan)
    c.name += fmt::format(", rank {} {} at {} us", index(p.rank), p.joins ? "joins" : "leaves", us(p.at));
  for (const whole::Absence& a : c.world->absences) {
    c.name += a.until == whole::Span::max()
                  ? fmt::format(", rank {} crashes at {} us", a.rank, us(a.from))
                  : fmt::format(", rank {} pauses from {} to {} us", a.rank, us(a.from), us(a.until));
  }
}

std::vector<Configuration> simpler(const Configuration& c) {
  std::vector<Configuration> all;
  const auto with = [&](auto change) {
    Configuration other = c;
    change(other);
    rename(other);
    if (other.name != c.name) all.push_back(other);
  };
  const auto of_rank = [](const Configuration& o) {
    for (const runtime::MemberPlan& p : o.options.member_plan) {
      if (index(p.rank) + 1 == o.options.ranks) return true;
    }
    return std::any_of(o.world->absences.begin(), o.world->absences.end(),
                       [&](const whole::Absence& a) { return a.rank + 1 == o.options.ranks; });
  };
  with([](Configuration& o) { o.options.member_plan.clear(); });
  with([](Configuration& o) { o.world->absences.clear(); });
  with([](Configuration& o) { o.options.spares = 0; });
  if (c.options.ranks > 2 && c.options.spares == 0 && !of_rank(c)) with([](Configuration& o) { --o.options.ranks; });
  with([](Configuration& o) { o.options.threads = 1; });
  with([](Configuration& o) { o.world->cores = 1; });
  with([](Configuration& o) { o.most_ahead = Configuration().most_ahead; });
  with([](Configuration& o) { o.options.link_latency_us = 0, o.options.link_bandwidth = 0; });
  with([](Configuration& o) { o.options.max_delay_us /= 2; });
  with([](Configuration& o) { o.world->longest = whole::Span(0); });
  with([](Configuration& o) { o.options.record.clear(); });
  const runtime::RunOptions usual;
  with([&](Configuration& o) { o.options.eager_bytes = usual.eager_bytes; });
  with([&](Configuration& o) { o.options.relay_bytes = usual.relay_bytes; });
  with([&](Configuration& o) { o.options.cache_limit_mb = usual.cache_limit_mb; });
  with([](Configuration& o) { o.options.settings.clear(); });
  for (std::size_t k = 0; k < c.options.member_plan.size(); ++k)
    with([&](Configuration& o) {
      o.options.member_plan.erase(o.options.member_plan.begin() + static_cast<std::ptrdiff_t>(k));
    });
  for (std::size_t k = 0; k < c.world->absences.size(); ++k)
    with(
        [&](Configuration& o) { o.world->absences.erase(o.world->absences.begin() + static_cast<std::ptrdiff_t>(k)); });
  return all;
}

std::vector<Configuration> configurations(std::uint64_t seed, const Plan& plan) {
  if (plan.wide != 0) return wide_runs();
  if (plan.steady != 0) return steady_runs(seed, plan.steady_ranks, plan.steady_threads);
  std::vector<Configuration> all;
  if (plan.threads) all = configurations(seed);
  if (plan.alone > 0) std::erase_if(all, [](const Configuration& c) { return c.options.ranks > 1; });
  std::erase_if(all, [&](const Configuration& c) { return c.name.find(plan.like) == std::string::npos; });
  const std::size_t once = all.size();
  for (std::size_t k = 1; k < std::max(plan.alone, plan.times); ++k) {
    for (std::size_t i = 0; i < once; ++i) all.push_back(all[i]);
  }
  for (std::size_t run = plan.first; run < plan.first + plan.whole; ++run)
    all.push_back(plan.crash ? crashing_run(seed, run) : whole_run(seed, run));
  return all;
}

}  // namespace tessera::differential
