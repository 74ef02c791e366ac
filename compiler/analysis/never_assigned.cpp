// T311: a fragment is read that nothing assigns; T316: when a locator reads it.
//
// The fragments that may be assigned are taken generously (conditions that are not known hold,
// unknown indices are any), so what is left of the read ones is never assigned for sure.
#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/analysis/checker.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostCovers = 40;
constexpr std::size_t kMostProducers = 4000;

class NeverAssigned {
 public:
  explicit NeverAssigned(Checker& c) : c_(c), flow_(c.flow) {
    served_.producers.resize(flow_.accesses.size());
    served_.undecided.resize(flow_.accesses.size());
  }

  Served run() {
    for (const Name& name : flow_.names) {
      if (!name.variable->assigned) {  // said already: T301
        for (const AccessId r : name.reads) served_.undecided[r] = true;
        continue;
      }
      sort_writes(name);
      for (const AccessId r : name.reads) read(name, r);
    }
    return std::move(served_);
  }

 private:
  static bool is_point(const Access& a) {
    return !a.prefix &&
           std::all_of(a.indices.begin(), a.indices.end(), [](const Linear& i) { return i.is_constant(); });
  }
  static std::string point_key(const Access& a) {
    std::string key;
    for (const Linear& i : a.indices) key += std::to_string(i.constant) + ",";
    return key;
  }

  // Writes with constant indices are found by their indices, or by the range of the first one; then
  // those where one index is constant. The others are looked at one by one.
  void sort_writes(const Name& name) {
    points_.clear();
    by_first_.clear();
    regions_.clear();
    lines_.clear();
    telling_ = c_.telling_index(name.writes);
    for (const AccessId w : name.writes) {
      const Access& a = flow_.accesses[w];
      if (!is_point(a)) {
        const bool line = telling_ < a.indices.size() && a.indices[telling_].is_constant();
        (line ? lines_[a.indices[telling_].constant] : regions_).push_back(w);
        continue;
      }
      points_[point_key(a)].push_back(w);
      if (!a.indices.empty()) by_first_.emplace_back(a.indices[0].constant, w);
    }
    std::sort(by_first_.begin(), by_first_.end());
  }

  void undecided(AccessId r) { served_.undecided[r] = true; }

  void read(const Name& name, AccessId id) {
    const Access& r = flow_.accesses[id];
    std::vector<AccessId>& producers = served_.producers[id];
    if (c_.tired()) return undecided(id);
    if (r.prefix) return undecided(id);
    bool served = false;
    std::vector<AccessId> points;
    if (is_point(r)) {
      if (const auto it = points_.find(point_key(r)); it != points_.end()) {
        producers = it->second;
        served = true;
      }
    } else {
      points = points_near(r);
    }
    const std::vector<AccessId> near = regions_near(r);
    if (c_.tired()) return undecided(id);
    if (near.size() + points.size() > kMostProducers) return undecided(id);
    Question question(c_, r, name.node);
    if (!question.decidable) {
      producers = near;
      producers.insert(producers.end(), points.begin(), points.end());
      if (!producers.empty()) return;
    }
    std::vector<System> covers;
    bool all = served;
    for (const AccessId w : near) {
      if (question.meets(flow_.accesses[w], covers, all)) producers.push_back(w);
    }
    if (!points.empty()) point_covers(question, points, producers, covers, all);
    if (all || covers.size() > kMostCovers) return;
    if (question.uncovered(covers)) report(name, r, question, producers.empty());
  }

  std::vector<AccessId> regions_near(const Access& r) {
    std::vector<AccessId> near;
    const auto look = [&](const std::vector<AccessId>& all) {
      c_.spend(1 + static_cast<std::int64_t>(all.size() / 8));
      for (const AccessId w : all) {
        if (!c_.apart(r, flow_.accesses[w])) near.push_back(w);
      }
    };
    look(regions_);
    if (telling_ < r.indices.size() && r.indices[telling_].is_constant()) {
      const auto it = lines_.find(r.indices[telling_].constant);
      if (it != lines_.end()) look(it->second);
    } else {
      for (const auto& [index, all] : lines_) {
        if (c_.tired()) break;
        look(all);
      }
    }
    return near;
  }

  std::vector<AccessId> points_near(const Access& r) const {
    std::vector<AccessId> all;
    if (r.indices.empty()) return all;
    const Range range = range_of(flow_, r.indices[0]);
    const auto low = range.first.value_or(std::numeric_limits<std::int64_t>::min());
    const auto high = range.second.value_or(std::numeric_limits<std::int64_t>::max());
    auto it = std::lower_bound(by_first_.begin(), by_first_.end(), std::pair(low, AccessId{0}));
    for (; it != by_first_.end() && it->first <= high && all.size() <= kMostProducers; ++it) {
      if (!c_.apart(r, flow_.accesses[it->second])) all.push_back(it->second);
    }
    return all;
  }

  // Question: which fragments does a read want that no write gives?
  struct Question {
    Question(Checker& c, const Access& read, NodeId around)
        : c_(c), r(read), q(c.flow, around), domain(q.domain(read.node, Query::two)) {
      context = q.context();
      for (const Linear& i : r.indices) {
        if (q.determined(i)) {
          q.row(i, Query::two);
        } else {
          decidable = false;
        }
      }
    }

    // meets: may the write serve the read? Then what it covers is added; `all` if that is
    // everything.
    bool meets(const Access& w, std::vector<System>& covers, bool& all) {
      const Domain d = q.domain(w.node, Query::one);
      bool exact = true;
      const System equal = q.equal(w, Query::one, r, Query::two, exact);
      bool met = false;
      for (const System& pw : d.parts) {
        System s = q.empty();
        s.add(context);
        s.add(pw);
        s.add(equal);
        bool possible = false;
        for (const System& pr : domain.parts) {
          System both = s;
          both.add(pr);
          possible = possible || c_.solve(both) != Answer::no;
        }
        if (!possible) continue;
        met = true;
        System cover;
        const std::vector<bool> keep = q.given(std::numeric_limits<std::uint32_t>::max());
        if (!c_.project(s, keep, Shadow::over, cover)) {
          all = true;
        } else {
          covers.push_back(std::move(cover));
        }
      }
      return met;
    }

    bool uncovered(const std::vector<System>& covers) {
      const bool conditional = r.maybe || domain.guard != kNone;
      const std::uint32_t inner = r.maybe       ? c_.flow.nodes[r.node].depth
                                  : conditional ? c_.flow.nodes[domain.guard].depth
                                                : 0;
      std::vector<System> left, reached;
      for (const System& pr : domain.parts) {
        System s = q.empty();
        s.add(context);
        s.add(pr);
        reached.push_back(s);
        std::vector<Integer> p;
        System found;
        found.variables = 0;
        if (c_.outside(s, covers, &p, &found) != Answer::yes) continue;
        if (left.empty()) point = p;
        left.push_back(std::move(found));
      }
      if (left.empty()) return false;
      const std::vector<bool> given = q.given(inner);
      if (std::find(given.begin(), given.end(), true) == given.end()) return true;
      example = std::exchange(point, {});
      if (covers.empty()) return true;
      std::vector<System> always;
      for (const System& l : left) {
        System cover;
        if (c_.project(l, given, Shadow::under, cover)) always.push_back(std::move(cover));
      }
      return std::all_of(reached.begin(), reached.end(),
                         [&](const System& s) { return c_.outside(s, always) == Answer::no; });
    }

    Checker& c_;
    const Access& r;
    Query q;
    Domain domain;
    System context;
    bool decidable = true;
    std::vector<Integer> point;    // where it happens, when it happens for known counters
    std::vector<Integer> example;  // else, with values for what is not known
  };

  // Many single fragments of a name with one index make ranges.
  void point_covers(Question& question, const std::vector<AccessId>& points, std::vector<AccessId>& producers,
                    std::vector<System>& covers, bool& all) {
    const Access& r = question.r;
    if (r.indices.size() != 1 || !question.q.determined(r.indices[0])) {
      if (points.size() > kMostCovers) {
        all = true;
        producers.insert(producers.end(), points.begin(), points.end());
        return;
      }
      for (const AccessId w : points) {
        if (question.meets(flow_.accesses[w], covers, all)) producers.push_back(w);
      }
      return;
    }
    const Row index = question.q.row(r.indices[0], Query::two);
    for (std::size_t k = 0; k < points.size();) {
      const std::int64_t first = flow_.accesses[points[k]].indices[0].constant;
      std::int64_t last = first;
      for (; k < points.size() && flow_.accesses[points[k]].indices[0].constant <= last + 1; ++k) {
        last = flow_.accesses[points[k]].indices[0].constant;
        producers.push_back(points[k]);
      }
      System cover;
      Row low = index, high = index;
      low.c -= first;
      for (Integer& a : high.a) a = -a;
      high.c = last - high.c;
      cover.positive = {low, high};
      covers.push_back(std::move(cover));
    }
  }

  // Which one, for some values of what is not known: "; for example `x[3]` when n = 3, i = 3".
  std::string for_example(const Name& name, const Access& r, const Question& question) {
    if (question.example.empty() || !question.decidable || r.maybe) return "";
    std::string when = question.q.unknowns(question.example);
    const std::string counters = c_.when(r.node, name.node, question.q, Query::two, question.example);
    if (when.empty() || counters.empty()) return "";
    return "; for example " + c_.element(r, question.q, Query::two, question.example) + " when " + when + ", " +
           counters;
  }

  // One element, for some values of what is not known, for example these: " when n = 1".
  std::string only_when(const Name& name, const Access& r, const Question& question) {
    if (name.writes.empty() || question.example.empty() || !question.decidable || r.maybe) return "";
    if (!c_.when(r.node, name.node, question.q, Query::two, question.example).empty()) return "";
    const std::string when = question.q.unknowns(question.example);
    return when.empty() ? "" : ", for example when " + when + ",";
  }

  void report(const Name& name, const Access& r, const Question& question, bool nothing) {
    if (r.request && !nothing) return;
    const char* code = r.locator ? "T316" : "T311";
    if (!c_.fresh(code, r.at, r.at)) return;
    const bool known = !question.point.empty() && question.decidable;
    const std::string element = known ? c_.element(r, question.q, Query::two, question.point) : c_.written(r);
    const bool varies =
        std::any_of(r.indices.begin(), r.indices.end(), [](const Linear& i) { return !i.is_constant(); });
    const std::string when = known && varies ? c_.when(r.node, name.node, question.q, Query::two, question.point) : "";
    const bool error = !r.maybe && !r.request && c_.sure(r.node);
    std::string text = "data fragment " + element;
    if (r.locator) {
      text = "the locator depends on " + element + ", which is never assigned";
    } else if (r.request) {
      text += " is requested here but never assigned";
    } else {
      text += " is read here but" + only_when(name, r, question) + " never assigned";
    }
    c_.report(error, code, r.at, text + (when.empty() ? "" : " (when " + when + ")") + for_example(name, r, question));
    c_.calls(r.node, name.node);
    c_.diagnostics.note(name.variable->at,
                        name.writes.empty() ? "it is declared here; nothing gives it a value" : "it is declared here");
    for (std::size_t k = 0; k < name.writes.size() && k < 2; ++k) {
      const Access& w = flow_.accesses[name.writes[k]];
      c_.diagnostics.note(w.at, "here " + c_.written(w) + " is assigned");
    }
  }

  Checker& c_;
  const Flow& flow_;
  Served served_;
  std::unordered_map<std::string, std::vector<AccessId>> points_;
  std::vector<std::pair<std::int64_t, AccessId>> by_first_;
  std::map<std::int64_t, std::vector<AccessId>> lines_;  // one index, the telling one, is constant
  std::vector<AccessId> regions_;
  std::size_t telling_ = 0;
};

}  // namespace

Served check_never_assigned(Checker& checker) { return NeverAssigned(checker).run(); }

}  // namespace tessera::compiler::analysis
