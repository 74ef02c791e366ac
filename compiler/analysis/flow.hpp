// The flow of a program: everything main will do, with subs put in the place of their calls, as a
// tree of nodes and the accesses they make to data fragments. Loops stay loops.
//
//   sub f(name a, int n) { for i = 1..n  init(a[i - 1], a[i]); }      call f            name x
//   sub main() { df x; f(x, 9); }                               ->      for i: 1..9
//                                                                         call init     reads x[i -
//                                                                         1]
//                                                                                       writes x[i]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/analysis/linear.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::analysis {

using NodeId = std::uint32_t;
using NameId = std::uint32_t;
using AccessId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffff;

// Symbol: a counter of a loop; the quotient of a division by a constant; or some value that is the
// same wherever it stands (data fragments have one value), but unknown.
struct SymbolInfo {
  enum class Kind : std::uint8_t { counter, quotient, value };
  Kind kind = Kind::value;
  NodeId node = 0;   // the deepest one whose instance it depends on
  std::string text;  // for people
  Linear of;         // quotient: of / divisor, `of` is not negative
  std::int64_t divisor = 1;
  std::optional<std::int64_t> least, most;  // where constants bound it
};

// A condition in disjunctive form: alternatives of conjunctions of `>= 0`. Empty: nothing known.
using Alternatives = std::vector<std::vector<Linear>>;

struct Node {
  enum class Kind : std::uint8_t {
    root,
    kernel,
    sub,          // a call that was put in its place
    unknown_sub,  // a call that was not: recursion
    range,        // the body of a `for`
    loop,         // a `while` as a whole: evaluates the condition for the first time, assigns `out`
    iteration,    // the body of a `while`
    branch        // the body of an `if`
  };
  Kind kind = Kind::root;
  NodeId parent = kNone;
  std::uint32_t depth = 0;
  Extent at;
  const std::string* callee = nullptr;
  Symbol counter = kNone;             // range, iteration
  Linear first, last;                 // of the counter; iteration: only first
  Alternatives condition;             // branch: holds whenever the body runs
  Alternatives of_values;             // branch: the same, and what it says of values that may be real (values.cpp)
  std::string condition_key;          // branch: not all of the condition; equal keys, equal values
  std::uint32_t condition_depth = 0;  // of the deepest node the condition depends on
  std::vector<AccessId> needs;        // reads without which it does not run
  std::vector<AccessId> writes;
  std::vector<AccessId> done;     // sub: writes when everything under it has finished
  std::vector<AccessId> deletes;  // when it (with everything under it) has finished
  std::vector<NameId> passed;     // unknown_sub: names it may read
};

struct Access {
  enum class Kind : std::uint8_t { read, write, free, count };
  Kind kind = Kind::read;
  NodeId owner = 0;  // the node whose needs, writes, ... have it
  NodeId node = 0;   // happens once for each instance of this node
  NameId name = 0;
  std::vector<Linear> indices;
  bool prefix = false;     // and anything behind the indices
  bool maybe = false;      // stands in a part of an expression that may not be evaluated
  bool locator = false;    // read by a locator
  bool request = false;    // named by `request`
  std::int64_t count = 0;  // count: so many reads are allowed
  Extent at;
};

// Name is one `df` name in one place of the tree: fresh for each instance of its node.
struct Name {
  const semantics::Variable* variable = nullptr;
  NodeId node = 0;
  std::vector<AccessId> reads, writes, frees, counts;
  bool read = false;  // also in code that never runs
  bool written = false;
};

struct Flow {
  std::vector<Node> nodes;
  std::vector<Access> accesses;
  std::vector<Name> names;
  std::vector<SymbolInfo> symbols;

  bool within(NodeId node, NodeId around) const {  // or the same
    while (nodes[node].depth > nodes[around].depth) node = nodes[node].parent;
    return node == around;
  }
};

// Range of an expression's value as far as constants bound it.
using Range = std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>;
Range range_of(const Flow& flow, const Linear& l);

NodeId deepest_node(const Flow& flow, const Linear& l);

// text_of shows an expression as people wrote it, more or less: "2 * i + 1".
std::string text_of(const Flow& flow, const Linear& l);

// build_flow follows main. Calls back into a sub that is being followed, and calls that would make
// the flow larger than `limit` nodes, become unknown_sub.
Flow build_flow(const semantics::Model& model, std::size_t limit);

}  // namespace tessera::compiler::analysis
