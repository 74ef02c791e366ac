// The report of a program that cannot finish: what nothing will assign, who needs it, and how many wait behind that.
//
// Rank 0 asks each rank for all that waits there, as words (wait_graph.hpp), and then for a line of what is worth
// showing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/data/data_fragments.hpp"
#include "runtime/data/scopes.hpp"
#include "runtime/report/wait_graph.hpp"

namespace tessera::runtime {

// Tools look for what the old command said of such a program: the report of this process has that, too.
void report_as_luna();

// What waits on this rank. Nothing runs any more, so it stays as it is.
class WaitingHere {
 public:
  WaitingHere(const abi::Program&, std::int32_t ranks, DataFragments&, Scopes&);
  Waiting list() const;
  // A line for each pair (fragment, name).
  Waiting describe(const AskWaiting&) const;

 private:
  struct Link {
    abi::Cf* cf;
    unsigned slot;
  };
  const abi::Program& program_;
  const std::int32_t ranks_;
  Scopes& scopes_;
  std::vector<Link> links_;         // sorted: those of a fragment one after the other
  std::vector<std::size_t> first_;  // link of each fragment
};

// Rank 0: from both answers to the text.
class StuckReport {
 public:
  explicit StuckReport(const abi::Program& program) : program_(program) {}
  void listed(Rank from, const Waiting&);
  // When all have listed: what to ask whom.
  std::map<Rank, AskWaiting> questions();
  void described(Rank from, const Waiting&);
  std::string text() const;

 private:
  const std::string& line(const WaitGraph::Place&) const;
  const abi::Program& program_;
  WaitGraph graph_;
  WaitGraph::Found found_;
  std::int64_t count_ = 0, unlisted_ = 0;
  std::map<Rank, AskWaiting> asked_;
  std::map<std::pair<std::int32_t, std::pair<std::uint64_t, std::uint64_t>>, std::string>
      lines_;  // rank, (fragment, name)
};

}  // namespace tessera::runtime
