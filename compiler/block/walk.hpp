// Walking and rewriting the expressions of the block program: the passes are written with these.
#pragma once

#include <functional>

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

// A visitor gets each expression and each name of a block (or argument), outermost only; it may
// replace them. Names stand for outputs and name arguments, not for reads inside expressions.
struct Visitor {
  std::function<void(ExprPtr&)> expr;
  std::function<void(NameUse&)> name;
};

void visit(Block& block, const Visitor& visitor);  // not its body's statements
void visit(Spawn& spawn, const Visitor& visitor);  // arguments, done, locator; not the chain
void visit(semantics::Argument& argument, const Visitor& visitor);

// for_each_chain calls f for every chain, those nested in bodies after the one around them.
void for_each_chain(Program& program, const std::function<void(Chain&)>& f);
void for_each_chain(Body& body, const std::function<void(Chain&)>& f);

// rewrite returns e with `f` applied to every node, outermost first; a null answer keeps the node
// and goes on with its parts (the indices of reads included).
ExprPtr rewrite(const ExprPtr& e, const std::function<ExprPtr(const ExprPtr&)>& f);
NameUse rewrite(const NameUse& name, const std::function<ExprPtr(const ExprPtr&)>& f);

// binary is `a op b`, of ints that need no check; it stands where `a` does.
ExprPtr binary(syntax::Operator op, const ExprPtr& a, const ExprPtr& b);

// choice is `condition ? yes : no` of such.
ExprPtr choice(const ExprPtr& condition, const ExprPtr& yes, const ExprPtr& no);

// equal: written alike, names resolved.
bool equal(const ExprPtr& a, const ExprPtr& b);

// reads_in calls f for each read in e, the outermost before those in its indices.
void reads_in(const ExprPtr& e, const std::function<void(const ExprPtr&)>& f);

// needed_reads calls f for each read in e and when its value is needed: a condition that reads
// nothing itself, or null for always. In `i > 0 ? x[i - 1] : 0` it is `i > 0`. A part whose
// condition reads is needed whenever the whole is, and so is what has a req_count: those count
// what a statement mentions.
using OnNeeded = std::function<void(const ExprPtr& read, const ExprPtr& when)>;
void needed_reads(const ExprPtr& e, const OnNeeded& f, const ExprPtr& when = nullptr);
// either is the condition that one of two holds, null being always.
ExprPtr either(const ExprPtr& a, const ExprPtr& b);

bool indices_read(const NameUse& name);  // some index needs a fragment's value
bool argument_reads(const semantics::Argument& argument);

}  // namespace tessera::compiler::block
