// Outlook: how much of a run is done and how long the rest takes, as far as that can be known: where what is to come is
// made by loops, whose bounds are known when they begin. A pure function of what the ranks have counted.
//
// A group of which b have been made, by something of which s of S have run, comes to b * S / s; S likewise, up to main.
// The rest of each group, at its mean time, against what was done so far gives the time that is left, if the run goes
// on as it went.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

// What runs counts as far as it has come; of one that runs for longer than its group takes in the mean nobody knows how
// long it will: a tenth of what it took so far.
struct Outlook {
  std::optional<double> done;          // a share of the work
  std::optional<double> seconds_left;  // about
  double ended = 0, to_come = 0;       // kernels' fragments
  bool at_least = false;               // more will come: of some groups none has run yet
  std::string why;                     // it is not known, or not all of it: for a person
};

// `groups`: of all ranks, what has ended. `seconds`: since the start.
Outlook outlook(const abi::Program&, const std::vector<GroupTotals>& groups, double seconds,
                const std::vector<RunningFragment>& running = {});
std::vector<RunningFragment> running_of(const std::vector<Totals>& ranks);

// Pace: many that are short and wait for each other take longer than their kernels say: where next to nothing seems to
// be left, how many have ended since the last look says how long the rest takes.
class Pace {
 public:
  void correct(Outlook&, double seconds);

 private:
  double seconds_ = 0, ended_ = 0;  // at a look some time ago
  std::optional<double> rate_;      // per second, from then to the next
};

// "about 12 s left (40 % done)"; "time left: not known: ...".
std::string text_of(const Outlook&);

}  // namespace tessera::runtime
