#include <algorithm>

#include "compiler/analysis/flow_builder.hpp"

namespace tessera::compiler::analysis {
namespace {

using semantics::Expr;
using semantics::NameUse;
using semantics::ParameterType;
using semantics::Sub;
using Kind = Node::Kind;

constexpr std::uint32_t kDeepest = 400;

class Builder {
 public:
  Builder(const semantics::Model& model, std::size_t limit) : values_(flow_, model.variables.size()), limit_(limit) {
    for (const Sub& s : model.subs) size_of(&s);
    flow_.nodes.emplace_back();
    flow_.nodes[0].at = model.main->at;
    for (const auto* p : model.main->parameters) {
      values_.bind(p, {linear_symbol(values_.unknown(p->name)), p->letter == 'i' || p->letter == 'l'});
    }
    if (model.ranks != nullptr) {
      const Symbol ranks = values_.unknown(model.ranks->name);
      flow_.symbols[ranks].least = 1;
      values_.bind(model.ranks, {linear_symbol(ranks), true});
    }
    following_[model.main] = true;
    body(model.main->body, 0);
  }

  Flow take() { return std::move(flow_); }

 private:
  // size_of counts the statements a call of the sub stands for (a recursive call for none).
  std::size_t size_of(const Sub* s) {
    const auto [it, fresh] = sizes_.try_emplace(s, 0);
    if (!fresh) return it->second;
    const std::size_t n = statements(s->body);
    return sizes_[s] = n;
  }
  std::size_t statements(const semantics::Body& b) {
    std::size_t n = 0;
    for (const auto& s : b.statements) {
      n += 2;
      if (const auto* c = std::get_if<semantics::Call>(&s.node)) {
        if (c->sub != nullptr) n += size_of(c->sub);
      } else if (const auto* f = std::get_if<semantics::For>(&s.node)) {
        n += statements(*f->body);
      } else if (const auto* w = std::get_if<semantics::While>(&s.node)) {
        n += statements(*w->body);
      } else if (const auto* i = std::get_if<semantics::If>(&s.node)) {
        n += statements(*i->body);
      }
      n = std::min<std::size_t>(n, 1u << 30);
    }
    return n;
  }

  NodeId node(Kind kind, NodeId parent, Extent at) {
    Node n;
    n.kind = kind;
    n.parent = parent;
    n.depth = flow_.nodes[parent].depth + 1;
    n.at = at;
    flow_.nodes.push_back(std::move(n));
    return static_cast<NodeId>(flow_.nodes.size() - 1);
  }

  // access records one; nothing of code that never runs but that the name is mentioned.
  AccessId access(Access::Kind kind, NodeId owner, NodeId where, const NameUse& use) {
    auto ref = values_.resolve(use);
    Name& name = flow_.names[ref.name];
    name.read = name.read || kind == Access::Kind::read;
    name.written = name.written || kind == Access::Kind::write;
    if (dead_) return kNone;
    Access a;
    a.kind = kind;
    a.owner = owner;
    a.node = where;
    a.name = ref.name;
    a.indices = std::move(ref.prefix);
    a.at = use.at;
    const auto id = static_cast<AccessId>(flow_.accesses.size());
    flow_.accesses.push_back(std::move(a));
    (kind == Access::Kind::read    ? name.reads
     : kind == Access::Kind::write ? name.writes
     : kind == Access::Kind::free  ? name.frees
                                   : name.counts)
        .push_back(id);
    return id;
  }

  void read(const NameUse& use, NodeId owner, NodeId where, bool maybe, bool locator = false) {
    indices(use, owner, where, maybe, locator);
    const AccessId id = access(Access::Kind::read, owner, where, use);
    if (id == kNone) return;
    flow_.accesses[id].maybe = maybe;
    flow_.accesses[id].locator = locator;
    flow_.nodes[owner].needs.push_back(id);
  }
  void indices(const NameUse& use, NodeId owner, NodeId where, bool maybe = false, bool locator = false) {
    for (const auto& i : use.indices) reads(*i, owner, where, maybe, locator);
  }

  // reads records what an expression reads. The parts of `?:`, `&&` and `||` that need not be evaluated are read
  // perhaps, and only where the first one says so, as far as that is known.
  void reads(const Expr& e, NodeId owner, NodeId where, bool maybe = false, bool locator = false) {
    if (!e.reads) return;
    if (e.kind == Expr::Kind::read) read(e.name, owner, where, maybe, locator);
    const bool choice = e.kind == Expr::Kind::choice, logic = e.kind == Expr::Kind::binary && syntax::is_logic(e.op);
    if (!choice && !logic) {
      for (const auto& kid : e.kids) reads(*kid, owner, where, maybe, locator);
      return;
    }
    const Values::Keeping keeping(values_);
    reads(*e.kids[0], owner, where, maybe, locator);
    const Condition holds = values_.condition(*e.kids[0]);
    reads_when(e.op == syntax::Operator::lor ? negated(holds) : holds, *e.kids[1], owner, where, locator);
    if (choice) reads_when(negated(holds), *e.kids[2], owner, where, locator);
  }
  void reads_when(Condition holds, const Expr& e, NodeId owner, NodeId where, bool locator) {
    if (!e.reads) return;
    const bool outer = dead_;
    dead_ = dead_ || holds.kind == Condition::Kind::never;
    if (!holds.alternatives.empty()) {
      where = node(Kind::branch, where, e.at);
      flow_.nodes[where].condition = std::move(holds.alternatives);
    }
    reads(e, owner, where, true, locator);
    dead_ = outer;
  }

  void write(const NameUse& use, NodeId owner, std::vector<AccessId> Node::*list) {
    indices(use, owner, owner);
    const AccessId id = access(Access::Kind::write, owner, owner, use);
    if (id != kNone) (flow_.nodes[owner].*list).push_back(id);
  }

  // used: a count of reads wants what it mentions, though nothing waits for that here.
  void used(const Expr& e) {
    if (!e.reads) return;
    if (e.kind == Expr::Kind::read) flow_.names[values_.resolve(e.name).name].read = true;
    for (const auto& k : e.kids) used(*k);
  }

  void counts(const std::vector<semantics::ReadCount>& all, NodeId owner) {
    for (const auto& c : all) {
      used(*c.count);
      const Linear n = values_.integer(*c.count);
      const AccessId id = access(Access::Kind::count, owner, owner, c.name);
      if (id != kNone) flow_.accesses[id].count = n.is_constant() ? n.constant : -1;
    }
  }

  void advice(const semantics::CallAdvice& a, NodeId n, NodeId where) {
    if (a.locator != nullptr) reads(*a.locator, n, where, false, true);
    counts(a.counts, where);
    for (const NameUse& use : a.requests) {
      const AccessId id = access(Access::Kind::read, n, where, use);
      if (id == kNone) continue;
      flow_.accesses[id].request = true;
      flow_.nodes[n].needs.push_back(id);
    }
    for (const NameUse& use : a.deletes) {
      indices(use, n, where, true);
      const AccessId id = access(Access::Kind::free, n, where, use);
      if (id != kNone) flow_.nodes[n].deletes.push_back(id);
    }
  }

  void kernel(const semantics::Call& c, NodeId parent, Extent at) {
    const NodeId n = node(Kind::kernel, parent, at);
    flow_.nodes[n].callee = &c.kernel->name;
    for (const auto& a : c.arguments) {
      if (a.type == ParameterType::name) {
        write(a.name, n, &Node::writes);
      } else {
        reads(*a.value, n, n);
      }
    }
    for (const NameUse& use : c.done) write(use, n, &Node::writes);
    advice(c.advice, n, n);
  }

  void sub(const semantics::Call& c, NodeId parent, Extent at) {
    const bool follow =
        !following_[c.sub] && flow_.nodes.size() + size_of(c.sub) <= limit_ && flow_.nodes[parent].depth < kDeepest;
    const NodeId n = node(follow ? Kind::sub : Kind::unknown_sub, parent, at);
    flow_.nodes[n].callee = &c.sub->name;
    for (const auto& a : c.arguments) {
      if (a.type == ParameterType::name) {
        indices(a.name, n, n);
      } else {
        reads(*a.value, n, n);
      }
    }
    for (const NameUse& use : c.done) write(use, n, &Node::done);
    advice(c.advice, n, n);
    if (!follow) {
      unknown(c, n);
      return;
    }
    std::vector<Value> given(c.arguments.size());
    std::vector<Values::NameRef> names(c.arguments.size());
    for (std::size_t k = 0; k < c.arguments.size(); ++k) {
      const auto& a = c.arguments[k];
      if (a.type == ParameterType::name) {
        names[k] = values_.resolve(a.name);
      } else {
        given[k] = values_.passed(a);
      }
    }
    for (std::size_t k = 0; k < c.arguments.size(); ++k) {
      const auto* p = c.sub->parameters[k];
      if (p->is_name()) {
        values_.bind(p, std::move(names[k]));
      } else {
        values_.bind(p, std::move(given[k]));
      }
    }
    following_[c.sub] = true;
    body(c.sub->body, n);
    following_[c.sub] = false;
  }

  // A call that is not followed may assign and read anything of the names it gets.
  void unknown(const semantics::Call& c, NodeId n) {
    for (const auto& a : c.arguments) {
      if (a.type != ParameterType::name) continue;
      const AccessId id = access(Access::Kind::write, n, n, a.name);
      Name& name = flow_.names[values_.resolve(a.name).name];
      name.read = true;
      flow_.nodes[n].passed.push_back(values_.resolve(a.name).name);
      if (id == kNone) continue;
      flow_.accesses[id].prefix = true;
      flow_.accesses[id].maybe = true;
      flow_.nodes[n].writes.push_back(id);
    }
  }

  void range(const semantics::For& f, NodeId parent, Extent at) {
    const NodeId n = node(Kind::range, parent, at);
    reads(*f.first, n, parent);
    reads(*f.last, n, parent);
    const Linear first = values_.integer(*f.first);
    const Linear last = values_.integer(*f.last);
    const Symbol counter = values_.counter(n, f.counter->name, first, &last);
    values_.bind(f.counter, {linear_symbol(counter), true});
    flow_.nodes[n].counter = counter;
    flow_.nodes[n].first = first;
    flow_.nodes[n].last = last;
    const bool empty = first.is_constant() && last.is_constant() && last.constant < first.constant;
    inside(*f.body, n, empty);
  }

  void loop(const semantics::While& w, NodeId parent, Extent at) {
    const NodeId whole = node(Kind::loop, parent, at);
    reads(*w.start, whole, whole);
    const Linear start = values_.integer(*w.start);
    values_.bind(w.counter, {start, true});
    reads(*w.condition, whole, whole);
    const bool never = values_.condition(*w.condition).kind == Condition::Kind::never;
    write(w.out, whole, &Node::writes);
    const NodeId n = node(Kind::iteration, whole, at);
    const Symbol counter = values_.counter(n, w.counter->name, start, nullptr);
    flow_.nodes[n].counter = counter;
    flow_.nodes[n].first = start;
    values_.bind(w.counter, {linear_symbol(counter), true});
    const bool outer = dead_;
    dead_ = dead_ || never;
    reads(*w.condition, n, n);
    dead_ = outer;
    inside(*w.body, n, never);
  }

  void branch(const semantics::If& i, NodeId parent, Extent at) {
    const NodeId n = node(Kind::branch, parent, at);
    reads(*i.condition, n, parent);
    Condition c = values_.condition(*i.condition);
    flow_.nodes[n].condition = std::move(c.alternatives);
    if (c.kind == Condition::Kind::unknown) {
      flow_.nodes[n].of_values = values_.necessary(*i.condition);
      const Linear l = values_.value(*i.condition).linear;
      flow_.nodes[n].condition_key = key(l);
      flow_.nodes[n].condition_depth = flow_.nodes[deepest_node(flow_, l)].depth;
    }
    inside(*i.body, n, c.kind == Condition::Kind::never);
  }

  void inside(const semantics::Body& b, NodeId n, bool never) {
    const bool outer = dead_;
    dead_ = dead_ || never;
    body(b, n);
    dead_ = outer;
  }

  void body(const semantics::Body& b, NodeId n) {
    for (const auto* v : b.names) {
      values_.bind(v, Values::NameRef{static_cast<NameId>(flow_.names.size()), {}});
      flow_.names.emplace_back();
      flow_.names.back().variable = v;
      flow_.names.back().node = n;
    }
    counts(b.counts, n);
    for (const auto& s : b.statements) {
      if (const auto* c = std::get_if<semantics::Call>(&s.node)) {
        if (c->kernel != nullptr) {
          kernel(*c, n, s.at);
        } else {
          sub(*c, n, s.at);
        }
      } else if (const auto* f = std::get_if<semantics::For>(&s.node)) {
        range(*f, n, s.at);
      } else if (const auto* w = std::get_if<semantics::While>(&s.node)) {
        loop(*w, n, s.at);
      } else if (const auto* i = std::get_if<semantics::If>(&s.node)) {
        branch(*i, n, s.at);
      }
    }
  }

  Flow flow_;
  Values values_;
  std::size_t limit_;
  bool dead_ = false;  // in code that never runs
  std::unordered_map<const Sub*, std::size_t> sizes_;
  std::unordered_map<const Sub*, bool> following_;
};

}  // namespace

Flow build_flow(const semantics::Model& model, std::size_t limit) { return Builder(model, limit).take(); }

}  // namespace tessera::compiler::analysis
