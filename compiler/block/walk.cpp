#include "compiler/block/walk.hpp"

#include <algorithm>

#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;

// What is asked at every creation of a fragment is to stay small; a larger condition is not asked.
constexpr std::uint32_t kMostWalked = 64;

ExprPtr both(const ExprPtr& a, const ExprPtr& b) { return a == nullptr ? b : binary(syntax::Operator::land, a, b); }

ExprPtr negation(const ExprPtr& a) {
  return choice(a, semantics::make_integer(0, a->at), semantics::make_integer(1, a->at));
}

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
  for (NameUse& n : s.holds) visit_name(n, v);
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
  copy->size = 1;
  for (ExprPtr& k : copy->kids) {
    ExprPtr other = rewrite(k, f);
    changed = changed || other != k;
    k = std::move(other);
    copy->reads = copy->reads || k->reads;
    copy->size += k->size;
  }
  if (e->kind == semantics::Expr::Kind::read) {
    for (ExprPtr& i : copy->name.indices) {
      ExprPtr other = rewrite(i, f);
      changed = changed || other != i;
      i = std::move(other);
      copy->size += i->size;
    }
  }
  if (!changed) return e;
  return copy;
}

ExprPtr binary(syntax::Operator op, const ExprPtr& a, const ExprPtr& b) {
  auto e = std::make_shared<Expr>();
  e->kind = Expr::Kind::binary;
  e->op = op;
  e->at = a->at;
  e->size = a->size + b->size + 1;
  e->kids = {a, b};
  return e;
}

ExprPtr choice(const ExprPtr& condition, const ExprPtr& yes, const ExprPtr& no) {
  auto e = std::make_shared<Expr>();
  e->kind = Expr::Kind::choice;
  e->at = condition->at;
  e->size = condition->size + yes->size + no->size + 1;
  e->kids = {condition, yes, no};
  return e;
}

bool equal(const ExprPtr& a, const ExprPtr& b) {
  if (a->kind == Expr::Kind::read) return false;
  return a->kind == b->kind && a->type == b->type && a->integer == b->integer && a->text == b->text &&
         a->variable == b->variable && a->op == b->op &&
         std::equal(a->kids.begin(), a->kids.end(), b->kids.begin(), b->kids.end(), equal);
}

void reads_in(const ExprPtr& e, const std::function<void(const ExprPtr&)>& f) {
  if (e == nullptr || !e->reads) return;
  if (e->kind == semantics::Expr::Kind::read) {
    f(e);
    for (const ExprPtr& i : e->name.indices) reads_in(i, f);
  }
  for (const ExprPtr& k : e->kids) reads_in(k, f);
}

ExprPtr either(const ExprPtr& a, const ExprPtr& b) {
  if (a == nullptr || b == nullptr || a->size + b->size >= kMostWalked) return nullptr;
  return semantics::key(*a) == semantics::key(*b) ? a : binary(syntax::Operator::lor, a, b);
}

void needed_reads(const ExprPtr& e, const OnNeeded& f, const ExprPtr& when) {
  if (e == nullptr || !e->reads) return;
  if (e->kind == Expr::Kind::read) {
    const ExprPtr needed = e->name.base->counted ? nullptr : when;
    f(e, needed);
    for (const ExprPtr& i : e->name.indices) needed_reads(i, f, needed);
  }
  const bool choice = e->kind == Expr::Kind::choice;
  const bool logic = e->kind == Expr::Kind::binary && syntax::is_logic(e->op);
  const bool decided =
      (choice || logic) && !e->kids[0]->reads && e->kids[0]->size + (when == nullptr ? 0 : when->size) < kMostWalked;
  for (std::size_t k = 0; k < e->kids.size(); ++k) {
    ExprPtr needed = when;
    if (decided && k > 0) {
      const bool if_true = choice ? k == 1 : e->op == syntax::Operator::land;
      needed = both(when, if_true ? e->kids[0] : negation(e->kids[0]));
    }
    needed_reads(e->kids[k], f, needed);
  }
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
