// For pass count-uses: readers of which only the run decides whether they are made. They are counted as if they were,
// and what is not made is taken back by whoever decides.
//   if c == 1 f(x[i]);                    the `if`, when c is not 1: x[i]
//   while x[t] > e, t = 0 .. out w        its end, at t: what turns t, t + 1, ... would read of what there is
//     f(x[t], x[t + 1]);
//   g(x[w]);                              each turn: what g would read, did the `while` end there
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

// A `while`, where it stands.
struct While {
  Block* block = nullptr;
  Around turns;                           // its counter from its start on, with no end
  std::vector<Around> path;               // what is around it, from the sub on
  std::set<const Variable*, ById> names;  // declared around it
};

// An index that is what a `while` gave out, or so much more.
struct OutIndex {
  NameUse out;
  std::int32_t more = 0;
};

// A reader, where it stands.
struct ReadAt {
  Input input;
  std::vector<Around> path;  // from the sub on
  ExprPtr locator;
  Block* block = nullptr;
  std::size_t number = 0;                           // of the input
  bool in_condition = false;                        // of the `while` that is innermost in `path`
  std::vector<std::optional<OutIndex>> by_outputs;  // of each index
};

struct AssignedAt {
  NameUse name;
  std::vector<Around> path;
};

// out_index says if index `e` of block number `position` is what a `while` gave out.
std::optional<OutIndex> out_index(const Chain& chain, std::size_t position, const ExprPtr& e);

class Undecided {
 public:
  using Outputs = std::map<const Variable*, std::optional<While>, ById>;  // by name; nothing: of several
  // `depth`: where the name is declared, in paths.
  Undecided(const Program& program, const Outputs& outputs, const std::vector<AssignedAt>& assigned, std::size_t depth)
      : program_(program), outputs_(outputs), assigned_(assigned), depth_(depth) {}

  // begin fills in what is around the reader and what it reads, by counters. Says why it can't be counted, or null.
  const char* begin(const ReadAt& read, Uses::Reader& reader);
  // solved: the same, now that the reader's equations are solved. If it says null, `take_back` may be called.
  const char* solved(const Uses::Reader& reader);
  // take_back tells those who decide about the reader what to take back.
  void take_back(const Uses::Reader& reader) const;

 private:
  const char* begin_after(const OutIndex& index, const ReadAt& read, Uses::Reader& reader);
  bool ends_rows(const Uses::Reader& reader);
  bool is_assigned_anyway() const;
  std::vector<Around> within(const Uses::Reader& reader, std::size_t from) const;
  Around turns(std::int32_t first, std::int32_t last) const;

  const Program& program_;
  const Outputs& outputs_;
  const std::vector<AssignedAt>& assigned_;
  const std::size_t depth_;
  // Of the reader that was begun last:
  const While* after_ = nullptr;      // it reads what this one gave out
  std::optional<std::size_t> while_;  // where that, or the one around it, is in `around`
  bool in_condition_ = false, branches_ = false;
  // Turn t assigns no row beyond t + ahead_ + what the reader adds to its counter; ends at t: there is none beyond t +
  // ahead_ of those that turns would read.
  std::int32_t ahead_ = 0;
};

}  // namespace tessera::compiler::block
