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

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

// By index; indices behind the last one are not bounded.
using Box = std::vector<Side>;
using Boxes = std::map<const Variable*, std::vector<Box>, ById>;

// So many of the indices of a name are looked at.
inline constexpr std::size_t kMostIndices = 4;
// A record's boxes of one name; more are made one.
inline constexpr std::size_t kMostBoxes = 4;

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
  Hulls(const Program& program, const Names& names, const Names& writes, const Parameters& parameters);

  // What a record of the chain that is at block number `position` may still read. Empty: nothing, or, at the first one,
  // no more than that block's own inputs.
  Boxes of(const Chain& chain, std::size_t position);
  // What others may read of names at indices that this `while` gives out: from its counter on. They are not asked to
  // hold that themselves, since as long as it goes on they know no index.
  Boxes after(const Chain& loop) const;
  bool is_recursive(const Chain* sub) const { return recursive_.count(sub) != 0; }

 private:
  using Known = std::map<const Variable*, Side, ById>;  // what variables inside the record are at least and at most

  // What a `while` of the body that declares them gives out. Not of those that are made again and again for the same
  // names: what is read after each of them would stay.
  struct End {
    const Chain* loop;
    const Body* body;
  };
  // An index that is what a `while` has given out, and `plus`.
  struct AtEnd {
    const Variable* out = nullptr;
    std::int64_t plus = 0;
  };

  void find_ends(const Body& b, const Body& once);
  void find_uses(const Chain& c);
  void uses_in(const Step& step);
  std::size_t prefix_of(const Variable* base) const;
  void read_after(const NameUse& n);
  void pass_assigned();
  std::optional<AtEnd> at_end(const Variable* base, const semantics::Expr& index) const;
  bool is_after(const NameUse& n) const;
  void summarise();
  void order(const Chain* sub, std::set<const Chain*>& seen);
  Boxes whole(const Chain& chain);
  bool widen(std::vector<Box>& known, const Box& box);

  void chain(const Chain& c, const Spawn* spawn, Boxes& out);
  void block(const Block& b, bool inputs, Boxes& out);
  void body(const Body& b, Boxes& out);
  void call(const Spawn& s, Boxes& out);
  void read(const NameUse& n, Boxes& out);
  void name(const NameUse& n, Boxes& out);
  void add(const Variable* base, Box box, Boxes& out);
  ExprPtr end(const ExprPtr& e, bool upper) const;
  ExprPtr product(const semantics::Expr& e, bool upper) const;

  const Program& program_;
  const Names &names_, &writes_;
  const Parameters& parameters_;
  Known known_;
  Names inside_;  // declared inside the record
  std::map<const Chain*, Boxes> summaries_;
  std::map<const Variable*, const Body*, ById> declared_in_;
  std::map<const Variable*, End, ById> ends_;      // by what is given out
  std::map<const Variable*, AtEnd, ById> values_;  // variables that are such
  std::map<const Chain*, std::map<const Variable*, std::map<std::size_t, std::int64_t>, ById>>
      after_;                                                        // least, by index
  Names assigned_;                                                   // somewhere, also as a parameter
  std::vector<std::pair<const Variable*, const Variable*>> passed_;  // parameters, and what they are passed
  std::vector<const Chain*> order_;                                  // callees first
  std::map<const Chain*, std::set<const Chain*>> calls_;
  std::set<const Chain*> recursive_;
};

}  // namespace tessera::compiler::block
