// Advice. It never changes results, so a mistake in it is a warning where that can do no harm.
#include <algorithm>

#include "compiler/semantics/expression.hpp"
#include "compiler/semantics/resolver.hpp"

namespace tessera::compiler::semantics {
namespace {

using Form = syntax::Rule::Form;

// Known: one kind of advice, the forms it has, and what `check` says when it changes nothing here.
struct Known {
  const char* name;
  const char* written;
  bool value, maps, list, bare;  // `NAME: e`, `NAME x => e`, `NAME x, y`, `NAME`
};
constexpr Known kKnown[] = {
    {"locator_cyclic", "locator_cyclic: e;` or `locator_cyclic x[i] => e;", true, true, false, false},
    {"locator_replicating", "locator_replicating x => e;", false, true, false, false},
    {"stealable", "stealable;", false, false, false, true},
    {"request", "request x, y;", false, false, true, false},
    {"req_count", "req_count x = n;", false, true, false, false},
    {"req_unlimited", "req_unlimited x;", false, false, true, false},
    {"delete", "delete x, y;", false, false, true, false},
    {"push", "push x => label;", false, true, false, false},
    {"afterpush", "afterpush x => label;", false, true, false, false},
    {"wait", "wait x;", false, false, true, false},
    {"nfparam", "nfparam n;` behind a sub, `nfparam n => e;` at its calls", false, true, true, false},
    {"drop", "drop x;", false, false, true, false},
};

const Known* find_known(const std::string& name) {
  for (const Known& k : kKnown) {
    if (name == k.name) return &k;
  }
  return nullptr;
}

bool has_form(const Known& k, const syntax::Rule& rule) {
  if (rule.form == Form::value) return k.value;
  if (rule.form == Form::list) return rule.ids.empty() ? k.bare : k.list;
  return k.maps;
}

}  // namespace

// known: the rule is one that there is, in a form that it has.
bool Resolver::known(const syntax::Rule& rule) {
  const Known* k = find_known(rule.name.text);
  if (k == nullptr) {
    std::vector<std::string> all;
    for (const Known& each : kKnown) all.push_back(each.name);
    diagnostics_.warning("T241", rule.name.at,
                         "unknown advice " + quote(rule.name.text) + " is ignored" + did_you_mean(rule.name.text, all));
    return false;
  }
  if (has_form(*k, rule)) return true;
  diagnostics_.warning("T243", rule.name.at, quote(k->name) + " is written `" + k->written + "`; ignored");
  return false;
}

const NameUse* Resolver::advised(const syntax::Id& id, NameUse& storage) {
  if (fragment(id, storage, false, "")) return &storage;
  diagnostics_.warning("T242", id.at,
                       "advice about " + quote(id.name.text) + ", which is not a data fragment here, is ignored");
  return nullptr;
}

void Resolver::count(const syntax::Rule& rule, std::vector<ReadCount>& counts) {
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

// locator_names: the expression of a locator that we don't follow must still be about something.
// The indices of its target, when they are names, stand for those of each fragment.
void Resolver::locator_names(const syntax::Expr& e, const syntax::Id& target) {
  if (e.kind == syntax::Expr::Kind::id) {
    bool bound = e.id.name.text == "all" || e.id.name.text == "ranks";
    for (const syntax::ExprPtr& i : target.indices) {
      bound = bound || (i->kind == syntax::Expr::Kind::id && i->id.name.text == e.id.name.text);
    }
    if (!bound && find(e.id.name.text) == nullptr) {
      diagnostics_.warning("T242", e.at, quote(e.id.name.text) + " in this locator is not declared here");
    }
    for (const syntax::ExprPtr& i : e.id.indices) locator_names(*i, target);
  }
  for (const syntax::ExprPtr& k : e.kids) locator_names(*k, target);
}

// unused_rule: advice that changes nothing here; only its names are looked at.
void Resolver::unused_rule(const syntax::Rule& rule) {
  const std::string& name = rule.name.text;
  if (rule.expr != nullptr) mentioned(*rule.expr);
  for (const syntax::Id& id : rule.ids) {
    const Meaning* m = find(id.name.text);
    // `locator_cyclic x[i] => i` names its own indices, so it can't be resolved as a use of `x`.
    const bool fragments = m != nullptr && ((m->variable != nullptr && m->variable->is_name()) ||
                                            (m->let != nullptr && m->let->kind == Expr::Kind::read));
    if (fragments || labels_.count(id.name.text) != 0) continue;
    NameUse ignored;
    advised({id.name, {}, id.at}, ignored);
  }
  const char* why = nullptr;
  if (name == "locator_cyclic" && rule.form == Form::value) {
    why = "behind a block it has no effect: write it at the calls inside";
  } else if (name == "locator_cyclic" || name == "locator_replicating") {
    locator_names(*rule.expr, rule.ids[0]);
    why = "it has no effect: a value lives where it is made, and goes to who asks for it";
  } else if (name == "push" || name == "afterpush" || name == "wait") {
    why = "it has no effect: a value goes straight to the fragments that wait for it";
  } else if (name == "stealable") {
    why = "behind a block it has no effect: write it at the calls inside";
  }
  if (why != nullptr) diagnostics_.remark("T245", rule.name.at, quote(name) + ": " + why);
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
    } else if (name == "delete" || name == "drop") {
      for (const syntax::Id& id : rule.ids) {
        NameUse use;
        if (advised(id, use) == nullptr) continue;
        bool output = name == "delete";
        for (const Argument& a : call.arguments) output = output || a.name.base == use.base;
        if (output) {
          if (name == "drop") model_.variables[use.base->id].dropped = true;
          used(use);
          call.advice.deletes.push_back(std::move(use));
        } else {
          diagnostics_.warning(
              "T242", id.at,
              "`drop` is about an output of the call; ignored, since " + quote(id.name.text) + " is none");
        }
      }
    } else if (name == "nfparam") {
      given_nfparam(rule, call);
    } else {
      unused_rule(rule);
    }
  }
}

// depends says so when advice behind a block would have to wait for data.
bool Resolver::depends(const syntax::Rule& rule, const NameUse& name, const ExprPtr& count) {
  bool reads = count != nullptr && count->reads;
  for (const ExprPtr& i : name.indices) reads = reads || i->reads;
  if (reads) {
    diagnostics_.warning("T243", rule.name.at,
                         quote(rule.name.text) + " behind a block can't depend on data fragments; ignored");
  }
  return reads;
}

// Advice behind a block, for the names visible in it. What the block declares is freed with it
// anyway, so `delete` is for names from around it.
void Resolver::block_advice(const syntax::Advice& advice, Body& body, bool of_sub) {
  for (const syntax::Rule& rule : advice) {
    const std::string& name = rule.name.text;
    if (!known(rule)) continue;
    if (name == "req_count") {
      std::vector<ReadCount> counts;
      count(rule, counts);
      if (!counts.empty() && !depends(rule, counts[0].name, counts[0].count)) {
        body.counts.push_back(std::move(counts[0]));
      }
    } else if (name == "delete" || name == "drop") {
      for (const syntax::Id& id : rule.ids) {
        NameUse use;
        if (advised(id, use) == nullptr || depends(rule, use, nullptr)) continue;
        if (std::find(body.names.begin(), body.names.end(), use.base) == body.names.end()) {
          body.deletes.push_back(std::move(use));
        }
      }
    } else if (name == "nfparam") {
      if (!of_sub || rule.form != Form::list) {
        diagnostics_.warning("T243", rule.name.at,
                             "`nfparam n;` declares a parameter behind a sub, `nfparam n => e;` gives "
                             "its value at a call; ignored");
      }
    } else {
      unused_rule(rule);
    }
  }
}

void Resolver::given_nfparam(const syntax::Rule& rule, const Call& call) {
  std::vector<std::string> names;
  for (std::size_t k = call.sub == nullptr ? 0 : call.sub->hidden; k > 0; --k) {
    names.push_back(call.sub->parameters[call.sub->parameters.size() - k]->name);
  }
  for (const syntax::Id& id : rule.ids) {
    if (rule.form != Form::list && std::find(names.begin(), names.end(), id.name.text) != names.end()) {
      continue;
    }
    diagnostics_.warning("T243", id.at,
                         rule.form == Form::list
                             ? "at a call, `nfparam` gives a value: `nfparam n => e;`; ignored"
                             : "what is called here has no non-functional parameter " + quote(id.name.text) +
                                   did_you_mean(id.name.text, names) + "; ignored");
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
                   "the call gives no value to the non-functional parameter " + quote(all[k]->name) +
                       "; 0 is used (`nfparam " + all[k]->name + " => e;`)")
          .note(all[k]->at, "it is declared here");
      a.value = make_integer(0, at);
    }
    call.arguments.push_back(std::move(a));
  }
}

}  // namespace tessera::compiler::semantics
