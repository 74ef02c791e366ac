// Query turns accesses of the flow into constraints. Two instances of the same loop in one question
// have different variables, told apart by a tag; symbols of the nodes around `shared` have one.
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/flow.hpp"
#include "compiler/analysis/integer_system.hpp"

namespace tessera::compiler::analysis {

// Domain: which instances of a node there are inside one instance of the shared node. A part is a
// conjunction, the domain their union.
struct Domain {
  std::vector<System> parts;
  // Nodes that decide in a way the parts do not say whether their body runs: the parts
  // then have more instances than there are.
  std::vector<NodeId> guards;
  NodeId guard = kNone;  // the innermost of them
};

// may_be_one: `x` and `x[i]` are different fragments, and so is all behind `x[i]` from `x`.
bool may_be_one(const Access& a, const Access& b);

class Query {
 public:
  enum Tag : std::uint8_t { common, one, two };

  // Questions about instances that share the one of node `shared`. `values_too`: values that nobody knows are
  // variables, of each instance its own, instead of leaving out what mentions them.
  Query(const Flow& flow, NodeId shared, bool values_too = false);

  Domain domain(NodeId node, Tag tag);  // of a node within `shared`

  // equal adds that both accesses are to the same fragment. An index that is not known exactly
  // leaves its dimension out and clears `exact`.
  System equal(const Access& a, Tag of_a, const Access& b, Tag of_b, bool& exact);

  // orders lists the ways in which the instances one and two of a node can differ: two after one.
  std::vector<System> orders(NodeId node, Tag before = one, Tag after = two);

  // With `values_too`: the values of which both instances have one. Each depends on an instance of its node.
  std::vector<Symbol> values_of_both() const;

  // context: what is known around the shared instance.
  System context();

  // given()[v]: whether variable v is not ours to choose: a statement about the program must
  // hold for all its values. Those are unknown values, and the counters around conditions that are
  // not known. With `inner`, also the variables of tag two down to that node's depth.
  std::vector<bool> given(std::uint32_t inner_depth = 0) const;

  // same_shared adds that the shared instance is the one of a solution of another question.
  void same_shared(System& s, const Query& other, const std::vector<Integer>& point) const;

  bool determined(const Linear& l) const;
  Row row(const Linear& l, Tag tag);
  std::size_t variable(Symbol s, Tag tag);
  System empty() const;  // no constraints but what divisions mean
  std::size_t variables() const { return keys_.size(); }
  std::int64_t value(const Linear& l, Tag tag, const std::vector<Integer>& point) const;
  // unknowns says what a solution takes for values that nobody knows: "n = 3, m = 0", or "".
  std::string unknowns(const std::vector<Integer>& point) const;

 private:
  struct Key {
    Symbol symbol;
    Tag tag;
  };
  std::uint32_t depth(Symbol s) const { return flow_.nodes[flow_.symbols[s].node].depth; }
  std::vector<NodeId> chain(NodeId node, NodeId around) const;  // outermost first
  void add_positive(System& s, const Linear& l, Tag tag);

  const Flow& flow_;
  NodeId shared_;
  bool values_too_;
  std::uint32_t shared_depth_;
  std::uint32_t anchor_depth_ = 0;  // counters down to here are given
  std::vector<Key> keys_;
  std::vector<Row> definitions_;
};

}  // namespace tessera::compiler::analysis
