// The search: all balancers on all ranks of the cluster, then parameters of the best ones, then fewer ranks.
#include <algorithm>
#include <optional>

#include "cli/advise/advice.hpp"
#include "cli/failure.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t kKept = 3;         // balancers that go on after the first round ...
constexpr double kKeptWithin = 1.5;      // ... if they take at most this many times the best one's time
constexpr double kBetter = 0.99;         // a parameter is worth naming from 1 % on
constexpr double kPays = 0.2;            // more ranks pay when they give at least this part of what they could

// What is worth varying, in any balancer that has it.
constexpr std::pair<const char*, const char*> kVariations[] = {
    {"coordinator", "colocated"}, {"transfer_margin", "1"}, {"transfer_margin", "4"}, {"max_transfer", "0.1"},
    {"max_transfer", "0.005"},    {"ship_window", "0.1"},   {"group_size", "64"},     {"block", "1"},
    {"block", "20"},              {"first_percent", "50"},
};

class Search {
 public:
  Search(const Study& study, const Progress& progress, int& simulations)
      : study_(study), progress_(progress), simulations_(simulations) {}

  // Nothing: it needs more ranks, or its simulation was given up.
  std::optional<Tried> run(const Study::Balancer& b, std::int32_t count) {
    Tried t{b, run_row(study_, b, count, kMostEventsOfAdvice), 0};
    ++simulations_;
    progress_(simulations_);
    if (!t.row.outcome || !t.row.outcome->ended) return std::nullopt;
    t.took = t.row.outcome->finished;
    return t;
  }

  std::vector<Tried> first_round(const std::vector<const balancer::PolicyInfo*>& policies, std::int32_t count) {
    std::vector<Tried> all;
    for (const balancer::PolicyInfo* p : policies) {
      if (std::optional<Tried> t = run({p, {}}, count)) all.push_back(std::move(*t));
    }
    std::stable_sort(all.begin(), all.end(), [](const Tried& a, const Tried& b) { return a.time() < b.time(); });
    while (all.size() > kKept || (!all.empty() && static_cast<double>(all.back().time()) >
                                                      kKeptWithin * static_cast<double>(all.front().time()))) {
      all.pop_back();
    }
    return all;
  }

  // One parameter after the other; what helps stays.
  void tune(Tried& t, std::int32_t count) {
    for (const auto& [key, value] : kVariations) {
      Study::Balancer b = t.balancer;
      b.settings[key] = value;
      if (!balancer::check_settings(*b.policy, b.settings).empty()) continue;
      std::optional<Tried> other = run(b, count);
      if (other && static_cast<double>(other->time()) < kBetter * static_cast<double>(t.time())) t = std::move(*other);
    }
  }

 private:
  const Study& study_;
  const Progress& progress_;
  int& simulations_;
};

void sort_by_time(std::vector<Tried>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Tried& a, const Tried& b) { return a.time() < b.time(); });
}

// Beyond which more ranks do not pay.
std::size_t worth(const std::vector<Tried>& by_count) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < by_count.size(); ++i) {
    const double faster = static_cast<double>(by_count[best].time()) / static_cast<double>(by_count[i].time());
    const double more = static_cast<double>(by_count[i].row.ranks) / by_count[best].row.ranks;
    if (faster >= 1 + kPays * (more - 1)) best = i;
  }
  return best;
}

}  // namespace

Advice advise(const Study& study, const std::vector<const balancer::PolicyInfo*>& balancers,
              const std::vector<std::int32_t>& counts, const Progress& progress) {
  Advice advice;
  Search search(study, progress, advice.simulations);
  std::vector<Tried> kept = search.first_round(balancers, counts.back());
  if (kept.empty()) {
    throw usage_error("nothing can be simulated on " + std::to_string(counts.back()) +
                      " ranks: these balancers need more ranks, or the program makes more than " +
                      std::to_string(kMostEventsOfAdvice) + " events there; take fewer ranks or a smaller run");
  }
  for (Tried& t : kept) search.tune(t, counts.back());
  sort_by_time(kept);
  for (const std::int32_t count : counts) {
    std::vector<Tried> here;
    for (const Tried& t : kept) {
      if (count == 1 && counts.size() > 1) {
        // There is nobody to balance with.
        if (std::optional<Tried> alone = search.run({balancer::find_policy("none"), {}}, 1)) {
          here.push_back(std::move(*alone));
        }
        break;
      }
      if (count == counts.back()) {
        here.push_back(t);
      } else if (std::optional<Tried> other = search.run(t.balancer, count)) {
        here.push_back(std::move(*other));
      }
    }
    sort_by_time(here);
    if (!here.empty()) advice.by_count.push_back(std::move(here.front()));
  }
  advice.best = worth(advice.by_count);
  const Tried& best = advice.by_count[advice.best];
  const balancer::PolicyInfo* usual = balancer::find_policy(balancer::usual_policy(best.row.ranks));
  advice.default_name = std::string(usual->name);
  if (const std::optional<Tried> t = search.run({usual, {}}, best.row.ranks)) advice.default_time = t->time();
  const Tried& last = advice.by_count.back();
  advice.limits = find_limits(study, last, counts.back(), progress, advice.simulations);
  return advice;
}

}  // namespace tessera::cli
