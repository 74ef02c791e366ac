// Pass inline-subs.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// A small sub becomes part of whoever calls it, and what it does to its parameters is done to what they stand for,
// where other passes see it. Left alone are recursion, calls with advice, and arguments that wait for fragments; but a
// sub that is one call of a kernel waits for them as that call.
// Before: sub s(int k, name y) { f(y[k]); }  main: spawn sub s(i + 1, &x). After: main: spawn f(x[i + 1]).
// Of s(n, &x), where n is data: spawn eval { t0 := n } atomic f(x[t0]).
void inline_subs(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
