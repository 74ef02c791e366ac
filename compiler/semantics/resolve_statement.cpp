// Blocks and statements.
#include <cstdlib>
#include <map>

#include "compiler/semantics/expression.hpp"
#include "compiler/semantics/recorder.hpp"
#include "compiler/semantics/resolver.hpp"

namespace tessera::compiler::semantics {
namespace {

const char* spelling(ParameterType t) {
  static constexpr const char* kText[] = {"int", "real", "string", "name", "value", "long"};
  return kText[static_cast<int>(t)];
}

}  // namespace

void Resolver::block(const syntax::Block& block, Body& body) {
  reach_ = block.at;
  for (const syntax::Word& name : block.names) {
    Variable* v = variable(Variable::Kind::fragment, 'n', name);
    bind(v, "data fragment");
    body.names.push_back(v);
  }
  for (const syntax::Statement& s : block.statements) statement(s, body);
  record_advice(block.advice, nullptr);
  block_advice(block.advice, body, scopes_.size() == 1);
}

std::unique_ptr<Body> Resolver::inner(const syntax::Block& syntax_block, const Variable* counter) {
  auto body = std::make_unique<Body>();
  if (counter != nullptr) {
    scopes_.emplace_back();
    reach_ = syntax_block.at;
    bind(&model_.variables[counter->id], "counter");
  }
  scopes_.emplace_back();
  block(syntax_block, *body);
  scopes_.pop_back();
  if (counter != nullptr) scopes_.pop_back();
  return body;
}

void Resolver::statement(const syntax::Statement& s, Body& body) {
  if (const auto* node = std::get_if<syntax::Call>(&s.node)) {
    call(*node, s.at, body);
  } else if (const auto* node = std::get_if<syntax::For>(&s.node)) {
    For f;
    f.first = expression(*node->first);
    f.last = expression(*node->last);
    check_index(*f.first, "a bound of `for`", diagnostics_);
    check_index(*f.last, "a bound of `for`", diagnostics_);
    f.counter = variable(Variable::Kind::counter, 'i', node->counter);
    f.body = inner(node->body, f.counter);
    body.statements.push_back({s.at, std::move(f)});
  } else if (const auto* node = std::get_if<syntax::While>(&s.node)) {
    While w;
    w.start = expression(*node->start);
    check_index(*w.start, "the start of `while`", diagnostics_);
    w.out = output(node->out, "`out` of `while`");
    Variable* counter = variable(Variable::Kind::counter, 'i', node->counter);
    w.counter = counter;
    scopes_.emplace_back();
    reach_ = join(s.at, node->body.at);
    bind(counter, "counter");
    w.condition = expression(*node->condition);
    check_condition(*w.condition, diagnostics_);
    scopes_.pop_back();
    w.body = inner(node->body, counter);
    body.statements.push_back({s.at, std::move(w)});
  } else if (const auto* node = std::get_if<syntax::If>(&s.node)) {
    If i;
    i.condition = expression(*node->condition);
    check_condition(*i.condition, diagnostics_);
    i.body = inner(node->body, nullptr);
    ExprPtr condition = i.condition;
    body.statements.push_back({s.at, std::move(i)});
    if (node->otherwise) {  // a second `if` with the opposite condition
      If other;
      other.condition = limited(make_not(std::move(condition), diagnostics_));
      other.body = inner(*node->otherwise, nullptr);
      other.otherwise = true;
      body.statements.push_back({node->else_at, std::move(other)});
    }
  } else if (const auto* node = std::get_if<syntax::Let>(&s.node)) {
    let(*node, body);
  }
}

// `let` opens a scope for people, not for the program: its names and statements become those of
// the body around it, which is entered exactly as often.
void Resolver::let(const syntax::Let& node, Body& body) {
  std::map<std::string, Extent> bound;
  for (const syntax::Binding& b : node.bindings) {
    const auto [before, fresh] = bound.try_emplace(b.name.text, b.name.at);
    if (!fresh) {
      diagnostics_
          .error("T201", b.name.at, "name " + quote(b.name.text) + " is bound twice by one `let`: give it another name")
          .note(before->second, "it was bound here");
    }
    // Each binding sees the ones before it.
    ExprPtr value;
    if (b.value->kind == syntax::Expr::Kind::id) {  // a prefix of a name is no read yet
      NameUse name;
      if (fragment(b.value->id, name, false, "")) value = make_read(std::move(name));
    }
    if (value == nullptr) value = expression(*b.value);
    scopes_.emplace_back();
    scopes_.back().try_emplace(b.name.text, Meaning{nullptr, value, b.name.at});
    if (recorder_ != nullptr) {
      recorder_->local(
          {Symbol::Kind::let, b.name.text, b.name.at, join(b.name.at, node.body.at), b.value->at, nullptr});
    }
  }
  scopes_.emplace_back();
  block(node.body, body);
  scopes_.resize(scopes_.size() - node.bindings.size() - 1);
}

NameUse Resolver::output(const syntax::Id& id, std::string_view what) {
  NameUse name;
  if (fragment(id, name, true, what)) used(name);
  return name;
}

void Resolver::label(const syntax::Id& label) {
  labels_[label.name.text] = true;
  if (recorder_ != nullptr) recorder_->label(label.name, true);
  indices(label);
}

Argument Resolver::argument(ParameterType type, const syntax::Expr& e, std::string_view what) {
  Argument a;
  a.type = type;
  if (type == ParameterType::name) {
    if (e.kind != syntax::Expr::Kind::id) {
      expression(e);
      diagnostics_.error("T210", e.at, std::string(what) + " is a `name`: it needs a data fragment, not a value");
      return a;
    }
    fragment(e.id, a.name, true, std::string(what) + " is a `name`");
    return a;
  }
  a.value = expression(e);
  const Type given = a.value->type;
  const bool number = type == ParameterType::integer || type == ParameterType::longint || type == ParameterType::real;
  const bool given_number = given == Type::integer || given == Type::longint || given == Type::real;
  if ((number && given == Type::string) || (type == ParameterType::string && given_number)) {
    diagnostics_.mistyped("T211", e.at,
                          std::string(what) + " is " + spelling(type) + ", this is " + semantics::spelling(given) +
                              (type == ParameterType::longint ? "; convert it with long(..)"
                               : number                       ? "; convert it with int(..) or real(..)"
                                                              : "; convert it with string(..)"));
  }
  return a;
}

void Resolver::call(const syntax::Call& node, Extent at, Body& body) {
  Call c;
  if (node.label) label(*node.label);
  const Callee* const callee = this->callee(node.callee);
  if (callee == nullptr) {
    std::vector<std::string> names;
    for (const auto& entry : callees_) names.push_back(entry.first);
    for (const auto& entry : library_) names.push_back(entry.first);
    const std::string guess = did_you_mean(node.callee.text, names);
    if (broken_.count(node.callee.text) == 0) {
      diagnostics_.error("T212", node.callee.at,
                         "there is no kernel or sub " + quote(node.callee.text) +
                             (guess.empty() ? "; declare it by `sub`, `import` or `C++ sub`" : guess));
    }
    for (const syntax::ExprPtr& e : node.arguments) {  // their own mistakes; types are unknown
      if (e->kind != syntax::Expr::Kind::id) {
        expression(*e);
      } else if (find(e->id.name.text) == nullptr) {
        unknown(e->id.name);
      } else if (recorder_ != nullptr) {
        record_id(e->id);
      }
    }
    return;
  }
  if (recorder_ != nullptr) recorder_->use(node.callee.at, callee->at);
  c.kernel = callee->kernel;
  c.sub = callee->sub;
  std::vector<ParameterType> types;
  std::vector<std::string> names;
  if (c.kernel != nullptr) {
    types = c.kernel->parameters;
    names = c.kernel->parameter_names;
  } else {
    for (std::size_t k = 0; k + c.sub->hidden < c.sub->parameters.size(); ++k) {
      const Variable* p = c.sub->parameters[k];
      names.push_back(p->name);
      types.push_back(p->letter == 'i'   ? ParameterType::integer
                      : p->letter == 'r' ? ParameterType::real
                      : p->letter == 'l' ? ParameterType::longint
                      : p->letter == 's' ? ParameterType::string
                      : p->letter == 'n' ? ParameterType::name
                                         : ParameterType::value);
    }
  }
  if (node.arguments.size() != types.size()) {
    diagnostics_
        .error("T213", node.callee.at,
               quote(node.callee.text) + " takes " + count_of(types.size(), "argument") + ", " +
                   std::to_string(node.arguments.size()) + " given")
        .note(callee->at, "it is declared here");
  }
  for (std::size_t k = 0; k < node.arguments.size(); ++k) {
    if (k >= types.size()) {
      if (node.arguments[k]->kind != syntax::Expr::Kind::id) expression(*node.arguments[k]);
      continue;
    }
    std::string what = "argument " + std::to_string(k + 1) + " of " + quote(node.callee.text);
    if (!names[k].empty()) what += " (" + names[k] + ")";
    c.arguments.push_back(argument(types[k], *node.arguments[k], what));
    // A kernel assigns the fragment itself, so here the name has all its indices.
    const NameUse& name = c.arguments.back().name;
    if (c.kernel != nullptr && name.base != nullptr) used(name);
  }
  for (const syntax::Id& id : node.done) c.done.push_back(output(id, "`>>`"));
  for (const syntax::Id& id : node.deletes) {
    NameUse name;
    if (!fragment(id, name, true, "`-->`")) continue;
    used(name);
    c.advice.deletes.push_back(std::move(name));
  }
  record_advice(node.advice, c.sub);
  call_advice(node.advice, c);
  if (c.sub != nullptr) give_nfparams(node.advice, c, at);
  body.statements.push_back({at, std::move(c)});
}

}  // namespace tessera::compiler::semantics
