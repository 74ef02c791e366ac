// Declarations: kernels, subs, main.
#include <algorithm>

#include "compiler/semantics/expression.hpp"
#include "compiler/semantics/recorder.hpp"
#include "compiler/semantics/resolver.hpp"
#include "files/nearest.hpp"

namespace tessera::compiler::semantics {
namespace {

ParameterType parameter_type(syntax::TypeName t) { return static_cast<ParameterType>(static_cast<int>(t)); }

char letter_of(syntax::TypeName t) {
  switch (t) {
    case syntax::TypeName::integer:
      return 'i';
    case syntax::TypeName::real:
      return 'r';
    case syntax::TypeName::string:
      return 's';
    case syntax::TypeName::name:
      return 'n';
    case syntax::TypeName::value:
      return 'v';
    case syntax::TypeName::longint:
      return 'l';
  }
  return 'v';
}

Kernel kernel_of(const syntax::Word& name, std::string symbol, const std::vector<syntax::Parameter>& parameters) {
  Kernel k;
  k.name = name.text;
  k.at = name.at;
  k.symbol = std::move(symbol);
  for (const syntax::Parameter& p : parameters) {
    k.parameters.push_back(parameter_type(p.type));
    k.parameter_names.push_back(p.name.text);
  }
  return k;
}

}  // namespace

Variable* Resolver::variable(Variable::Kind kind, char letter, const syntax::Word& name) {
  Variable v;
  v.kind = kind;
  v.letter = letter;
  v.name = name.text;
  v.at = name.at;
  v.id = static_cast<std::uint32_t>(model_.variables.size());
  model_.variables.push_back(std::move(v));
  return &model_.variables.back();
}

void Resolver::bind(Variable* v, std::string_view what) {
  if (recorder_ != nullptr) {
    const auto kind = v->kind == Variable::Kind::counter     ? Symbol::Kind::counter
                      : v->kind == Variable::Kind::parameter ? Symbol::Kind::parameter
                                                             : Symbol::Kind::fragment;
    recorder_->local({kind, v->name, v->at, reach_, {}, v});
  }
  const auto [it, fresh] = scopes_.back().try_emplace(v->name, Meaning{v, nullptr, v->at});
  if (fresh) return;
  diagnostics_
      .error("T201", v->at, std::string(what) + " " + quote(v->name) + " is declared twice: give it another name")
      .note(it->second.at, "it was declared here");
}

void Resolver::declare(const std::string& name, Callee callee) { callees_at(callee.at).emplace(name, callee); }

const Resolver::Callee* Resolver::callee(const syntax::Word& name) {
  const bool library = diagnostics_.in_library(name.at);
  for (const Callees* c : {library ? &library_ : &callees_, library ? &callees_ : &library_}) {
    if (const auto it = c->find(name.text); it != c->end()) return &it->second;
  }
  return nullptr;
}

void Resolver::declare_import(const syntax::Import& import) {
  Kernel k = kernel_of(import.alias, import.symbol.text, import.parameters);
  for (const Kernel& other : model_.kernels) {
    if (!other.in_place && other.symbol == k.symbol && other.parameters != k.parameters) {
      diagnostics_
          .error("T203", import.symbol.at,
                 "kernel " + quote(k.symbol) + " is imported with different parameters: import it once")
          .note(other.at, "it was imported here");
      broken_.insert(k.name);
      return;
    }
  }
  k.at = import.symbol.at;
  model_.kernels.push_back(std::move(k));
  declare(import.alias.text, {&model_.kernels.back(), nullptr, import.alias.at});
}

void Resolver::declare_cxx(const syntax::CxxSub& sub) {
  Kernel k = kernel_of(sub.name, "tessera_kernel_" + sub.name.text, sub.parameters);
  k.in_place = true;
  for (std::size_t i = 0; i < sub.parameters.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (sub.parameters[i].name.text != sub.parameters[j].name.text) continue;
      diagnostics_
          .error("T201", sub.parameters[i].name.at,
                 "parameter " + quote(sub.parameters[i].name.text) + " is declared twice: give it another name")
          .note(sub.parameters[j].name.at, "it was declared here");
    }
  }
  model_.kernels.push_back(std::move(k));
  model_.in_place.push_back({&model_.kernels.back(), {sub.body.text, sub.body.at, sub.body.braces}});
  declare(sub.name.text, {&model_.kernels.back(), nullptr, sub.name.at});
}

void Resolver::declare_sub(const syntax::Sub& sub) {
  model_.subs.emplace_back();
  Sub& s = model_.subs.back();
  s.name = sub.name.text;
  s.at = sub.name.at;
  for (const syntax::Parameter& p : sub.parameters) {
    s.parameters.push_back(variable(Variable::Kind::parameter, letter_of(p.type), p.name));
  }
  nfparams(sub.body.advice, s);
  declare(sub.name.text, {nullptr, &s, sub.name.at});
}

Sub* Resolver::sub_of(const Kernel& kernel, Extent at) {
  model_.subs.emplace_back();
  Sub& s = model_.subs.back();
  s.name = kernel.name;
  s.at = at;
  Call call;
  call.kernel = &kernel;
  for (std::size_t k = 0; k < kernel.parameters.size(); ++k) {
    const syntax::TypeName type = static_cast<syntax::TypeName>(static_cast<int>(kernel.parameters[k]));
    Variable* v = variable(Variable::Kind::parameter, letter_of(type), {kernel.parameter_names[k], at});
    s.parameters.push_back(v);
    if (v->is_name()) {
      call.arguments.push_back({kernel.parameters[k], nullptr, {v, {}, at}});
    } else {
      call.arguments.push_back({kernel.parameters[k], make_variable(v, at), {}});
    }
  }
  s.body.statements.push_back({at, std::move(call)});
  return &s;
}

void Resolver::check_main(const syntax::Program& program) {
  const auto it = callees_.find("main");
  if (it == callees_.end() && broken_.count("main") != 0) return;
  if (it == callees_.end()) {
    std::vector<std::string> names;
    std::vector<Extent> places;
    for (const syntax::Sub& s : program.subs) {
      if (diagnostics_.in_library(s.name.at)) continue;
      names.push_back(s.name.text);
      places.push_back(s.name.at);
    }
    const std::string meant = nearest("main", names);
    const auto named = std::find(names.begin(), names.end(), meant);
    const Extent at = named != names.end() ? places[static_cast<std::size_t>(named - names.begin())]
                      : !places.empty()    ? places.front()
                                           : Extent{};
    diagnostics_.error("T204", at,
                       "the program has no `sub main`: nothing would run" +
                           (meant.empty() ? "" : "; should " + quote(meant) + " be `main`?"));
    return;
  }
  const Sub* main = it->second.sub != nullptr ? it->second.sub : sub_of(*it->second.kernel, it->second.at);
  model_.main_parameters = main->parameters;
  for (const Variable* p : main->parameters) {
    if (library_call_ || (p->letter != 'n' && p->letter != 'v')) continue;
    diagnostics_.error("T205", p->at,
                       "a parameter of `main` is a program argument: it must be `int`, `long`, `real` or `string`; "
                       "other programs can give it values and take names (`tessera build --library`)");
  }
  const bool results =
      std::any_of(main->parameters.begin(), main->parameters.end(), [](const Variable* p) { return p->is_name(); });
  model_.main = results ? with_results(*main) : main;
}

// with_results makes a sub around a `main` with names: it declares them, and gives rank 0 the values that they get
// (runtime/library/library.cpp). So nothing else knows that `main` can have them.
Sub* Resolver::with_results(const Sub& main) {
  model_.kernels.emplace_back();
  Kernel& give = model_.kernels.back();
  give.name = "result";
  give.symbol = "tessera_result";
  give.parameters = {ParameterType::integer, ParameterType::value};
  give.parameter_names = {"parameter", "x"};
  give.of_runtime = true;
  give.at = main.at;
  model_.subs.emplace_back();
  Sub& around = model_.subs.back();
  around.name = main.name;
  around.at = main.at;
  Call call;
  call.sub = &main;
  std::vector<Statement> given;
  for (std::size_t k = 0; k < main.parameters.size(); ++k) {
    const Variable& p = *main.parameters[k];
    Variable* v =
        variable(p.is_name() ? Variable::Kind::fragment : Variable::Kind::parameter, p.letter, {p.name, p.at});
    if (!p.is_name()) {
      around.parameters.push_back(v);
      const ParameterType type = p.letter == 'i'   ? ParameterType::integer
                                 : p.letter == 'l' ? ParameterType::longint
                                 : p.letter == 'r' ? ParameterType::real
                                 : p.letter == 's' ? ParameterType::string
                                                   : ParameterType::value;
      call.arguments.push_back({type, make_variable(v, p.at), {}});
      continue;
    }
    around.body.names.push_back(v);
    call.arguments.push_back({ParameterType::name, nullptr, {v, {}, p.at}});
    Call result;
    result.kernel = &give;
    result.arguments.push_back({ParameterType::integer, make_integer(static_cast<std::int64_t>(k), p.at), {}});
    result.arguments.push_back({ParameterType::value, make_read({v, {}, p.at}), {}});
    result.advice.locator = make_integer(0, p.at);
    given.push_back({p.at, std::move(result)});
  }
  around.hidden = main.hidden;
  around.body.statements.push_back({main.at, std::move(call)});
  for (Statement& s : given) around.body.statements.push_back(std::move(s));
  return &around;
}

Model Resolver::run(const syntax::Program& program) {
  broken_.insert(program.broken.begin(), program.broken.end());
  for (const syntax::Import& i : program.imports) declare_import(i);
  for (const syntax::CxxSub& s : program.cxx_subs) declare_cxx(s);
  for (const syntax::ForeignText& h : program.heads) {
    model_.heads.push_back({h.text, h.at, h.braces});
  }
  for (const syntax::Sub& s : program.subs) declare_sub(s);
  for (std::size_t k = 0; k < program.subs.size(); ++k) {
    Sub& s = model_.subs[k];
    scopes_.assign(1, {});
    labels_.clear();
    if (recorder_ != nullptr) recorder_->begin_sub();
    reach_ = program.subs[k].body.at;
    for (const Variable* p : s.parameters) {
      bind(&model_.variables[p->id], "parameter");
    }
    block(program.subs[k].body, s.body);
  }
  check_main(program);
  return std::move(model_);
}

}  // namespace tessera::compiler::semantics
