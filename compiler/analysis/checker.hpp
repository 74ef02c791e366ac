// What the checks of data flow share: one flow, one budget, and how findings are said.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/analysis/flow.hpp"
#include "compiler/analysis/integer_system.hpp"
#include "compiler/analysis/query.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::analysis {

// A finding is an error when it happens in every run of the program, a warning when it happens in
// every run that reaches the code. What happens in some of those only, or can't be decided, is
// left to the run.
class Checker {
 public:
  Checker(const Flow& flow, Diagnostics& diagnostics) : flow(flow), diagnostics(diagnostics) {}

  const Flow& flow;
  Diagnostics& diagnostics;

  // effort for one question; small, so that no single question uses up the budget of all.
  Effort effort();
  void done(const Effort& used);
  bool tired() const { return total_ <= 0; }
  void spend(std::int64_t n) { total_ -= n; }

  Answer solve(const System& s, std::vector<Integer>* witness = nullptr);
  bool project(const System& s, const std::vector<bool>& keep, Shadow shadow, System& result);
  Answer outside(const System& s, const std::vector<System>& covers, std::vector<Integer>* witness = nullptr,
                 System* found = nullptr);

  // sure: the node runs in every run of the program.
  bool sure(NodeId node);

  // report starts a message, once for each place and other place.
  bool fresh(const std::string& code, Extent a, Extent b);
  bool said(const std::string& code, Extent at) const { return said_.contains({code, at.begin, at.begin}); }
  Diagnostics& report(bool error, const char* code, Extent at, const std::string& text);

  // calls adds notes: the calls through which `node` is reached, from `around` on.
  void calls(NodeId node, NodeId around);

  // element names the fragment of an access: with numbers when a point is given.
  std::string element(const Access& a) const;
  std::string written(const Access& a) const;  // as it stands in the text, where it does
  std::string element(const Access& a, const Query& q, Query::Tag tag, const std::vector<Integer>& point) const;
  // when says for which counters: "i = 2, j = 3", or "".
  std::string when(NodeId node, NodeId around, const Query& q, Query::Tag tag, const std::vector<Integer>& point) const;

  // telling_index: the index in which most of the accesses have a known range; 0 if none have.
  std::size_t telling_index(const std::vector<AccessId>& accesses) const;

  // apart: are the first or other indices so far from each other that nothing needs to be solved?
  bool apart(const Access& a, const Access& b) const;

 private:
  std::int64_t total_ = 400'000;
  std::int64_t started_ = 0;
  std::map<NodeId, bool> sure_;
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> said_;
};

// The checks; each file says what it finds and when.
void check_assigned_twice(Checker& checker);  // T310
// The reads that nothing can serve, and for the others the writes that may: by read access.
using Producers = std::vector<std::vector<AccessId>>;
struct Served {
  Producers producers;
  std::vector<bool> undecided;  // by read access: served by something, we do not know by what
};
Served check_never_assigned(Checker& checker);              // T311, T316
void check_cycles(Checker& checker, const Served& served);  // T312, T316
void check_freed(Checker& checker, const Served& served);   // T313, T314
void check_counts(Checker& checker);                        // T315
void check_unused(Checker& checker);                        // T317

}  // namespace tessera::compiler::analysis
