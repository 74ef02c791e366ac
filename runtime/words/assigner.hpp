// Whose fragment it was that assigned a name first, as far as that follows from the program: an entry keeps the number
// of the block only, which costs nothing. Only for messages: a run in which it matters ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

using Indices = std::vector<std::int64_t>;

// What an index expression as written says of its variable when its value is known: ("i", 2) of `i + 1` and 3.
struct IndexSays {
  bool possible = true;  // false: no value of the variable gives this
  std::optional<std::pair<std::string, std::int64_t>> variable;
};
IndexSays solve_index(std::string_view expression, std::int64_t value);

// The indices that lead from a scope to a name in it, whatever the number of its declaration; what indices in subs
// begin with is among them. None when there are more than three, or values beyond some thousands.
std::optional<Indices> indices_of(abi::Id name, abi::Id scope);

// What is known of the name.
struct AssignedName {
  Indices indices;             // the last ones
  bool all = false;            // there are no others before them
  const char* base = nullptr;  // as a statement of main calls what has the indices; null: not known
};

// The output of the block that this name may be, when no other may.
std::optional<unsigned> output_of(const abi::Block&, const AssignedName&);

// "`f(i, x[i + 1])` at prog.fa:8 (i=2)", i being what follows from the indices.
std::string describe_assigner(const abi::Program&, const abi::Block&, const AssignedName&);

// An input or output (inputs first) of a fragment.
AssignedName name_of_slot(const abi::Cf*, unsigned slot);

}  // namespace tessera::runtime
