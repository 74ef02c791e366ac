// Typing: how resolved expressions are made. Every rule of the language's arithmetic stands here.
#pragma once

#include "compiler/diagnostics.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::semantics {

ExprPtr make_integer(std::int64_t value, Extent at);  // an int if it has 32 bits, else a long
ExprPtr make_real(std::string text, Extent at);
ExprPtr make_string(std::string value, Extent at);
// make_unknown stands for what can't be computed of these parts (Diagnostics::mistyped): its value is unknown, its
// reads are seen.
ExprPtr make_unknown(Type type, Extent at, const std::vector<ExprPtr>& parts);
ExprPtr make_variable(const Variable* variable, Extent at);
ExprPtr make_read(NameUse name);

// The following report type errors and then return something to go on with.
ExprPtr make_negate(ExprPtr e, Extent at, Diagnostics& diagnostics);
ExprPtr make_binary(Operator op, ExprPtr a, ExprPtr b, Extent at, Diagnostics& diagnostics);
ExprPtr make_choice(ExprPtr condition, ExprPtr yes, ExprPtr no, Extent at, Diagnostics& diagnostics);
// make_not is 1 where `e` is 0, else 0: of comparisons and logic the opposite one, whose reads are waited for alike.
ExprPtr make_not(ExprPtr e, Diagnostics& diagnostics);
ExprPtr make_not(ExprPtr e, Diagnostics& diagnostics, Extent at);
ExprPtr make_cast(Type to, ExprPtr e, Extent at);

// check_condition and check_index refuse strings.
void check_condition(const Expr& e, Diagnostics& diagnostics);
void check_index(const Expr& e, std::string_view what, Diagnostics& diagnostics);

// key is equal for two expressions that mean the same source expression.
std::string key(const Expr& e);
std::string key(const NameUse& name);

// is_logical: its value is 0 or 1.
inline bool is_logical(const Expr& e) {
  return e.kind == Expr::Kind::binary && (syntax::is_comparison(e.op) || syntax::is_logic(e.op));
}

}  // namespace tessera::compiler::semantics
