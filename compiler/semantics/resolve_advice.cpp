// Advice. It never changes results, so a mistake in it is a warning where that can do no harm.
#include <algorithm>

#include "compiler/semantics/expression.hpp"
#include "compiler/semantics/resolver.hpp"

namespace tessera::compiler::semantics {
namespace {

const std::vector<std::string>& known_advice() {
  static const std::vector<std::string> kKnown = {
      "locator_cyclic", "locator_replicating", "stealable", "request",   "req_count", "req_unlimited",
      "delete",         "push",                "afterpush", "wait",      "nfparam",   "drop"};
  return kKnown;
}

using Form = syntax::Rule::Form;

}  // namespace

bool Resolver::known(const syntax::Rule& rule) {
  const auto& all = known_advice();
  if (std::find(all.begin(), all.end(), rule.name.text) != all.end()) return true;
  diagnostics_.warning("T241", rule.name.at,
                       "unknown advice " + quote(rule.name.text) + " is ignored" +
                           did_you_mean(rule.name.text, all));
  return false;
}

const NameUse* Resolver::advised(const syntax::Id& id, NameUse& storage) {
  if (fragment(id, storage, false, "")) return &storage;
  diagnostics_.warning("T242", id.at,
                       "advice about " + quote(id.name.text) +
                           ", which is not a data fragment here, is ignored");
  return nullptr;
}

void Resolver::count(const syntax::Rule& rule, std::vector<ReadCount>& counts) {
  if (rule.form != Form::equals && rule.form != Form::maps) {
    diagnostics_.warning("T243", rule.name.at, "`req_count` is written `req_count x = n;`; ignored");
    return;
  }
  ReadCount c;
  if (advised(rule.ids[0], c.name) == nullptr) return;
  c.count = expression(*rule.expr);
  check_index(*c.count, "a count of reads", diagnostics_);
  counts.push_back(std::move(c));
}

// mentioned: who is named in advice without effect counts as used.
void Resolver::mentioned(const syntax::Expr& e) {
  const Meaning* m = e.kind == syntax::Expr::Kind::id ? find(e.id.name.text) : nullptr;
  if (m != nullptr && m->variable != nullptr) model_.variables[m->variable->id].dropped = true;
  for (const syntax::ExprPtr& k : e.id.indices) mentioned(*k);
  for (const syntax::ExprPtr& k : e.kids) mentioned(*k);
}

// unused_rule: advice that our system needs no help with; only its names are looked at.
void Resolver::unused_rule(const syntax::Rule& rule) {
  if (rule.expr != nullptr) mentioned(*rule.expr);
  static const std::vector<std::string> kOfNames = {"request", "wait", "drop", "req_unlimited"};
  if (std::find(kOfNames.begin(), kOfNames.end(), rule.name.text) == kOfNames.end()) return;
  for (const syntax::Id& id : rule.ids) {
    NameUse use;
    if (labels_.count(id.name.text) != 0 || advised(id, use) == nullptr) continue;
    if (rule.name.text == "drop") model_.variables[use.base->id].dropped = true;
  }
}

void Resolver::call_advice(const syntax::Advice& advice, Call& call) {
  for (const syntax::Rule& rule : advice) {
    const std::string& name = rule.name.text;
    if (!known(rule)) continue;
    if (name == "locator_cyclic" && rule.form == Form::value) {
      call.advice.locator = expression(*rule.expr);
      check_index(*call.advice.locator, "a locator", diagnostics_);
    } else if (name == "stealable") {
      call.advice.stealable = true;
    } else if (name == "req_count") {
      count(rule, call.advice.counts);
    } else if (name == "request") {
      for (const syntax::Id& id : rule.ids) {
        NameUse use;
        if (advised(id, use) != nullptr) call.advice.requests.push_back(std::move(use));
      }
    } else if (name == "delete") {
      for (const syntax::Id& id : rule.ids) {
        NameUse use;
        if (advised(id, use) != nullptr) call.advice.deletes.push_back(std::move(use));
      }
    } else {
      unused_rule(rule);
    }
  }
}

// Advice behind a block: the fragments named in it are freed with their scope anyway, so `delete`
// needs nothing; locators of names are for a system whose data can't be found without them.
void Resolver::block_advice(const syntax::Advice& advice, Body& body) {
  for (const syntax::Rule& rule : advice) {
    if (!known(rule)) continue;
    if (rule.name.text == "req_count") {
      const std::size_t before = body.counts.size();
      count(rule, body.counts);
      if (body.counts.size() != before) {
        const ReadCount& c = body.counts.back();
        bool reads = c.count->reads;
        for (const ExprPtr& i : c.name.indices) reads = reads || i->reads;
        if (reads) {
          diagnostics_.warning("T243", rule.name.at,
                               "`req_count` of a block can't depend on data fragments; ignored");
          body.counts.pop_back();
        }
      }
    } else {
      unused_rule(rule);
    }
  }
}

void Resolver::nfparams(const syntax::Advice& advice, Sub& sub) {
  for (const syntax::Rule& rule : advice) {
    if (rule.name.text != "nfparam" || rule.form != Form::list) continue;
    for (const syntax::Id& id : rule.ids) {
      sub.parameters.push_back(variable(Variable::Kind::parameter, 'i', id.name));
      ++sub.hidden;
    }
  }
}

void Resolver::give_nfparams(const syntax::Advice& advice, Call& call, Extent at) {
  const auto& all = call.sub->parameters;
  for (std::size_t k = all.size() - call.sub->hidden; k < all.size(); ++k) {
    Argument a;
    a.type = ParameterType::integer;
    for (const syntax::Rule& rule : advice) {
      if (rule.name.text == "nfparam" && (rule.form == Form::maps || rule.form == Form::equals) &&
          rule.ids[0].name.text == all[k]->name) {
        a.value = expression(*rule.expr);
        check_index(*a.value, "a non-functional parameter", diagnostics_);
      }
    }
    if (a.value == nullptr) {
      diagnostics_
          .warning("T244", at,
                   "the call gives no value to the non-functional parameter " +
                       quote(all[k]->name) + "; 0 is used (`nfparam " + all[k]->name + " => e;`)")
          .note(all[k]->at, "it is declared here");
      a.value = make_integer(0, at);
    }
    call.arguments.push_back(std::move(a));
  }
}

}  // namespace tessera::compiler::semantics
