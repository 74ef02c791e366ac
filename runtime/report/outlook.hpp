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

struct Outlook {
  std::optional<double> done;          // a share of the work
  std::optional<double> seconds_left;  // about
  bool at_least = false;               // more will come: of some groups none has run yet
  std::string why;                     // it is not known, or not all of it: for a person
};

// `groups`: of all ranks. `seconds`: since the start.
Outlook outlook(const abi::Program&, const std::vector<GroupTotals>& groups, double seconds);

// "about 12 s left (40 % done)"; "time left: not known: ...".
std::string text_of(const Outlook&);

}  // namespace tessera::runtime
