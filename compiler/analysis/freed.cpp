// T313: a fragment is read after `delete` or `-->` has freed it; T314: nothing orders the two.
//
// Statements have no order of their own; only data orders them. So a reader is known to come after
// when it waits for something that only the deleting call (or what comes after it) assigns; it is
// known to race when no chain of data leads from it to the deleting call. Both are warnings: a
// reader may get hold of the fragment before it can run. Loops beside the deleting call are no race: it waits for them.
#include <algorithm>

#include "compiler/analysis/checker.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostLooks = 64;

class Freed {
 public:
  Freed(Checker& c, const Served& served) : c_(c), flow_(c.flow), served_(served) {}

  void run() {
    for (const Name& name : flow_.names) {
      for (const AccessId d : name.frees) {
        for (const AccessId r : name.reads) {
          if (c_.tired()) return;
          c_.spend(1);
          pair(name, flow_.accesses[d], flow_.accesses[r]);
        }
      }
    }
  }

 private:
  void pair(const Name& name, const Access& d, const Access& r) {
    if (r.maybe || r.request || r.locator || c_.apart(d, r)) return;
    // What is under the call that deletes has finished before.
    if (flow_.within(r.owner, d.owner) && r.owner != d.owner) return;
    const bool same = r.owner == d.owner;
    if (!meets(name, d, r, same)) return;
    std::vector<NodeId> looked_at;
    const bool after =
        !same && d.indices == r.indices && waits(r.owner, d.owner, flow_.nodes[d.owner].parent, looked_at);
    if (!same && !after && in_own_loop(r.owner, d.owner)) return;
    if (same || after || !may_come_before(r.owner, d.owner)) report(name, d, r, after);
  }

  // in_own_loop: stands the reader in a `for` that is not around the deleting call? That is waited for.
  bool in_own_loop(NodeId reader, NodeId deleting) const {
    for (NodeId k = reader; !flow_.within(deleting, k); k = flow_.nodes[k].parent) {
      if (flow_.nodes[k].kind == Node::Kind::range) return true;
    }
    return false;
  }

  // meets: whenever both run, some instances have the same fragment (other ones than themselves,
  // for the same call).
  bool meets(const Name& name, const Access& d, const Access& r, bool same) {
    Query q(flow_, name.node);
    const Domain dd = q.domain(d.node, Query::one);
    const Domain dr = q.domain(r.node, Query::two);
    // One of the two may stand under a condition: whenever it runs, it meets the other.
    if (!dd.guards.empty() && !dr.guards.empty()) return false;
    if (!dd.guards.empty() && in_loop(d.node, name.node)) return false;
    if (!dr.guards.empty() && in_loop(r.node, name.node)) return false;
    bool exact = true;
    const System equal = q.equal(d, Query::one, r, Query::two, exact);
    if (!exact) return false;
    const System context = q.context();
    std::vector<Row> different;  // one counter at a time
    if (same) {
      for (NodeId n = d.node; n != name.node; n = flow_.nodes[n].parent) {
        if (flow_.nodes[n].counter == kNone) continue;
        Row row = q.row(linear_symbol(flow_.nodes[n].counter), Query::one);
        row.ref(q.variable(flow_.nodes[n].counter, Query::two)) -= 1;
        row.c -= 1;
        different.push_back(row);
      }
      if (different.empty()) return false;
    }
    const std::vector<bool> given = q.given();
    if (std::find(given.begin(), given.end(), true) != given.end()) return false;
    for (const System& pd : dd.parts) {
      for (const System& pr : dr.parts) {
        System s = q.empty();
        s.add(context);
        s.add(pd);
        s.add(pr);
        s.add(equal);
        if (!same && c_.solve(s) == Answer::yes) return true;
        for (const Row& row : different) {
          System ordered = s;
          ordered.positive.push_back(row);
          if (c_.solve(ordered) == Answer::yes) return true;
        }
      }
    }
    return false;
  }

  bool in_loop(NodeId k, NodeId around) const {
    for (; k != around; k = flow_.nodes[k].parent) {
      if (flow_.nodes[k].counter != kNone) return true;
    }
    return false;
  }

  // waits: does node k wait for something that only the deleting call assigns, or another node that
  // does? Only inside one body, and for equal indices, so that the instances belong together.
  bool waits(NodeId k, NodeId deleting, NodeId around, std::vector<NodeId>& looked_at) {
    if (!flow_.within(k, around)) return false;
    for (; k != around; k = flow_.nodes[k].parent) {
      if (flow_.nodes[k].counter != kNone) return false;
      if (std::find(looked_at.begin(), looked_at.end(), k) != looked_at.end()) return false;
      if (looked_at.size() > kMostLooks) return false;
      looked_at.push_back(k);
      for (const AccessId id : flow_.nodes[k].needs) {
        const Access& r = flow_.accesses[id];
        const auto& all = served_.producers[id];
        if (r.maybe || served_.undecided[id] || all.size() != 1) continue;
        const Access& w = flow_.accesses[all[0]];
        if (w.prefix || w.indices != r.indices) continue;
        if (w.owner == deleting || waits(w.owner, deleting, around, looked_at)) return true;
      }
    }
    return false;
  }

  // may_come_before: does some chain of data lead from what `from` assigns to the start of `to`?
  bool may_come_before(NodeId from, NodeId to) {
    readers();
    if (++visit_ == 0) return true;
    std::vector<NodeId> open;
    const auto reach = [&](NodeId k) {
      if (seen_[k] == visit_) return;
      seen_[k] = visit_;
      open.push_back(k);
    };
    reach(from);
    while (!open.empty()) {
      const NodeId k = open.back();
      open.pop_back();
      c_.spend(1);
      if (c_.tired() || k == to) return true;
      for (const NodeId child : children_[k]) reach(child);
      for (const AccessId w : flow_.nodes[k].writes) serve(w, reach);
      for (NodeId up = k; up != 0; up = flow_.nodes[up].parent) {  // the end of calls around it
        for (const AccessId w : flow_.nodes[up].done) serve(w, reach);
        if (up == to) return true;  // it deletes when what is under it has finished
      }
      for (const NameId n : flow_.nodes[k].passed) {
        for (const AccessId r : flow_.names[n].reads) reach(flow_.accesses[r].owner);
      }
    }
    return false;
  }

  template <class Reach>
  void serve(AccessId w, const Reach& reach) {
    const Access& a = flow_.accesses[w];
    for (const AccessId r : flow_.names[a.name].reads) {
      const auto& all = served_.producers[r];
      if (served_.undecided[r] || std::find(all.begin(), all.end(), w) != all.end()) {
        reach(flow_.accesses[r].owner);
      }
    }
    for (const NodeId k : passed_to_[a.name]) reach(k);
  }

  void readers() {
    if (!children_.empty()) return;
    children_.resize(flow_.nodes.size());
    seen_.resize(flow_.nodes.size());
    passed_to_.resize(flow_.names.size());
    for (NodeId k = 1; k < flow_.nodes.size(); ++k) {
      children_[flow_.nodes[k].parent].push_back(k);
      for (const NameId n : flow_.nodes[k].passed) passed_to_[n].push_back(k);
    }
  }

  void report(const Name& name, const Access& d, const Access& r, bool after) {
    const char* code = after ? "T313" : "T314";
    if (!c_.fresh(code, d.at, flow_.nodes[r.owner].at)) return;
    const std::string element = "data fragment " + c_.written(r);
    if (after) {
      c_.report(false, code, r.at, element + " is read here after it was deleted");
    } else if (d.owner == r.owner) {
      c_.report(false, code, r.at, element + " is deleted by one iteration and read by another");
    } else {
      c_.report(false, code, r.at, element + " may be deleted before it is read here: nothing orders the two");
    }
    c_.calls(r.node, name.node);
    if (d.owner != r.owner) c_.diagnostics.note(d.at, "it is deleted here");
  }

  Checker& c_;
  const Flow& flow_;
  const Served& served_;
  std::vector<std::vector<NodeId>> children_;
  std::vector<std::vector<NodeId>> passed_to_;  // by name
  std::vector<std::uint32_t> seen_;
  std::uint32_t visit_ = 0;
};

}  // namespace

void check_freed(Checker& checker, const Served& served) { Freed(checker, served).run(); }

}  // namespace tessera::compiler::analysis
