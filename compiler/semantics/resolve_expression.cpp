// Expressions and the names in them.
#include <algorithm>

#include "compiler/semantics/expression.hpp"
#include "compiler/semantics/recorder.hpp"
#include "compiler/semantics/resolver.hpp"

namespace tessera::compiler::semantics {
namespace {

constexpr std::uint32_t kLargest = 20000;  // nodes after `let` is substituted

}  // namespace

const Resolver::Meaning* Resolver::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->find(name);
    if (it != scope->end()) return &it->second;
  }
  return nullptr;
}

void Resolver::unknown(const syntax::Word& name) {
  std::vector<std::string> visible;
  for (const Scope& scope : scopes_) {
    for (const auto& entry : scope) visible.push_back(entry.first);
  }
  std::sort(visible.begin(), visible.end());
  std::string hint = did_you_mean(name.text, visible);
  if (name.text == "ranks") hint = "; it is the number of ranks, no data fragment";
  if (name.text == "true") hint = "; true is written 1";
  if (name.text == "false") hint = "; false is written 0";
  if (is_macro_(name.text)) hint = "; the macro of this name is used as `$" + name.text + "`";
  if (hint.empty() && callee(name) != nullptr) {
    hint = "; it is a sub or kernel, not a value";
  }
  diagnostics_.error(
      "T206", name.at,
      quote(name.text) + " is not declared here" + (hint.empty() ? "; data fragments are declared by `df`" : hint));
}

// limited stops `let` from growing an expression beyond what anyone meant.
ExprPtr Resolver::limited(ExprPtr e) {
  if (e->size <= kLargest) return e;
  diagnostics_.error("T207", e->at,
                     "this expression is too large after `let` is substituted: keep a part of it "
                     "in a data fragment");
  return make_integer(0, e->at);
}

std::vector<ExprPtr> Resolver::indices(const syntax::Id& id) {
  std::vector<ExprPtr> result;
  for (const syntax::ExprPtr& i : id.indices) {
    result.push_back(expression(*i));
    check_index(*result.back(), "an index", diagnostics_);
  }
  return result;
}

// used notes a use with all indices. Other numbers of them are other fragments, which is seldom meant: told once.
void Resolver::used(const NameUse& name) {
  const auto [it, fresh] = arity_.try_emplace(name.base, name.indices.size(), name.at);
  if (fresh || it->second.first == name.indices.size() || !mixed_.insert(name.base).second) return;
  const std::size_t n = name.indices.size();
  diagnostics_
      .warning("T208", name.at,
               quote(name.base->name) + " has " + std::to_string(n) + (n == 1 ? " index" : " indices") + " here and " +
                   std::to_string(it->second.first) + " elsewhere: these are different fragments")
      .note(it->second.second, "the other use");
}

bool Resolver::fragment(const syntax::Id& id, NameUse& out, bool complain, std::string_view what) {
  const Meaning* m = find(id.name.text);
  if (m == nullptr) {
    if (complain) {
      unknown(id.name);
      indices(id);
    }
    return false;
  }
  if (recorder_ != nullptr) recorder_->use(id.name.at, m->at);
  if (m->variable != nullptr && m->variable->is_name()) {
    out.base = m->variable;
    out.indices = indices(id);
    out.at = id.at;
    return true;
  }
  if (m->let != nullptr && m->let->kind == Expr::Kind::read) {  // `let y = A[i]`: y[j] is A[i][j]
    out = m->let->name;
    for (ExprPtr& i : indices(id)) out.indices.push_back(std::move(i));
    out.at = id.at;
    return true;
  }
  if (complain) {
    const std::string is = m->variable == nullptr                         ? "bound to an expression by `let`"
                           : m->variable->kind == Variable::Kind::counter ? "a counter"
                           : m->variable->letter == 'v'                   ? "a `value` parameter"
                                                                          : "a parameter";
    diagnostics_
        .error("T209", id.at, std::string(what) + ": " + quote(id.name.text) + " is " + is + ", not a data fragment")
        .note(m->at, "it is declared here");
  }
  return false;
}

ExprPtr Resolver::predefined(const syntax::Id& id) {
  if (!id.indices.empty()) return nullptr;
  if (id.name.text == "all") return make_integer(-1, id.at);
  if (id.name.text != "ranks") return nullptr;
  if (model_.ranks == nullptr) model_.ranks = variable(Variable::Kind::run, 'i', id.name);
  return make_variable(model_.ranks, id.at);
}

ExprPtr Resolver::id(const syntax::Id& id) {
  const Meaning* m = find(id.name.text);
  if (m == nullptr) {
    if (ExprPtr known = predefined(id)) return known;
    unknown(id.name);
    indices(id);
    return make_integer(0, id.at);
  }
  NameUse name;
  if (fragment(id, name, false, "")) {
    used(name);
    return make_read(std::move(name));
  }
  if (!id.indices.empty()) {
    fragment(id, name, true, "only data fragments have indices");
    return make_integer(0, id.at);
  }
  if (m->let != nullptr) return m->let;
  return make_variable(m->variable, id.at);
}

ExprPtr Resolver::expression(const syntax::Expr& e) {
  switch (e.kind) {
    case syntax::Expr::Kind::integer:
      return make_integer(e.integer, e.at);
    case syntax::Expr::Kind::real:
      return make_real(e.text, e.at);
    case syntax::Expr::Kind::string:
      return make_string(e.text, e.at);
    case syntax::Expr::Kind::id:
      return id(e.id);
    case syntax::Expr::Kind::negate:
      return limited(make_negate(expression(*e.kids[0]), e.at, diagnostics_));
    case syntax::Expr::Kind::lnot: {
      ExprPtr a = expression(*e.kids[0]);
      if (a->type == Type::string) {
        diagnostics_.mistyped("T220", e.at, "`!` can't be applied to a string; compare it: `s != \"yes\"`");
        return make_unknown(Type::integer, e.at, {a});
      }
      return limited(make_not(std::move(a), diagnostics_, e.at));
    }
    case syntax::Expr::Kind::binary: {
      ExprPtr a = expression(*e.kids[0]);
      ExprPtr b = expression(*e.kids[1]);
      return limited(make_binary(e.op, std::move(a), std::move(b), e.at, diagnostics_));
    }
    case syntax::Expr::Kind::choice: {
      ExprPtr condition = expression(*e.kids[0]);
      ExprPtr yes = expression(*e.kids[1]);
      ExprPtr no = expression(*e.kids[2]);
      return limited(make_choice(std::move(condition), std::move(yes), std::move(no), e.at, diagnostics_));
    }
    case syntax::Expr::Kind::cast: {
      const Type to = e.type == syntax::TypeName::integer   ? Type::integer
                      : e.type == syntax::TypeName::longint ? Type::longint
                      : e.type == syntax::TypeName::real    ? Type::real
                                                            : Type::string;
      return limited(make_cast(to, expression(*e.kids[0]), e.at));
    }
  }
  return make_integer(0, e.at);
}

}  // namespace tessera::compiler::semantics
