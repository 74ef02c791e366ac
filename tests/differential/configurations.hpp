// How each program is run: ranks, threads, policies, orders of deliveries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/run.hpp"
#include "world.hpp"

namespace tessera::differential {

struct Configuration {
  std::string name;  // the options of `tessera run` that give the same; its kernels do not rest
  runtime::RunOptions options;
  int longest_rest_us = 0;               // of kernels (tests/reference/kernels.hpp)
  int most_rests = 40;                   // then they rest no more; long runs would take seconds
  std::size_t least_to_sweep = 0;        // runtime/fragment/horizon.hpp
  std::int64_t most_ahead = 16 * 1024;   // runtime/work/lead.hpp
  std::optional<whole::Settings> world;  // the ranks run in one thread, on a time of their own
};

// RunOptions::record of one that is recorded, or its journal, until it is known where to.
inline constexpr const char* kSomewhere = "somewhere";

// configurations of the program with this seed: 1, 2, 4 and 7 ranks, several numbers of threads,
// every policy of the registry and the faithful mode of those that have one, one that moves all it can
// (balancer/restless), deliveries reordered.
std::vector<Configuration> configurations(std::uint64_t seed);

// What of it is done: by real threads, and by so many whole runs (tests/whole/world.hpp).
struct Plan {
  bool threads = true;
  std::size_t alone = 0;  // so many times only those with one rank
  std::string like;       // only those whose options have this in them ...
  std::size_t times = 1;  // ... so many times
  std::size_t whole = 0;
  std::size_t first = 0;   // number of the first one
  std::size_t broken = 0;  // not 0: with this one of the broken machines (tests/protocol/broken.hpp)
  int shrink = 60;         // for so many seconds a simpler run is looked for that fails, too
  bool crash = false;      // in each of these a rank crashes
  bool recover = false;    // each dies, and another one goes on from its journal (recovery.hpp)
  std::size_t steady = 0;  // not 0: instead, programs of so many steps and more, whose memory may not grow (growth.hpp)
  std::size_t wide = 0;    // not 0: instead, programs of so many cells, and four times as many
  int steady_ranks = 1;    // on so many ranks
  int steady_threads = 1;  // by so many threads each
};
std::vector<Configuration> configurations(std::uint64_t seed, const Plan& plan);

// whole_run is number `run` of a program's whole runs: anything of what configurations has, drawn by these two, and
// times of kernels, slow links, ranks that pause, leave and join at any time; or one rank alone.
Configuration whole_run(std::uint64_t seed, std::size_t run, bool may_be_alone = true);

// The same with a rank that crashes at some time: the run has to end, and to say which rank was not heard any more, or
// it has ended before.
Configuration crashing_run(std::uint64_t seed, std::size_t run);
inline constexpr std::int64_t kSilenceLimit = 3;  // s

// steady_runs are those of programs whose memory may not grow: each policy that moves at all, if there are several
// ranks.
std::vector<Configuration> steady_runs(std::uint64_t seed, int ranks);

// Simpler ones that may fail in the same way, the simplest first.
std::vector<Configuration> simpler(const Configuration&);
// Its name by what it holds.
void rename(Configuration&);

}  // namespace tessera::differential
