// The block program: what generated code will do, before it is text.
//
// A statement becomes a chain of blocks: a CF runs the first one, perhaps waits, runs the next. All
// blocks of a chain share one frame, the variables that the statement captured. A body (of a sub, a
// loop, a branch) is straight-line code that creates the CFs of its statements.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/semantics/model.hpp"

namespace tessera::compiler::block {

using semantics::ExprPtr;
using semantics::NameUse;
using semantics::Variable;

enum class Kind : std::uint8_t { atomic, sub, range, loop, branch, eval };
const char* spelling(Kind);

struct Chain;
struct When;

struct ById {  // an order that is the same in every run
  bool operator()(const Variable* a, const Variable* b) const { return a->id < b->id; }
};

// Spawn creates one CF of `chain`.
struct Spawn {
  std::uint32_t ordinal = 0;  // its id is mix(id of the body, ordinal)
  Chain* chain = nullptr;     // the chain of a sub, or `owned`
  std::unique_ptr<Chain> owned;

  bool has_end() const { return !done.empty() || !deletes.empty(); }
  // Values of chain->parameters, in order. Other captured variables are copied under their name.
  std::vector<semantics::Argument> arguments;
  // Subs only, when everything under the CF has finished: assigned 1; then freed.
  std::vector<NameUse> done, deletes;
  std::uint32_t end_ordinal = 0;             // of the scope opened for that
  std::vector<semantics::ReadCount> counts;  // subs only: until pass defer-arguments
  ExprPtr locator;                           // subs only: until pass defer-arguments gives it a chain
  bool otherwise = false;                    // an `else`: the step before it is its `if`
  // Made only if the chain's locator means `rank` of `ranks`; null: always. Pass spread-loops.
  const Variable* rank = nullptr;
  const Variable* ranks = nullptr;
  // What deletes of these names elsewhere are to wait for: everything under the CF. Pass hold-deletes.
  std::vector<NameUse> holds;
  Extent at;
};

// CountReads tells that a fragment will be read `count` times and is then free.
struct CountReads {
  NameUse name;
  ExprPtr count;
};

// Evaluate finds what is wrong with an expression; nobody needs its value.
struct Evaluate {
  ExprPtr value;
};

using Step = std::variant<Spawn, CountReads, Evaluate, std::unique_ptr<When>>;

struct Declared {
  const Variable* variable = nullptr;
  std::uint32_t ordinal = 0;
};

// Body: a scope is opened for it when it declares names, or frees some at its end.
struct Body {
  std::vector<Declared> names;
  std::vector<NameUse> deletes;  // names of scopes around it
  // Deletes of these names wait until the body has created all there is in it. Pass hold-deletes.
  std::vector<NameUse> holds;
  std::vector<Step> steps;
};

// When runs its body in place: an `if` that waits for nothing, or a sub that declares names. The id of its body is
// mix(id of the body around it, ordinal), the same as if a CF ran it.
struct When {
  std::uint32_t ordinal = 0;
  ExprPtr condition;  // null: always
  Body body;
};

struct KernelCall {
  const semantics::Kernel* kernel = nullptr;
  std::vector<semantics::Argument> arguments;
};

struct Set {  // a word of the frame gets a value, for the blocks that follow
  const Variable* variable = nullptr;
  ExprPtr value;
};

struct Block;

// One loop or condition around a reader.
struct Around {
  const Variable* counter = nullptr;  // of a loop; null: a condition
  ExprPtr first, last;                // of a loop; `last` is null where nobody knows it: a `while`
  ExprPtr condition;                  // null: it reads fragments
  Block* decided = nullptr;           // what is known only when the program runs: by this branch or `while`
};

// Input: a fragment that a block waits for.
struct Input {
  NameUse name;
  ExprPtr when;  // only when this holds (it reads nothing); null: always
};

// Maker: where an input is made, as the locator of the call that assigns it says.
struct Maker {
  ExprPtr place;   // null: not known
  ExprPtr unless;  // or null: where this holds it is not known
};

// Counted uses that are taken back, since the run has decided against them: of this element, for all values of the
// counters. Pass count-uses.
struct TakenBack {
  std::vector<Around> around;  // outermost first; nothing in it is open
  ExprPtr when;
  NameUse name;
};

// What a record may still read of a name, by the indices that are looked at (Swept::keys): each from `first` to `last`,
// where null is no bound. Pass sweep-names.
struct Side {
  ExprPtr first, last;
};
struct Hull {
  NameUse base;  // no indices
  std::vector<Side> sides;
};

// Block: waits for `inputs`, then does what is present of the rest, in this order: sets, locate,
// call, condition, body, done, deletes.
struct Block {
  Kind kind = Kind::eval;
  std::uint32_t index = 0;  // pass number-blocks
  // Likewise, of a range: what stands in its body, or in subs that it calls, from .. below.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> within;
  std::vector<Input> inputs;           // pass match-inputs
  std::vector<std::uint32_t> counted;  // inputs with a req_count that no later block reads
  // Pass find-readers, by input number: who assigns it sends it to where this chain's locator says.
  std::uint64_t expects = 0;
  bool is_sent(std::size_t input) const { return input < 64 && (expects >> input & 1) != 0; }
  // Pass find-makers. Of each input. And by output number: some input relies on that.
  std::vector<Maker> makers;
  std::uint64_t awaited = 0;
  std::vector<Set> sets;
  ExprPtr locate;
  std::optional<KernelCall> call;
  ExprPtr condition;  // loop, branch; eval: else the chain ends here (pass fuse-branches)
  std::optional<Body> body;
  std::vector<TakenBack> otherwise;   // branch, loop, eval: when the condition does not hold
  std::vector<TakenBack> each_turn;   // loop: when it does
  const Variable* counter = nullptr;  // range: of one iteration; loop: a parameter of the chain
  const Variable* last = nullptr;     // atomic that repeats (pass fuse-chains): of the counter
  std::vector<NameUse> out;           // loop: gets the last counter (one name)
  std::vector<semantics::ReadCount> counts;
  std::vector<NameUse> done;  // atomic: assigned 1 after the kernel
  std::vector<NameUse> deletes;
  // Of a record that is at this block: what it and all that it makes may still read of swept names. None where it is
  // the first one and that is no more than its own inputs. Of a range by its first two parameters: what is left of it.
  std::vector<Hull> hulls;
  // Loop: what may be read by what it gives out. And of that what is held only as long as somebody may still be going
  // to read what it gives out.
  std::vector<Hull> stays, handed;

  // outputs lists what the block assigns, in the order of its output numbers.
  std::vector<const NameUse*> outputs() const;
  // slots: the inputs, then the outputs; index_count: how many indices they have together.
  std::vector<const NameUse*> slots() const;
  std::size_t index_count() const;
  bool has_makers() const;
};

struct FrameVariable {
  const Variable* variable = nullptr;
  std::uint16_t word = 0;
};

// What a sub is told of a name that it is passed: its horizon, or an index that it has already.
struct Hidden {
  const Variable* variable = nullptr;  // of letter h
  std::size_t parameter = 0;
  std::optional<std::size_t> key;  // of Swept::keys; nothing: the horizon
};

struct Chain {
  Kind kind = Kind::atomic;  // of its last block
  std::string label;
  std::string text;  // the statement on one line
  Extent at;
  std::vector<Extent> callers;  // pass note-callers: one of these called it
  bool inlined = false;         // pass inline-subs: callers are those of the sub it was in, of the sub around that, ...
  ExprPtr locator;
  bool stealable = false;
  // What tells its fragments of one step from each other; none: they form no series. Pass find-series.
  std::vector<const Variable*> series;
  // Ranges, pass spread-loops: every rank runs it, with its own `rank` and `ranks`, parameters 2 and 3; each runs it
  // where it is, so it is nothing to be balanced.
  bool spreads = false, stays = false;
  bool placed = false;  // all that it makes has a place, in the end; no call. Pass find-placed
  // Ranges, pass find-carried: of what an iteration makes the chains that wait for other iterations, and all others
  // that have no place. None of either where nothing waits so.
  std::vector<const Chain*> waiting, free;
  std::vector<const Variable*> parameters;   // filled by Spawn::arguments
  std::vector<const Variable*> captured;     // pass close-frames
  std::vector<Hidden> hidden;                // subs: filled by calls, too. Pass sweep-names
  const Variable* hold = nullptr;            // the word for what the runtime holds; a temporary. Pass sweep-names
  std::vector<const Variable*> temporaries;  // set by the chain's own blocks
  std::vector<FrameVariable> frame;          // in this order: parameters, captured, hidden, temporaries; close-frames
  std::uint16_t frame_words = 0;
  std::vector<const Chain*> fed_by;      // who may assign what it reads. Pass find-feeders
  std::vector<FrameVariable> only_read;  // names that nothing that it makes assigns. Pass find-only-read
  std::vector<std::unique_ptr<Block>> blocks;

  Block& last() { return *blocks.back(); }
  const Block& last() const { return *blocks.back(); }
  std::uint32_t group() const { return blocks.front()->index; }
  // What it counts the reads of, when it does nothing else; else null.
  const NameUse* counted_only() const;
  std::size_t capacity() const;
  FrameVariable place(const Variable*) const;  // in the frame
};

// Uses: how many fragments will read element [k0][k1]... of a name, as a function of the indices. The
// sum over the readers; each is counted by finding out which of its iterations read the element.
struct Uses {
  // constant + sum of factor * variable
  struct Linear {
    std::int64_t constant = 0;
    std::vector<std::pair<const Variable*, std::int64_t>> terms;
  };
  // counter = (k[index] - rest) / divisor, when that divides. Counters in `rest` are known before.
  struct Solved {
    const Variable* counter = nullptr;
    std::size_t index = 0;
    std::int64_t divisor = 1;
    Linear rest;
    int after = kBefore;  // the last of `tried` that must be known; kBefore: none
  };
  static constexpr int kBefore = -1;
  // k[index] = offset + sign * ((factor * counter + rest) % by), or / by, as C++ divides.
  struct Split {
    bool remainder = true;
    std::size_t index = 0;
    Linear offset;
    std::int64_t sign = 1, factor = 1;
    Linear rest;
    ExprPtr by;
  };
  // A counter that indices tell only so: each value within the bounds for which all of `splits` hold is tried.
  struct Tried {
    const Variable* counter = nullptr;
    std::vector<Split> splits;
    bool once = false;  // there is at most one
  };
  // A counter that no index tells, in a bound of one inside it that an index does: `inner` is within its bounds where
  // counter >= bound (`least`) or counter <= bound. Then that bound is not asked.
  struct Narrowed {
    const Variable* counter = nullptr;
    bool least = false;
    Linear bound;
    const Variable* inner = nullptr;
    bool of_first = false;  // the bound that is not asked
  };
  struct Reader {
    NameUse name;                // the element, by the counters
    std::vector<Around> around;  // inside the body that declares the name, outermost first
    std::vector<Tried> tried;    // in the order of `around`
    std::vector<Solved> solved;  // in this order; counters that are neither here nor in `tried` run freely
    std::vector<Narrowed> narrowed;
    std::vector<Solved> checks;                          // then: counter is null, k[index] = rest
    std::vector<std::pair<std::size_t, ExprPtr>> equal;  // last: k[first] is this, in which nothing runs freely
    ExprPtr when;                                        // of its Input
    // Where it is placed, as a function of the counters; null: unknown. It is input number `input` of `block`, until
    // fuse-chains.
    ExprPtr locator;
    Block* block = nullptr;
    std::size_t input = 0;
    bool perhaps = false;  // more often not made than made, for all that is known: nothing is sent to it unasked
    bool sent = false;     // who assigns the element sends it there. Pass find-readers
  };
  std::size_t dimensions = 0;
  bool deleted = false;  // some reader is advised to delete it
  std::vector<Reader> readers;
  std::vector<const Variable*> parameters;  // what counting and places need besides the indices

  // A parameter is what the reader's own counters are not.
  void add_parameter(const Reader& r, const Variable* v);
  void add_parameters(const Reader& r, const ExprPtr& e);  // all that are mentioned
  void add_parameters(const Reader& r, const Linear& l);
  bool sends() const;  // to some reader
  static bool is_narrowed(const Reader& r, const Variable* inner, bool first);
};

// Swept: a name that is not counted, whose fragments are freed when no record is left that may read them. Without keys:
// what a `while` gives out, of which only that is of interest, that somebody may still read it.
struct Swept {
  const Variable* horizon = nullptr;   // of letter h
  std::vector<std::size_t> keys;       // the indices that tell what may still be read: one or two, or none
  std::size_t prefix = 0;              // of a parameter: so many indices it has already
  std::vector<const Variable*> given;  // by key: the index, where it is among these; else null
};

// LongLived: a name that grows with a loop and is not counted, and why.
struct LongLived {
  const Variable* variable = nullptr;
  const char* why = nullptr;
  Extent at;
  bool many = false;  // fragments; else they may still be large
};

struct Program {
  std::deque<Variable> temporaries;  // owned here, ids follow the model's
  std::uint32_t next_id = 0;
  std::vector<std::unique_ptr<Chain>> subs;  // those reachable from main, main first
  std::vector<Chain*> chains;                // all, in order of index; pass number-blocks
  std::unordered_set<const Variable*> once;  // names proved to be assigned once; lower
  // Names whose fragments are freed after their last use, with one entry for each number of
  // indices that some assignment of the name has; pass count-uses.
  std::map<const Variable*, std::vector<Uses>, ById> uses;

  std::vector<LongLived> long_lived;             // pass count-uses; told by sweep-names
  std::map<const Variable*, Swept, ById> swept;  // names and parameters; pass sweep-names

  // Names whose deletes may have to wait; pass hold-deletes.
  std::unordered_set<const Variable*> held;
  // Parameters that stand for a part of a name, in some call; likewise.
  std::unordered_set<const Variable*> parts;

  const Uses* uses_of(const NameUse& assigned) const;
  const Swept* swept_of(const Variable* name) const;  // whose values are; else null

  const Variable* temporary(char letter, std::string name, Extent at);
};

// print shows the program as text: what `--dump-after` and the goldens use.
std::string print(const Program& program);

// verify returns what is broken in the form itself (a bug of ours), or "".
std::string verify(const Program& program);

}  // namespace tessera::compiler::block
