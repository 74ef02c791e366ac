// What runs on a rank just now, and since when: for who waits for a kernel that does not return.
//
// Nothing is noted per fragment: the communication thread looks at the workers twice a second, and a fragment is as old
// as the looks that have seen it.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "runtime/start/facts.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime {

class RunningNow {
 public:
  RunningNow(const RunFacts&, const Crew&);
  ~RunningNow();
  void turn(Clock::time_point now);
  Clock::time_point next() const { return next_; }

  struct Fragment {
    std::string text;
    double seconds = 0;
    std::uint32_t group = 0;
    std::vector<std::uint64_t> gives = {};
  };
  // Longest first; any thread. `with_gives`: also what they will assign, as far as their records tell.
  std::vector<Fragment> fragments(bool with_gives = false);
  // A line of each fragment that has run for long on the ranks of this process.
  static std::string all();
  // Of each rank of this process: how many calls it has run so far, which most, and one of those that it runs.
  static std::string so_far();

 private:
  struct Look {
    std::uint64_t runs = 0;
    bool ran = false;
    Clock::time_point since{};
  };
  std::string calls_so_far();
  const RunFacts& facts_;
  const Crew& crew_;
  Clock::time_point next_;
  std::mutex mutex_;
  std::vector<Look> looks_;  // by worker
};

}  // namespace tessera::runtime
