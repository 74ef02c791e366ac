#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

void visit_expr(ExprPtr& e, const Visitor& v) {
  if (e != nullptr && v.expr) v.expr(e);
}
void visit_name(NameUse& n, const Visitor& v) {
  if (v.name) v.name(n);
}

}  // namespace

void visit(semantics::Argument& a, const Visitor& v) {
  if (a.type == semantics::ParameterType::name) {
    visit_name(a.name, v);
  } else {
    visit_expr(a.value, v);
  }
}

void visit(Block& b, const Visitor& v) {
  for (Set& s : b.sets) visit_expr(s.value, v);
  visit_expr(b.locate, v);
  if (b.call) {
    for (semantics::Argument& a : b.call->arguments) visit(a, v);
  }
  visit_expr(b.condition, v);
  for (semantics::ReadCount& c : b.counts) {
    visit_name(c.name, v);
    visit_expr(c.count, v);
  }
  for (NameUse& n : b.out) visit_name(n, v);
  for (NameUse& n : b.done) visit_name(n, v);
  for (NameUse& n : b.deletes) visit_name(n, v);
  // An eval block's body holds what its own inputs feed.
  if (b.kind == Kind::eval && b.body) {
    for (Step& s : b.body->steps) {
      if (auto* spawn = std::get_if<Spawn>(&s)) visit(*spawn, v);
      if (auto* c = std::get_if<CountReads>(&s)) {
        visit_name(c->name, v);
        visit_expr(c->count, v);
      }
    }
  }
}

void visit(Spawn& s, const Visitor& v) {
  for (semantics::Argument& a : s.arguments) visit(a, v);
  for (NameUse& n : s.done) visit_name(n, v);
  for (NameUse& n : s.deletes) visit_name(n, v);
  for (semantics::ReadCount& c : s.counts) {
    visit_name(c.name, v);
    visit_expr(c.count, v);
  }
  visit_expr(s.locator, v);
}

void for_each_chain(Body& body, const std::function<void(Chain&)>& f) {
  for (Step& step : body.steps) {
    if (auto* spawn = std::get_if<Spawn>(&step)) {
      if (spawn->owned == nullptr) continue;
      Chain& chain = *spawn->owned;
      f(chain);
      for (auto& b : chain.blocks) {
        if (b->body) for_each_chain(*b->body, f);
      }
    } else if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
      for_each_chain((*when)->body, f);
    }
  }
}

void for_each_chain(Program& program, const std::function<void(Chain&)>& f) {
  for (auto& sub : program.subs) {
    f(*sub);
    for (auto& b : sub->blocks) {
      if (b->body) for_each_chain(*b->body, f);
    }
  }
}

NameUse rewrite(const NameUse& name, const std::function<ExprPtr(const ExprPtr&)>& f) {
  NameUse out = name;
  for (ExprPtr& i : out.indices) i = rewrite(i, f);
  return out;
}

ExprPtr rewrite(const ExprPtr& e, const std::function<ExprPtr(const ExprPtr&)>& f) {
  if (ExprPtr other = f(e)) return other;
  if (e->kids.empty() && e->kind != semantics::Expr::Kind::read) return e;
  auto copy = std::make_shared<semantics::Expr>(*e);
  bool changed = false;
  copy->reads = e->kind == semantics::Expr::Kind::read;
  for (ExprPtr& k : copy->kids) {
    ExprPtr other = rewrite(k, f);
    changed = changed || other != k;
    k = std::move(other);
    copy->reads = copy->reads || k->reads;
  }
  if (e->kind == semantics::Expr::Kind::read) {
    for (ExprPtr& i : copy->name.indices) {
      ExprPtr other = rewrite(i, f);
      changed = changed || other != i;
      i = std::move(other);
    }
  }
  if (!changed) return e;
  return copy;
}

void reads_in(const ExprPtr& e, const std::function<void(const ExprPtr&)>& f) {
  if (e == nullptr || !e->reads) return;
  if (e->kind == semantics::Expr::Kind::read) {
    f(e);
    for (const ExprPtr& i : e->name.indices) reads_in(i, f);
  }
  for (const ExprPtr& k : e->kids) reads_in(k, f);
}

bool indices_read(const NameUse& name) {
  for (const ExprPtr& i : name.indices) {
    if (i->reads) return true;
  }
  return false;
}

bool argument_reads(const semantics::Argument& a) {
  if (a.type == semantics::ParameterType::name) return indices_read(a.name);
  return a.value->reads;
}

}  // namespace tessera::compiler::block
