// What waits for what while a program runs, for `tessera status --waiting`. Rank 0 asks each rank for all that waits
// there, as words (wait_graph.hpp); what all wait for in the end is what nobody who waits will give. Then it asks who
// waits for that. Meanwhile the run goes on: a question may come too late for an answer.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/data/data_fragments.hpp"

namespace tessera::runtime {

// What waits on this rank, `most` fragments of it. A fragment that waits for a value stays as it is while the value's
// shard is locked; so each is looked at under that lock.
WaitsNow waits_now(const abi::Program&, DataFragments&, std::size_t most);
// One that waits for each of these names, where there is any.
WaitsNow who_waits_for(const abi::Program&, DataFragments&, std::vector<std::uint64_t> names);

// Rank 0: what is worth telling of it.
class WaitReport {
 public:
  explicit WaitReport(const std::vector<Totals>& ranks);
  // To ask all ranks for.
  std::vector<std::uint64_t> names() const;

  struct Line {
    WaitLine waits;           // who waits first, and for what
    std::int64_t behind = 0;  // fragments that wait for that, and for what those give, and so on
    std::int32_t rank = -1;   // who makes it there; -1: nobody runs that would
    RunningFragment maker = {};
    std::int64_t alike = 0;  // further values for which one waits of which the same is said
  };
  // With what the ranks have answered. Those of which the same would be said are one.
  std::vector<Line> lines(const std::vector<Totals>& ranks) const;
  std::int64_t waiting() const { return waiting_; }
  std::int64_t more(const std::vector<Line>&) const;  // names that are in none of them

 private:
  struct Root {
    std::uint64_t name;
    std::int64_t behind;
    std::int32_t rank;
    RunningFragment maker;
  };
  std::int64_t waiting_ = 0, all_ = 0;
  std::vector<Root> roots_;
};

}  // namespace tessera::runtime
