// Names, types and arity: the syntax tree in, the model out, every mistake reported.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/diagnostics.hpp"
#include "compiler/semantics/model.hpp"
#include "compiler/syntax/ast.hpp"

namespace tessera::compiler::semantics {

class Recorder;

// Resolver makes the model of one program. After errors the model is incomplete and must not be
// translated further.
class Resolver {
 public:
  using IsMacro = std::function<bool(const std::string& name)>;
  // `is_macro` serves messages: a name without its `$`. `recorder`, if any, is told what each name
  // means. `library`: it is called by another program, so that `main` may have values and names.
  Resolver(Diagnostics& diagnostics, IsMacro is_macro, bool library, Recorder* recorder = nullptr)
      : diagnostics_(diagnostics), is_macro_(std::move(is_macro)), library_call_(library), recorder_(recorder) {}
  Model run(const syntax::Program& program);

 private:
  // What a local name means: a variable, or the expression a `let` binds it to.
  struct Meaning {
    const Variable* variable = nullptr;
    ExprPtr let;
    Extent at;
  };
  using Scope = std::unordered_map<std::string, Meaning>;
  struct Callee {
    const Kernel* kernel = nullptr;
    Sub* sub = nullptr;
    Extent at;
  };

  // resolve_program.cpp
  using Callees = std::map<std::string, Callee>;
  void declare(const std::string& name, Callee callee);
  // Names of the library and of the user do not meet: where both have one, each means its own.
  Callees& callees_at(Extent at) { return diagnostics_.in_library(at) ? library_ : callees_; }
  const Callee* callee(const syntax::Word& name);
  void declare_import(const syntax::Import& import);
  void declare_cxx(const syntax::CxxSub& sub);
  void declare_sub(const syntax::Sub& sub);
  void check_main(const syntax::Program& program);
  Sub* with_results(const Sub& main);
  Sub* sub_of(const Kernel& kernel, Extent at);  // a sub that only calls it with its own parameters
  Variable* variable(Variable::Kind kind, char letter, const syntax::Word& name);
  void bind(Variable* variable, std::string_view what);

  // resolve_statement.cpp
  void block(const syntax::Block& block, Body& body);
  void statement(const syntax::Statement& statement, Body& body);
  void call(const syntax::Call& call, Extent at, Body& body);
  void let(const syntax::Let& let, Body& body);
  std::unique_ptr<Body> inner(const syntax::Block& block, const Variable* counter);
  Argument argument(ParameterType type, const syntax::Expr& e, std::string_view what);
  void label(const syntax::Id& label);
  NameUse output(const syntax::Id& id, std::string_view what);

  // resolve_advice.cpp
  void call_advice(const syntax::Advice& advice, Call& call);
  void block_advice(const syntax::Advice& advice, Body& body, bool of_sub);
  bool depends(const syntax::Rule& rule, const NameUse& name, const ExprPtr& count);
  void locator_names(const syntax::Expr& e, const syntax::Id& target);
  void given_nfparam(const syntax::Rule& rule, const Call& call);
  void nfparams(const syntax::Advice& advice, Sub& sub);
  void give_nfparams(const syntax::Advice& advice, Call& call, Extent at);
  void unused_rule(const syntax::Rule& rule);
  void mentioned(const syntax::Expr& e);
  const NameUse* advised(const syntax::Id& id, NameUse& storage);
  void count(const syntax::Rule& rule, std::vector<ReadCount>& counts);
  bool known(const syntax::Rule& rule);

  // record_advice.cpp
  void record_advice(const syntax::Advice& advice, const Sub* callee);
  void record_name(const syntax::Word& name);
  void record_id(const syntax::Id& id);
  void record_expression(const syntax::Expr& e);

  // resolve_expression.cpp
  ExprPtr expression(const syntax::Expr& e);
  ExprPtr id(const syntax::Id& id);
  ExprPtr predefined(const syntax::Id& id);  // `all`, `ranks`; null: another name
  bool fragment(const syntax::Id& id, NameUse& out, bool complain, std::string_view what);
  std::vector<ExprPtr> indices(const syntax::Id& id);
  ExprPtr limited(ExprPtr e);
  const Meaning* find(const std::string& name) const;
  void unknown(const syntax::Word& name);
  void used(const NameUse& name);

  Diagnostics& diagnostics_;
  IsMacro is_macro_;
  bool library_call_;
  Recorder* recorder_;
  Extent reach_{};  // where the names bound now can be used, for the recorder
  Model model_;
  std::vector<Scope> scopes_;
  Callees callees_, library_;  // declared by the user, by files of the library
  std::unordered_map<const Variable*, std::pair<std::size_t, Extent>> arity_;  // first full use
  std::set<const Variable*> mixed_;  // names whose uses differ in that, which was said
  std::unordered_map<std::string, bool> labels_;
  std::set<std::string> broken_;  // declared, but the declaration had mistakes
};

}  // namespace tessera::compiler::semantics
