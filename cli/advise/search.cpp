// The search: all balancers on all ranks of the cluster, then parameters of the best ones, then fewer ranks.
#include <algorithm>
#include <map>
#include <optional>

#include "cli/advise/advice.hpp"
#include "cli/failure.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t kKept = 3;     // balancers that go on after the first round ...
constexpr double kKeptWithin = 1.5;  // ... if they take at most this many times the best one's time
constexpr double kBetter = 0.99;     // a parameter is worth naming from 1 % on
constexpr double kPays = 0.2;        // more ranks pay when they give at least this part of what they could

// What is worth varying, in any balancer that has it.
constexpr std::pair<const char*, const char*> kVariations[] = {
    {"coordinator", "colocated"},
    {"transfer_margin", "1"},
    {"transfer_margin", "4"},
    {"max_transfer", "0.1"},
    {"max_transfer", "0.005"},
    {"ship_window", "0.1"},
    {"group_size", "64"},
    {"block", "1"},
    {"block", "20"},
    {"first_percent", "50"},
};

class Search {
 public:
  Search(const Study& study, const Progress& progress, int& simulations)
      : study_(study), progress_(progress), simulations_(simulations) {}

  // Nothing: it needs more ranks, or its simulation was given up. None is simulated twice.
  std::optional<Tried> run(const Study::Balancer& b, std::int32_t count) {
    const auto [at, is_new] = done_.try_emplace({words_of(b), count});
    if (!is_new) return at->second;
    Tried t{b, run_row(study_, b, count, kMostEventsOfAdvice), 0};
    ++simulations_;
    progress_(simulations_);
    if (!t.row.outcome && t.row.why != kNeedsMoreRanks) unfit_ = t.row.why;
    if (t.row.outcome && t.row.outcome->ended) {
      t.took = t.row.outcome->finished;
      at->second = std::move(t);
    }
    return at->second;
  }

  // Why this cluster is not one to run on, if it was not for somebody.
  const std::string& unfit() const { return unfit_; }

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
  std::string unfit_;
  std::map<std::pair<std::string, std::int32_t>, std::optional<Tried>> done_;
};

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

Advice advise(const Study& study, const Source& source, const std::vector<const balancer::PolicyInfo*>& balancers,
              const std::vector<std::int32_t>& counts, const Progress& progress) {
  Advice advice;
  Search search(study, progress, advice.simulations);
  std::vector<Tried> kept = search.first_round(balancers, counts.back());
  if (kept.empty() && !search.unfit().empty()) {
    throw usage_error("cluster " + study.cluster_asked + ": " + search.unfit());
  }
  if (kept.empty()) {
    throw usage_error("nothing can be simulated on " + std::to_string(counts.back()) +
                      " ranks: these balancers need more ranks, or the program makes more than " +
                      std::to_string(kMostEventsOfAdvice) + " events there; take fewer ranks or a smaller run");
  }
  for (Tried& t : kept) search.tune(t, counts.back());
  std::vector<std::optional<Tried>> faster;  // as by_count
  for (const std::int32_t count : counts) {
    const balancer::PolicyInfo* usual = balancer::find_policy(balancer::usual_policy(count));
    std::vector<Tried> here;
    const auto take = [&](const Study::Balancer& b) {
      if (std::optional<Tried> t = search.run(b, count)) here.push_back(std::move(*t));
    };
    // The default is first: what is better by less than can be told gives way to it.
    const bool alone = count == 1 && counts.size() > 1;  // nobody to balance with
    const bool asked = std::find(balancers.begin(), balancers.end(), usual) != balancers.end();
    if (alone || asked) take({usual, {}});
    const std::size_t defaults = here.size();
    for (const Tried& t : kept) {
      if (!alone) take(t.balancer);
    }
    if (here.empty()) continue;
    const auto fastest =
        std::min_element(here.begin(), here.end(), [](const Tried& a, const Tried& b) { return a.time() < b.time(); });
    const bool told_apart =
        static_cast<double>(fastest->time()) < (1 - source.margin()) * static_cast<double>(here[0].time());
    const bool gives_way = defaults == 1 && fastest != here.begin() && !told_apart;
    advice.by_count.push_back(gives_way ? here.front() : *fastest);
    faster.push_back(gives_way ? std::optional(*fastest) : std::nullopt);
  }
  advice.best = worth(advice.by_count);
  advice.faster = faster[advice.best];
  const Tried& best = advice.by_count[advice.best];
  const auto usual_on = [&](std::int32_t count) {
    return search.run({balancer::find_policy(balancer::usual_policy(count)), {}}, count);
  };
  advice.default_name = std::string(balancer::usual_policy(best.row.ranks));
  if (const std::optional<Tried> t = usual_on(best.row.ranks)) advice.default_time = t->time();
  const Tried& last = advice.by_count.back();
  advice.limits = find_limits(study, last, usual_on(last.row.ranks), last.row.ranks, progress, advice.simulations);
  return advice;
}

}  // namespace tessera::cli
