// Boxes: of the indices of a name, from .. to, in what is known where a record is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

// By index; indices behind the last one are not bounded.
using Box = std::vector<Side>;
// A record's boxes of one name; more are made one.
inline constexpr std::size_t kMostBoxes = 4;

std::optional<std::int64_t> constant_of(const semantics::Expr&);
// One of these variables that is in it; null: none.
const Variable* mentioned(const semantics::Expr&, const std::set<const Variable*, ById>&);
ExprPtr as_bound(const Variable*, Extent at);  // of null: null
// Certainly.
bool within(const Side&, const Side& outer);
bool within(const Box&, const Box& outer);
// Adds a box, by making one that is there larger, where it is known which of the bounds are further out.
void put(std::vector<Box>& list, Box box);

}  // namespace tessera::compiler::block
