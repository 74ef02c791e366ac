// T310: two assignments of one fragment.
//
// Two assignments meet for sure when for all values that are not ours to choose, and with which one
// of the two runs at all, some instances of both have equal indices. When one of the two stands
// under a condition that is not known, all of its instances must meet the other: then it is wrong
// whenever it runs.
#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/analysis/checker.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostSystems = 48;

class AssignedTwice {
 public:
  explicit AssignedTwice(Checker& c) : c_(c), flow_(c.flow) {}

  void run() {
    for (const Name& name : flow_.names) {
      if (c_.tired()) return;
      pairs(name);
    }
  }

 private:
  struct Meeting {
    std::string element, first, second;  // the fragment; for which counters
  };

  // pairs looks at the writes of a name in the order of one index, so that writes that are apart
  // cost no more than sorting.
  void pairs(const Name& name) {
    struct Item {
      std::int64_t low, high;
      AccessId id;
    };
    std::vector<Item> items;
    const std::size_t telling = c_.telling_index(name.writes);
    for (const AccessId id : name.writes) {
      const Access& a = flow_.accesses[id];
      if (a.maybe || a.prefix) continue;
      Range r{std::nullopt, std::nullopt};
      if (telling < a.indices.size()) r = range_of(flow_, a.indices[telling]);
      items.push_back({r.first.value_or(std::numeric_limits<std::int64_t>::min()),
                       r.second.value_or(std::numeric_limits<std::int64_t>::max()), id});
    }
    std::sort(items.begin(), items.end(),
              [](const Item& x, const Item& y) { return std::tie(x.low, x.id) < std::tie(y.low, y.id); });
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Access& a = flow_.accesses[items[i].id];
      if (a.node != name.node) pair(name, a, a);
      for (std::size_t j = i + 1; j < items.size() && items[j].low <= items[i].high; ++j) {
        const Access& b = flow_.accesses[items[j].id];
        c_.spend(1);
        if (c_.tired()) return;
        if (a.indices.size() != b.indices.size() || c_.apart(a, b)) continue;
        if (items[i].id < items[j].id) {
          pair(name, a, b);
        } else {
          pair(name, b, a);
        }
      }
    }
  }

  void pair(const Name& name, const Access& a, const Access& b) {
    const NodeId meet = common(a.node, b.node);
    if (std::max(unknown_depth(a), unknown_depth(b)) > flow_.nodes[meet].depth) return;
    c_.spend(2);
    NodeId shared = name.node;
    for (NodeId n = meet; n != name.node; n = flow_.nodes[n].parent) {
      if (open(n)) {
        shared = n;
        break;
      }
    }
    auto meeting = find(a, b, shared);
    if (!meeting && &a != &b && meet != shared) meeting = find(a, b, meet);
    if (meeting) report(name, a, b, *meeting);
  }

  // unknown_depth: the depth of the deepest node that an unknown part of the indices depends on.
  std::uint32_t unknown_depth(const Access& a) const {
    std::uint32_t depth = 0;
    for (const Linear& i : a.indices) {
      for (const auto& [s, c] : i.terms) {
        const SymbolInfo& info = flow_.symbols[s];
        if (info.kind != SymbolInfo::Kind::value) continue;
        depth = std::max(depth, flow_.nodes[info.node].depth);
      }
    }
    return depth;
  }

  bool open(NodeId n) const {
    const Node& node = flow_.nodes[n];
    return node.kind == Node::Kind::iteration || !node.condition_key.empty();
  }

  NodeId common(NodeId a, NodeId b) const {
    while (a != b) {
      NodeId& deeper = flow_.nodes[a].depth >= flow_.nodes[b].depth ? a : b;
      deeper = flow_.nodes[deeper].parent;
    }
    return a;
  }

  // unmatched: the innermost guard that has no equal among the others; kNone if all have.
  NodeId unmatched(const Domain& d, const Domain& other, NodeId shared) const {
    NodeId found = kNone;
    for (const NodeId n : d.guards) {
      const Node& node = flow_.nodes[n];
      bool matched = false;
      for (const NodeId m : other.guards) {
        matched = matched || (!node.condition_key.empty() && node.condition_key == flow_.nodes[m].condition_key &&
                              node.condition_depth <= flow_.nodes[shared].depth);
      }
      if (!matched) found = n;
    }
    return found;
  }

  std::optional<Meeting> find(const Access& a, const Access& b, NodeId shared) {
    const bool self = &a == &b;
    Query q(flow_, shared);
    const Domain da = q.domain(a.node, Query::one);
    const Domain db = q.domain(b.node, Query::two);
    const NodeId open_a = unmatched(da, self ? Domain{} : db, shared);
    const NodeId open_b = unmatched(db, self ? Domain{} : da, shared);
    if (open_a != kNone && (self || open_b != kNone)) return std::nullopt;
    if (open_a != kNone) {
      auto turned = find(b, a, shared);
      if (turned) std::swap(turned->first, turned->second);
      return turned;
    }
    bool exact = true;
    const System equal = q.equal(a, Query::one, b, Query::two, exact);
    if (!exact) return std::nullopt;
    const System context = q.context();
    std::vector<System> different(1);
    if (self) different = q.orders(a.node);
    if (da.parts.size() * db.parts.size() * different.size() > kMostSystems) return std::nullopt;

    std::vector<System> meetings, reached_a, reached_b;
    System base = q.empty();
    base.add(context);
    for (const System& pb : db.parts) {
      System with_b = base;
      with_b.add(pb);
      reached_b.push_back(with_b);
      for (const System& pa : da.parts) {
        System both = with_b;
        both.add(pa);
        both.add(equal);
        for (const System& order : different) {
          meetings.push_back(both);
          meetings.back().add(order);
        }
      }
    }
    std::vector<Integer> point;
    bool any = false;
    for (std::size_t k = 0; k < meetings.size() && !any; ++k) {
      any = c_.solve(meetings[k], &point) == Answer::yes;
    }
    if (!any) return std::nullopt;
    // Under equal conditions both run, but nobody knows in which instances of the shared node.
    const bool guarded = !da.guards.empty() || !db.guards.empty();
    const std::vector<bool> given = q.given(open_b != kNone ? flow_.nodes[open_b].depth
                                            : guarded       ? flow_.nodes[shared].depth
                                                            : 0);
    const bool all_ours = std::find(given.begin(), given.end(), true) == given.end();
    for (const System& pa : da.parts) {
      reached_a.push_back(base);
      reached_a.back().add(pa);
    }
    // It is not enough that they meet when both run: conditions may exclude each other unseen.
    const bool certain =
        all_ours || always(reached_b, meetings, given) || (open_b == kNone && always(reached_a, meetings, given));
    if (!certain) return std::nullopt;
    const NodeId around = flow_.names[a.name].node;
    if (!all_ours) return Meeting{c_.written(a), "", ""};
    return Meeting{c_.element(a, q, Query::one, point), c_.when(a.node, around, q, Query::one, point),
                   c_.when(b.node, around, q, Query::two, point)};
  }

  // always: for all given values with which some part is reached, they meet.
  bool always(const std::vector<System>& reached, const std::vector<System>& meetings, const std::vector<bool>& given) {
    std::vector<System> covers;
    for (const System& m : meetings) {
      System cover;
      if (c_.project(m, given, Shadow::under, cover)) covers.push_back(std::move(cover));
    }
    return std::all_of(reached.begin(), reached.end(),
                       [&](const System& r) { return c_.outside(r, covers) == Answer::no; });
  }

  void report(const Name& name, const Access& a, const Access& b, const Meeting& m) {
    if (!c_.fresh("T310", a.at, b.at)) return;
    const bool error = c_.sure(a.node) && c_.sure(b.node);
    const auto at = [](const std::string& when) { return when.empty() ? "" : " when " + when; };
    if (&a == &b) {
      c_.report(error, "T310", a.at,
                "data fragment " + m.element + " is assigned twice" +
                    (m.first.empty() ? ": by several iterations" : ":" + at(m.first) + ", and again" + at(m.second)));
      c_.calls(a.node, name.node);
      return;
    }
    c_.report(error, "T310", b.at,
              "data fragment " + m.element + " is assigned twice" + (m.second.empty() ? "" : ": here" + at(m.second)));
    c_.calls(b.node, name.node);
    c_.diagnostics.note(a.at, "it is also assigned here" + at(m.first));
    c_.calls(a.node, name.node);
  }

  Checker& c_;
  const Flow& flow_;
};

}  // namespace

void check_assigned_twice(Checker& checker) { AssignedTwice(checker).run(); }

}  // namespace tessera::compiler::analysis
