// Advice on a program, from simulations of it: which balancer, with which parameters, on how many ranks, and what keeps
// it from being faster. docs/advise.md says how the search is pruned and what the words mean.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "balancer/profile.hpp"
#include "cli/simulate/study.hpp"

namespace tessera::cli {

// A balancer with parameters, and what it made of the program on some ranks.
struct Tried {
  Study::Balancer balancer;
  StudyRow row;
  balancer::Time took = 0;
  balancer::Time time() const { return took; }
};

// What the program was read from, and what that can tell.
struct Source {
  bool profile = false;    // knows nothing of order and dependences
  std::int64_t every = 1;  // one fragment in so many is simulated
  // Of a recorded run, what its report says at the top (cli/report); and of which run.
  std::vector<std::string> sentences = {};
  std::string run = {};
  // A balancer that is faster by less than this part of the time is not told apart from the default.
  double margin() const { return profile ? 0.2 : 0.05; }
};

// Something that keeps the program from being faster, and its share of the time that is lost.
struct Limit {
  std::string name;  // critical path, transfers, coordinator, granularity, balancer, dependencies
  double share = 0;
  std::string text;  // for a person
};

struct Advice {
  std::vector<Tried>
      by_count;  // the best for each number of ranks, rising: the default, unless another is better by the margin
  std::size_t best = 0;             // in by_count: beyond it more ranks do not pay
  std::vector<Limit> limits;        // of the last of by_count; empty: it uses its ranks
  std::optional<Tried> faster;      // than the best, on as many ranks, but by less than the margin
  std::string default_name;         // what `tessera run` takes without being told ...
  balancer::Time default_time = 0;  // ... on as many ranks as `best`; 0: not known
  int simulations = 0;
};

// Called after each simulation with the number of them so far.
using Progress = std::function<void(int done)>;

// advise searches. `balancers` are those that may be advised, `counts` numbers of ranks, rising. Throws a usage error
// when nothing can be simulated.
Advice advise(const Study&, const Source&, const std::vector<const balancer::PolicyInfo*>& balancers,
              const std::vector<std::int32_t>& counts, const Progress&);

// find_limits says what costs `tried` its time. `usual`: the default on as many ranks, if it could be simulated.
std::vector<Limit> find_limits(const Study&, const Tried& tried, const std::optional<Tried>& usual, std::int32_t count,
                               const Progress&, int& simulations);

// What keeps a program from being faster, in words that reports of runs use, too.
std::string one_is_long(balancer::Time longest);
std::string chain_is_long(balancer::Time chain);
std::string one_is_short(const std::string& label, balancer::Time mean, std::int64_t count);

// The workload that a profile speaks of: as many fragments of each group, with weights of its mean and variance,
// independent, all on rank 0 at the start. Beyond `most` fragments, every n-th of each group: n is returned.
std::int64_t workload_of(const balancer::Profile&, std::int64_t most, balancer::simulator::Workload&);

// More than this in one simulation, and it is given up.
inline constexpr std::int64_t kMostEventsOfAdvice = 20'000'000;

// `--balancer steal --set attempts=3`
std::string words_of(const Study::Balancer&);
std::string text_of(const Study&, const Advice&, const Source&);
std::string json_of(const Study&, const Advice&, const Source&);

}  // namespace tessera::cli
