// The question of T310 the other way round: there it must be certain that two assignments meet, here
// that they do not. So whatever is not known (conditions, bounds, indices) is left out, which makes
// more instances than there are.
#include "compiler/analysis/assigned_once.hpp"

#include <algorithm>
#include <limits>

#include "compiler/analysis/integer_system.hpp"
#include "compiler/analysis/query.hpp"

namespace tessera::compiler::analysis {
namespace {

using semantics::Body;
using semantics::Sub;

constexpr std::int64_t kAllQuestions = 400'000;

// Calls f for each statement of the body and of those inside it, and g for each body.
template <class F, class G>
void walk(const Body& body, const F& f, const G& g) {
  g(body);
  for (const auto& s : body.statements) {
    f(s);
    if (const auto* loop = std::get_if<semantics::For>(&s.node)) walk(*loop->body, f, g);
    if (const auto* loop = std::get_if<semantics::While>(&s.node)) walk(*loop->body, f, g);
    if (const auto* branch = std::get_if<semantics::If>(&s.node)) walk(*branch->body, f, g);
  }
}

// Names declared in subs that the flow shows for the first call only: it says nothing of the others.
class NotFollowed {
 public:
  NotFollowed(const semantics::Model& model, const Flow& flow) {
    for (const Node& n : flow.nodes) {
      if (n.kind != Node::Kind::unknown_sub) continue;
      for (const Sub& s : model.subs) {
        if (&s.name == n.callee) add(&s);
      }
    }
  }
  bool has(const semantics::Variable* v) const { return names_.count(v) != 0; }

 private:
  void add(const Sub* sub) {
    if (!subs_.insert(sub).second) return;
    walk(
        sub->body,
        [&](const semantics::Statement& s) {
          const auto* call = std::get_if<semantics::Call>(&s.node);
          if (call != nullptr && call->sub != nullptr) add(call->sub);
        },
        [&](const Body& b) { names_.insert(b.names.begin(), b.names.end()); });
  }

  std::unordered_set<const Sub*> subs_;
  Names names_;
};

class Prover {
 public:
  explicit Prover(const Flow& flow) : flow_(flow) {}

  bool once(const Name& name) {
    struct Item {
      std::int64_t low, high;
      const Access* access;
    };
    std::vector<Item> items;
    for (const AccessId id : name.writes) {
      const Access& a = flow_.accesses[id];
      if (a.prefix || a.maybe) return false;
      Range r{std::nullopt, std::nullopt};
      if (!a.indices.empty()) r = range_of(flow_, a.indices[0]);
      items.push_back({r.first.value_or(std::numeric_limits<std::int64_t>::min()),
                       r.second.value_or(std::numeric_limits<std::int64_t>::max()), &a});
    }
    std::sort(items.begin(), items.end(), [](const Item& x, const Item& y) { return x.low < y.low; });
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!apart(name, *items[i].access, *items[i].access)) return false;
      for (std::size_t j = i + 1; j < items.size() && items[j].low <= items[i].high; ++j) {
        if (!apart(name, *items[i].access, *items[j].access)) return false;
      }
    }
    return true;
  }

 private:
  bool apart(const Name& name, const Access& a, const Access& b) {
    const bool self = &a == &b;
    if (self && a.node == name.node) return true;
    if ((left_ -= 2) <= 0) return false;
    if (!self && a.indices.size() != b.indices.size()) return true;
    Query q(flow_, name.node, true);
    const Domain da = q.domain(a.node, Query::one);
    const Domain db = q.domain(b.node, Query::two);
    bool exact = true;
    const System equal = q.equal(a, Query::one, b, Query::two, exact);
    const System context = q.context();
    std::vector<System> different(1);
    if (self) different = q.orders(a.node);
    for (const System& pa : da.parts) {
      for (const System& pb : db.parts) {
        for (const System& order : different) {
          System s = q.empty();
          for (const System* part : {&context, &pa, &pb, &equal, &order}) s.add(*part);
          if (solve(s) != Answer::no && (self || solve(same_values(q, s)) != Answer::no)) return false;
        }
      }
    }
    return true;
  }

  // And that a value which nobody knows is the same for both, where both must belong to one instance of what it depends
  // on: `if f[i] == 0 a(x[i]); if f[i] == 1 b(x[i]);` never do both.
  System same_values(Query& q, System s) {
    for (const Symbol v : q.values_of_both()) {
      const NodeId node = flow_.symbols[v].node;
      bool one_instance = true;
      for (const auto& orders : {q.orders(node), q.orders(node, Query::two, Query::one)}) {
        for (const System& order : orders) {
          System apart = s;
          apart.add(order);
          apart.variables = std::max(apart.variables, q.variables());
          one_instance = one_instance && solve(apart) == Answer::no;
        }
      }
      if (!one_instance) continue;
      Row difference;
      difference.ref(q.variable(v, Query::one)) += 1;
      difference.ref(q.variable(v, Query::two)) -= 1;
      s.zero.push_back(std::move(difference));
    }
    s.variables = std::max(s.variables, q.variables());
    return s;
  }

  Answer solve(const System& s) {
    const std::int64_t most = std::clamp<std::int64_t>(left_, 0, kOneQuestion);
    Effort e{most};
    const Answer a = analysis::solve(s, e);
    left_ -= most - std::max<std::int64_t>(e.left, 0) + 1;
    return a;
  }

  const Flow& flow_;
  std::int64_t left_ = kAllQuestions;
};

}  // namespace

Names assigned_once(const semantics::Model& model, const Flow& flow) {
  const NotFollowed not_followed(model, flow);
  Prover prover(flow);
  Names proved, refuted;
  for (const Name& name : flow.names) {  // one for each place of the tree where the `df` stands
    if (refuted.count(name.variable) != 0 || not_followed.has(name.variable)) continue;
    if (prover.once(name)) {
      proved.insert(name.variable);
    } else {
      proved.erase(name.variable);
      refuted.insert(name.variable);
    }
  }
  return proved;
}

}  // namespace tessera::compiler::analysis
