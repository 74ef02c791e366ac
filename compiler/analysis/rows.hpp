// What solving and projecting share: arithmetic on rows that notices overflow, and normal forms.
#pragma once

#include <cstdint>

#include "compiler/analysis/integer_system.hpp"

namespace tessera::compiler::analysis {

struct Overflow {};  // thrown here, caught in this folder's entry points

Integer plus(Integer a, Integer b);
Integer times(Integer a, Integer b);
Integer floor_div(Integer a, Integer b);  // b > 0
Integer nearest_div(Integer a, Integer b);

// combine returns p * x + q * y.
Row combine(Integer p, const Row& x, Integer q, const Row& y);

Integer gcd_of(const Row& row);
bool constant(const Row& row);

// normalise divides by common factors (rounding where that is exact for integers) and removes what
// is always true or said twice. False: there is no solution.
bool normalise(System& system);

// substitute makes row `with` stand for variable v in every row; v in it is the variable anew.
void substitute(System& system, std::size_t v, const Row& with);

// bounds: the rows of `positive` that bound v from below and above.
struct Bounds {
  std::vector<std::size_t> below, above;
  bool exact = false;  // all coefficients on one side are 1: eliminating loses nothing
};
Bounds bounds(const System& system, std::size_t v);

// eliminate replaces the bounds on v by their pairwise consequences: the real shadow, or the dark
// one.
System eliminate(const System& system, std::size_t v, const Bounds& bounds, bool dark);

}  // namespace tessera::compiler::analysis
