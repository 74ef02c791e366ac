// T312: fragments that wait for each other; T316: a locator in such a ring.
//
// A node can run when what it needs can be there: each read has a producer that can run. The least
// set with this property is computed generously, all instances of a node taken together; a node
// outside of it never runs, not even once: its first instance would need another one before it.
#include <algorithm>

#include "compiler/analysis/checker.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostSteps = 6;

class Cycles {
 public:
  Cycles(Checker& c, const Served& served) : c_(c), flow_(c.flow), served_(served) {}

  void run() {
    const std::size_t n = flow_.nodes.size();
    missing_.assign(n, 0);
    waiting_.resize(flow_.accesses.size());
    children_.resize(n);
    for (NodeId k = 0; k < n; ++k) {
      if (k != 0) {
        children_[flow_.nodes[k].parent].push_back(k);
        ++missing_[k];
      }
      for (const AccessId r : flow_.nodes[k].needs) need(k, r);
    }
    runs_.assign(n, false);
    satisfied_.assign(flow_.accesses.size(), false);
    start(0);
    while (!open_.empty()) {
      const NodeId k = open_.back();
      open_.pop_back();
      for (const NodeId child : children_[k]) less(child);
      for (const auto* list : {&flow_.nodes[k].writes, &flow_.nodes[k].done}) {
        for (const AccessId w : *list) assigned(w);
      }
    }
    for (NodeId k = 0; k < n; ++k) {
      if (!runs_[k]) follow(k);
    }
  }

 private:
  bool counted(AccessId r) const {
    const Access& a = flow_.accesses[r];
    return !a.maybe && !a.request && !served_.undecided[r];
  }
  void need(NodeId k, AccessId r) {
    if (!counted(r)) return;
    ++missing_[k];
    for (const AccessId w : served_.producers[r]) waiting_[w].push_back(r);
  }
  void less(NodeId k) {
    if (--missing_[k] == 0) start(k);
  }
  void start(NodeId k) {
    if (missing_[k] != 0 || runs_[k]) return;
    runs_[k] = true;
    open_.push_back(k);
  }
  void assigned(AccessId w) {
    for (const AccessId r : waiting_[w]) {
      if (satisfied_[r]) continue;
      satisfied_[r] = true;
      less(flow_.accesses[r].owner);
    }
  }

  // blocker returns the read that keeps a node from running, or kNone when the reason is a fragment
  // that nothing assigns (it was reported where it is read).
  AccessId blocker(NodeId k) const {
    for (;; k = flow_.nodes[k].parent) {
      AccessId found = kNone;
      for (const AccessId r : flow_.nodes[k].needs) {
        if (!counted(r) || satisfied_[r]) continue;
        if (served_.producers[r].empty()) return kNone;
        if (found == kNone) found = r;
      }
      if (found != kNone || k == 0) return found;
    }
  }

  // follow goes from a node to what it waits for until it comes back, or to something known.
  void follow(NodeId start) {
    std::vector<AccessId> reads, writes;  // reads[i] waits for writes[i]
    std::vector<NodeId> path;
    for (NodeId k = start; !visited_[k];) {
      visited_[k] = true;
      path.push_back(k);
      const AccessId r = blocker(k);
      if (r == kNone) return;
      const AccessId w = served_.producers[r].front();
      reads.push_back(r);
      writes.push_back(w);
      k = flow_.accesses[w].owner;
      const auto seen = std::find(path.begin(), path.end(), k);
      if (seen == path.end()) continue;
      const auto from = seen - path.begin();
      report({reads.begin() + from, reads.end()}, {writes.begin() + from, writes.end()});
      return;
    }
  }

  void report(const std::vector<AccessId>& reads, const std::vector<AccessId>& writes) {
    const Access& first = flow_.accesses[reads[0]];
    bool error = true, locator = false;
    for (const AccessId r : reads) {
      error = error && c_.sure(flow_.accesses[r].node);
      locator = locator || flow_.accesses[r].locator;
    }
    const auto missing = [&](AccessId r) { return c_.said("T311", flow_.accesses[r].at); };
    if (std::any_of(reads.begin(), reads.end(), missing)) return;  // it would run if that were there
    const char* code = locator ? "T316" : "T312";
    if (!c_.fresh(code, first.at, first.at)) return;
    const std::string wanted = c_.written(first);
    if (locator) {
      c_.report(error, code, first.at,
                "the locator depends on a value that is never known: " + wanted +
                    " is assigned only after the fragment has started");
    } else if (reads.size() == 1) {
      c_.report(error, code, first.at,
                "this waits for " + wanted +
                    (served_.producers[reads[0]].size() == 1 ? ", which only the same statement assigns"
                                                             : ", which nothing can assign before this has run"));
    } else {
      c_.report(error, code, first.at, "this waits for " + wanted + ", and " + wanted + " in the end waits for this");
    }
    for (std::size_t k = 0; k < reads.size() && k < kMostSteps; ++k) {
      const Access& w = flow_.accesses[writes[k]];
      std::string text = "only here " + c_.written(w) + " is assigned";
      if (served_.producers[reads[k]].size() > 1) text = "here " + c_.written(w) + " is assigned";
      if (k + 1 < reads.size()) {
        const Access& next = flow_.accesses[reads[k + 1]];
        text += ", which waits for " + c_.written(next);
      }
      c_.diagnostics.note(w.at, text);
    }
  }

  Checker& c_;
  const Flow& flow_;
  const Served& served_;
  std::vector<std::uint32_t> missing_;          // by node: reads (and the parent) not there yet
  std::vector<std::vector<AccessId>> waiting_;  // by write: reads it may serve
  std::vector<std::vector<NodeId>> children_;
  std::vector<bool> runs_, satisfied_;
  std::vector<bool> visited_ = std::vector<bool>(flow_.nodes.size());
  std::vector<NodeId> open_;
};

}  // namespace

void check_cycles(Checker& checker, const Served& served) { Cycles(checker, served).run(); }

}  // namespace tessera::compiler::analysis
