// Which elements of a name a record may still read, and all that it will make: boxes, per index from .. to, in what is
// known where the record is. Loops inside it stand for all of their iterations; what is called, for its summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/block/boxes.hpp"
#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

using Boxes = std::map<const Variable*, std::vector<Box>, ById>;

// So many of the indices of a name are looked at.
inline constexpr std::size_t kMostIndices = 4;

class Hulls {
 public:
  // A parameter that is passed names with some indices already; or a name that is passed for one, with fewer.
  struct Parameter {
    std::size_t prefix = 0;
    std::vector<const Variable*> given;  // these indices, as variables; null: nobody knows
  };
  using Parameters = std::map<const Variable*, Parameter, ById>;
  using Names = std::set<const Variable*, ById>;

  // Of these names and parameters; `writes`: those of which also what may be assigned counts.
  Hulls(Program& program, const Names& names, const Names& writes, const Parameters& parameters);

  // What a record of the chain that is at block number `position` may still read. Empty: nothing, or, at the first one,
  // no more than that block's own inputs.
  Boxes of(const Chain& chain, std::size_t position);
  // What others may read of names by what this `while` gives out: as much as if it were its counter now. As long as it
  // goes on they know no index: they hold what is given out instead (a box of it), and it holds this for them. With
  // `handed`: of names of whose scope it is one, too. Without: of the others, for which nobody holds it.
  Boxes after(const Chain& loop, bool handed) const;
  bool is_recursive(const Chain* sub) const { return recursive_.count(sub) != 0; }

 private:
  using Known = std::map<const Variable*, Side, ById>;  // what variables inside the record are at least and at most

  // What a `while` of the body that declares them gives out. Not of those that are made again and again for the same
  // names: what is read after each of them would stay.
  struct End {
    const Chain* loop;
    const Body* body;
    Names known;  // where it is
  };
  // Where a name is declared; and the outermost body in which that is made once, on no condition.
  struct Place {
    const Body* body;
    const Body* once;
  };

  void find_ends(const Chain& c, const Body& b, const Body& once, Names known);
  void find_inputs(const Chain& c);
  void find_after();
  std::size_t prefix_of(const Variable* base) const;
  void summarise();
  void order(const Chain* sub, std::set<const Chain*>& seen);
  Boxes whole(const Chain& chain);
  bool widen(std::vector<Box>& known, const Box& box);
  void wait_for(const Chain& c, std::size_t position);
  bool is_handed(const Variable* base, const Variable* out) const;
  const Variable* late_in(const Box& box) const;
  bool holds_end(const Variable* base, const Box& box, Boxes& out);

  void chain(const Chain& c, const Spawn* spawn, Boxes& out);
  void block(const Block& b, bool inputs, Boxes& out);
  void body(const Body& b, Boxes& out);
  void call(const Spawn& s, Boxes& out);
  void name(const NameUse& n, Boxes& out);
  void add(const Variable* base, Box box, Boxes& out);
  ExprPtr end(const ExprPtr& e, bool upper) const;
  ExprPtr end_of_both(const semantics::Expr& e, bool upper) const;
  ExprPtr end_of_scaled(const semantics::Expr& e, bool upper) const;
  ExprPtr end_of_choice(const semantics::Expr& e, bool upper) const;
  ExprPtr certainly(const semantics::Expr& e, bool so) const;
  bool is_fixed(const semantics::Expr& e) const;

  Program& program_;
  const Names &names_, &writes_;
  const Parameters& parameters_;
  Known known_;
  Names inside_;  // declared inside the record
  Names late_;    // such inputs that the record waits for, or what it will make
  std::map<const Chain*, Boxes> summaries_;
  std::map<const Variable*, Place, ById> declared_in_;
  std::map<const Variable*, End, ById> ends_;  // by what is given out
  // What stands for an input that a `while` has given out; and by what name that is.
  std::map<const Block*, std::map<std::int64_t, const Variable*>> inputs_;
  std::map<const Variable*, const Variable*, ById> given_out_;
  const Block* at_ = nullptr;  // whose inputs are meant
  std::map<const Chain*, std::map<const Variable*, std::vector<Box>, ById>> after_;
  bool more_after_ = false;
  std::vector<const Chain*> order_;  // callees first
  std::map<const Chain*, std::set<const Chain*>> calls_;
  std::set<const Chain*> recursive_;
};

}  // namespace tessera::compiler::block
