// Names in advice. The resolver looks only at the advice that it honours; a person who renames
// something means all of it.
#include "compiler/semantics/recorder.hpp"
#include "compiler/semantics/resolver.hpp"

namespace tessera::compiler::semantics {

void Resolver::record_name(const syntax::Word& name) {
  if (const Meaning* m = find(name.text)) {
    recorder_->use(name.at, m->at);
  } else {
    recorder_->label(name, false);
  }
}

void Resolver::record_id(const syntax::Id& id) {
  record_name(id.name);
  for (const syntax::ExprPtr& i : id.indices) record_expression(*i);
}

void Resolver::record_expression(const syntax::Expr& e) {
  if (e.kind == syntax::Expr::Kind::id) record_id(e.id);
  for (const syntax::ExprPtr& k : e.kids) record_expression(*k);
}

// `callee` is what the advised call calls; nothing for advice behind a block.
void Resolver::record_advice(const syntax::Advice& advice, const Sub* callee) {
  using Form = syntax::Rule::Form;
  if (recorder_ == nullptr) return;
  for (const syntax::Rule& rule : advice) {
    const std::string& what = rule.name.text;
    const bool maps = rule.form == Form::maps;
    scopes_.emplace_back();
    for (const syntax::Id& id : rule.ids) {
      if (what == "nfparam" && (maps || rule.form == Form::equals)) {
        if (callee == nullptr) continue;
        for (const Variable* p : callee->parameters) {
          if (p->name == id.name.text) recorder_->use(id.name.at, p->at);
        }
        continue;
      }
      if (what == "nfparam") continue;  // declares a parameter
      record_name(id.name);
      for (const syntax::ExprPtr& i : id.indices) {
        // `locator_cyclic x[i] => i`: the index is bound here.
        if (maps && what.rfind("locator", 0) == 0 && i->kind == syntax::Expr::Kind::id && i->id.indices.empty()) {
          const syntax::Word& name = i->id.name;
          const Extent reach = rule.expr ? join(name.at, rule.expr->at) : name.at;
          recorder_->local({Symbol::Kind::index, name.text, name.at, reach, {}, nullptr});
          scopes_.back().insert_or_assign(name.text, Meaning{nullptr, nullptr, name.at});
        } else {
          record_expression(*i);
        }
      }
    }
    const bool pushes = what == "push" || what == "afterpush";
    if (rule.expr && pushes && rule.expr->kind == syntax::Expr::Kind::id) {
      recorder_->label(rule.expr->id.name, false);
      for (const syntax::ExprPtr& i : rule.expr->id.indices) record_expression(*i);
    } else if (rule.expr) {
      record_expression(*rule.expr);
    }
    scopes_.pop_back();
  }
}

}  // namespace tessera::compiler::semantics
