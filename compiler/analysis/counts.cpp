// T315: more reads of a fragment than its `req_count` allows. Counted are reads that happen for
// sure, each statement once for each of its instances.
#include <algorithm>

#include "compiler/analysis/checker.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::int64_t kMostReads = 64;

class Counts {
 public:
  explicit Counts(Checker& c) : c_(c), flow_(c.flow) {}

  void run() {
    for (const Name& name : flow_.names) {
      for (const AccessId id : name.counts) {
        const Access& count = flow_.accesses[id];
        if (count.count >= 0 && count.count < kMostReads && !c_.tired()) check(name, count);
      }
    }
  }

 private:
  struct Place {
    NodeId owner;
    Extent at;
  };

  // check counts the reads of one of the fragments the advice is about: the one of some iteration.
  void check(const Name& name, const Access& count) {
    Query q(flow_, name.node);
    const Domain d = q.domain(count.node, Query::one);
    const System context = q.context();
    for (const Linear& i : count.indices) {
      if (q.determined(i)) q.row(i, Query::one);
    }
    System s = q.empty();  // now that it has all its variables
    s.add(context);
    s.add(d.parts[0]);
    if (!determined(q, count) || !d.guards.empty() || !nothing_given(q)) return;
    std::vector<Integer> point;
    if (c_.solve(s, &point) != Answer::yes) return;
    Access fixed = count;
    for (Linear& i : fixed.indices) i = linear(q.value(i, Query::one, point));

    std::int64_t reads = 0;
    std::vector<Place> places;
    for (const AccessId id : name.reads) {
      const Access& r = flow_.accesses[id];
      if (r.maybe || r.request || r.prefix || c_.apart(r, fixed)) continue;
      if (std::any_of(places.begin(), places.end(), [&](const Place& p) { return p.owner == r.owner; })) {
        continue;
      }
      const std::int64_t n = instances(name, r, fixed, count.count + 1, q, point);
      if (n == 0) continue;
      reads += n;
      places.push_back({r.owner, r.at});
      if (reads > count.count) return report(fixed, count, places);
    }
  }

  static bool determined(const Query& q, const Access& a) {
    return std::all_of(a.indices.begin(), a.indices.end(), [&](const Linear& i) { return q.determined(i); });
  }
  static bool nothing_given(const Query& q) {
    const std::vector<bool> given = q.given();
    return std::find(given.begin(), given.end(), true) == given.end();
  }

  // instances counts those of the read that surely read the fragment, up to `most`.
  std::int64_t instances(const Name& name, const Access& r, const Access& fixed, std::int64_t most, const Query& where,
                         const std::vector<Integer>& point) {
    Query q(flow_, name.node);
    const Domain d = q.domain(r.node, Query::one);
    bool exact = true;
    const System equal = q.equal(r, Query::one, fixed, Query::two, exact);
    const System context = q.context();
    if (!exact || !d.guards.empty() || d.parts.size() != 1 || !nothing_given(q)) return 0;
    System s = q.empty();
    s.add(context);
    s.add(d.parts[0]);
    s.add(equal);
    q.same_shared(s, where, point);
    return solutions(s, 0, most);
  }

  // solutions counts up to `most`: one, and those that differ from it first in variable k, k + 1,
  // ...
  std::int64_t solutions(const System& s, std::size_t from, std::int64_t most) {
    std::vector<Integer> point;
    if (most <= 0 || c_.solve(s, &point) != Answer::yes) return 0;
    std::int64_t found = 1;
    System same = s;
    for (std::size_t k = from; k < s.variables && found < most; ++k) {
      for (const int sign : {1, -1}) {
        System other = same;
        Row row;
        row.ref(k) = sign;
        row.c = -sign * point[k] - 1;
        other.positive.push_back(std::move(row));
        found += solutions(other, k, most - found);
      }
      Row row;
      row.ref(k) = 1;
      row.c = -point[k];
      same.zero.push_back(std::move(row));
    }
    return std::min(found, most);
  }

  void report(const Access& fixed, const Access& count, const std::vector<Place>& places) {
    if (!c_.fresh("T315", count.at, count.at)) return;
    c_.report(false, "T315", count.at,
              "data fragment " + c_.element(fixed) + " is read more than " +
                  count_of(static_cast<std::size_t>(count.count), "time") + ", which is all that `req_count` allows");
    for (const Place& p : places) c_.diagnostics.note(p.at, "it is read here");
  }

  Checker& c_;
  const Flow& flow_;
};

}  // namespace

void check_counts(Checker& checker) { Counts(checker).run(); }

}  // namespace tessera::compiler::analysis
