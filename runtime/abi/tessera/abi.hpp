// The contract between generated code and the runtime (docs/abi.md explains it with an example).
//
// Generated code includes this header and nothing else, so it stays cheap to compile: no standard
// containers, no streams. A computation fragment (CF) is a `Cf` record: a few header words, then
// its frame (the variables it captured) and its input slots. What a CF does is a chain of blocks;
// `Block` is the static description of one of them.
#pragma once

#include "tessera/expressions.hpp"
#include "tessera/values.hpp"

namespace tessera::abi {

inline constexpr std::uint32_t kAbiVersion = 18;

// ---------------------------------------------------------------------------- fragments

struct Worker;  // the thread that runs the block; opaque here
struct Cf;
struct Block;

// Scope is one instance of a construct that declares names. The runtime's scope record begins
// with this.
struct Scope {
  Id id;
  std::uint64_t ref;
};

struct Cf {
  Cf* next;            // the runtime's queues
  const Block* block;  // the block to run next
  Scope* scope;        // the scope it belongs to; holds one count of it
  Id id;
  std::uint32_t pending;  // inputs still missing (atomic)
  std::uint16_t flags;
  std::uint16_t capacity;  // words behind the header
  // then: block->frame_words of frame, then the inputs' slots
  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  const std::uint64_t* words() const { return reinterpret_cast<const std::uint64_t*>(this + 1); }
};

// Hulls: what a fragment and all that it makes may still read of swept names (Block::hulls). Bounds of up to two
// indices of an element.
inline constexpr std::int64_t kLeast = INT64_MIN, kMost = INT64_MAX;
constexpr std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t greater(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
inline constexpr std::int64_t kNoIndex = INT64_MAX;  // of an element that has no such index: it is not swept
struct Hull {
  std::int64_t horizon;
  std::int64_t first[2], last[2];
};
struct Hulls {
  std::uint32_t count = 0;
  Hull at[64];
  void add(std::int64_t horizon, std::int64_t f0 = kLeast, std::int64_t l0 = kMost, std::int64_t f1 = kLeast,
           std::int64_t l1 = kMost) {
    if (horizon != 0) at[count++] = {horizon, {f0, f1}, {l0, l1}};
  }
};
// Where a fragment of a swept name is to be looked for.
struct Spot {
  std::int64_t horizon;  // 0: it is not swept
  std::int64_t key[2];
};

enum class Kind : std::uint8_t {
  atomic,  // calls a kernel
  sub,     // instantiates the body of a sub
  range,   // `for`: iterate() is called for each index in words [0] .. [1]
  loop,    // `while`: run() returns Next::wait to try the next index
  branch,  // `if` that waits for its condition
  eval,    // computes arguments, or whether that is to be, then becomes the next block of its chain
};

// Next is how a block ends: the CF is finished, or it has set cf->block (possibly to the same one)
// and its frame, and wants that block's inputs now.
enum class Next : std::uint8_t { finished, wait };

// SlotInfo describes an input (first) or output (after the inputs) of a block for people.
struct SlotInfo {
  const char* text;       // `Csum[k-1]` as written
  const char* base;       // `Csum`
  std::uint16_t indices;  // how many numbers of Block::indices belong to it
  // Inputs: who could assign it: "`init` at prog.fa:5, ..." or "nothing assigns it". Outputs: of a sub's parameter,
  // what its callers have declared, if that has one name; else null.
  const char* producers;
};

// VarInfo: one captured variable that a person wrote (counters, parameters), for messages; or a name that nothing that
// the fragment makes assigns.
struct VarInfo {
  const char* name;
  char kind;           // as in Block::layout; o: such a name
  std::uint16_t word;  // its first word in the frame
};

// values_of: bit k says that word k of a frame of this layout is a Value*; the highest, that there may be some behind.
inline constexpr std::uint64_t kMoreValues = std::uint64_t{1} << 63;
constexpr std::uint64_t values_of(const char* layout) {
  std::uint64_t values = 0;
  for (unsigned word = 0; layout != nullptr && *layout != '\0'; ++layout) {
    if (word >= 63) return values | kMoreValues;
    if (*layout == 's' || *layout == 'v') values |= std::uint64_t{1} << word;
    word += *layout == 'n' ? 3 : 1;
  }
  return values;
}

struct Block {
  std::uint32_t index;  // in Program::blocks
  std::uint32_t group;  // index of the first block of its chain: the balancing group
  Kind kind;
  std::uint8_t flags;         // kStealable, ...
  std::uint16_t frame_words;  // same for all blocks of one chain
  std::uint16_t input_count;
  std::uint16_t capacity;  // words to allocate: max over the chain of frame + inputs
  // One letter per variable of the frame: n Name (3 words), i int64 (of 32 bits), l and h int64, r double, s string
  // Value*, v Value* (the last two may be null). Serialisation and destruction follow it.
  const char* layout;
  void (*inputs)(const Cf*, Name*);             // fills input_count names; null when none
  Next (*run)(Worker*, Cf*);                    // null for ranges
  void (*iterate)(Worker*, Cf*, std::int64_t);  // ranges only
  std::int64_t (*locator)(const Cf*);           // locator_cyclic; null when none
  void (*indices)(const Cf*, std::int64_t*);    // index values of all slots, flattened; null when none
  const char* label;                            // `mul`, `for i`, `while`: what a table of groups prints
  const char* text;                             // the statement, shortened to one line
  Pos pos;
  const SlotInfo* slots;  // input_count inputs, then output_count outputs
  std::uint16_t output_count;
  std::uint16_t var_count;
  const VarInfo* vars;
  // range, loop: groups of the atomic calls directly in one iteration, or turn (for weights); ends with ~0u
  const std::uint32_t* body_groups;
  // In subs: where the user calls them; ends with 0. Elsewhere null.
  const Pos* callers;
  // Of atomic fragments with a locator that do the same in one step after the other of a loop that runs in order: equal
  // for those of one series. Else null.
  std::uint64_t (*series)(const Cf*);
  // What the locator of the fragment says that assigns this input; kAnywhere when that is not known. Null: of none.
  std::int64_t (*maker)(const Cf*, std::uint32_t input);
  // By output number: somewhere an input relies on `maker`, so the value has to come to where this fragment was placed.
  std::uint64_t awaited;
  // By input number: whoever assigns it sends it to where this fragment is placed (Places).
  std::uint64_t expects;
  // What functions that many blocks share find of this one. The runtime does not look at them.
  const std::int64_t* numbers = nullptr;  // and places
  const Block* const* makes = nullptr;
  const char* const* texts = nullptr;
  std::uint64_t values = values_of(layout);
  // With kHolds. Of a range: of these iterations; of others: of the fragment as it is. And the frame's word for what
  // the runtime holds.
  void (*hulls)(const Cf*, std::int64_t first, std::int64_t last, Hulls*) = nullptr;
  std::uint16_t hold_word = 0;
  // range: the groups of what waits for other iterations, ~0u, those of all else that an iteration makes and that has
  // no place, ~0u, those of which each iteration makes one, ~0u. Null: nothing waits so. loop each turn of which reads
  // what others make meanwhile: those of its calls, ~0u.
  const std::uint32_t* carried = nullptr;
  // range: the indices of the blocks that stand in its body and in subs that it calls, from, below, from, .., ~0u.
  // Null: an iteration makes what `body_groups` names, and nothing else.
  const std::uint32_t* within = nullptr;
  // The groups that may assign what the fragment reads, ~0u. Null: it reads nothing, or it is not known.
  const std::uint32_t* fed_by = nullptr;
};
inline constexpr std::int64_t kAnywhere = INT64_MIN;
inline constexpr std::uint8_t kStealable = 1;
inline constexpr std::uint8_t kNested = 2;  // range: an iteration makes more than atomic fragments
// range: every rank runs it. Words 2 and 3 of its frame are `rank` and `ranks`: it makes what belongs to that one. As
// it is created they are 0 and 1, and mean all.
inline constexpr std::uint8_t kSpreads = 4;
inline constexpr std::uint8_t kStays = 8;  // range: it makes what has a place; where it runs balances nothing
inline constexpr std::uint8_t kPlaces =
    1;  // range: all that it makes has a place, in the end. What is no range: kStays
inline constexpr std::uint8_t kInlined = 16;  // `callers` are no alternatives: each calls the one before
// range, atomic: shipping one takes along what costs no shipment of its own, iterations that read nothing of others, or
// runs of a call that repeats and waits for nobody else meanwhile.
inline constexpr std::uint8_t kBulk = 32;
inline constexpr std::uint8_t kHolds = 64;     // there are hulls: it may still read more than its inputs
inline constexpr std::uint8_t kPlain = 128;    // range: an iteration makes nothing but what `body_groups` names
inline constexpr std::uint8_t kRepeats = 128;  // atomic: words 0 and 1 of its frame are the counter and its last value

struct Program {
  std::uint32_t abi_version;
  std::uint32_t block_count;
  const Block* const* blocks;
  const char* const* files;  // Pos file numbers
  std::uint32_t file_count;
  std::uint64_t hash[2];    // of the translated text: what profiles belong to
  const char* name;         // path of the .fa
  const Block* main;        // frame: main's parameters in order
  const char* main_layout;  // their kinds: i, l, r, s
  const char* const* main_names;
  std::uint32_t main_params;
  // Somewhere a name is freed because the program says so: whoever is to read it has to do so before.
  bool deletes = true;
};

// ---------------------------------------------------------------------------- what generated code calls

// cf_new makes a CF of the chain that starts with `block`, belonging to `scope`; the caller fills
// its frame (all words start at zero) and hands it over with cf_submit, which may run it at once.
Cf* cf_new(Worker*, const Block&, Scope*, Id);
void cf_submit(Worker*, Cf*);
// Places the CF on a rank (evaluated locator); call before returning Next::wait.
void cf_locate(Worker*, Cf*, std::int64_t rank);

// scope_open starts a scope instance whose parent is `parent`; names in it are
// scope_name(s, ordinal). The body closes it when it has created all its fragments.
Scope* scope_open(Worker*, Scope* parent, Id);
void scope_close(Worker*, Scope*);
// When everything under the scope has finished: assign int 1 to `done` (for `>> (y)`), free `x` (for
// `--> (x)` and `delete`). Any number of each.
void scope_notify(Worker*, Scope*, Name done, const Spot& = {});
void scope_delete(Worker*, Scope*, Name x);
// Deletes of the name, or of parts of it, wait: until everything under the scope has finished; between the two calls.
void scope_hold(Worker*, Scope*, Name);
void hold(Worker*, Name, Id by);
void hold_ends(Worker*, Name, Id by);
inline constexpr std::uint64_t kBodyHolds = std::uint64_t{1} << 40;  // no number of a statement
// The same for names that may be held: parts[0] is the name, the others are it with one index more, the last is what is
// freed. `all`: it may be held under names that are not among these.
void scope_delete_held(Worker*, Scope*, const Name* parts, std::uint32_t count, bool all);
void hint_delete_held(Worker*, Cf*, const Name* parts, std::uint32_t count, bool all);
TESSERA_HOT Name scope_name(const Scope* s, std::uint32_t ordinal) { return {mix(s->id, ordinal), s->ref}; }

// In Cf::flags while it runs: a journal knows what its kernel gave. It is not called, and its outputs stay empty. It
// may have no inputs.
inline constexpr std::uint16_t kRecalled = 16;
TESSERA_HOT bool recalled(const Cf* c) { return (c->flags & kRecalled) != 0; }

// Gives the name its value (takes the reference from df). `output` numbers the block's outputs.
void assign(Worker*, Cf*, std::uint32_t output, const Name&, Df&);
// Trial: the values of a loop's counter for which indices may be what they are: those of first..last, by steps. With
// sum = factor * counter + rest: `quotient` leaves those for which sum / by is q, then `remainder` those for which
// sum % by may be q (factor is 1 or -1; of a negative sum it is negative). Nothing is left when `by` is zero.
struct Trial {
  std::int64_t first, last, step = 1;
  void quotient(std::int64_t q, std::int64_t factor, std::int64_t rest, std::int64_t by) {
    if (by < 0) q = -q, by = -by;
    std::int64_t low = (q > 0 ? q * by : q * by - (by - 1)) - rest, high = (q < 0 ? q * by : q * by + (by - 1)) - rest;
    if (factor < 0) {
      const std::int64_t before = low;
      low = -high, high = -before, factor = -factor;
    }
    const std::int64_t up = low / factor + (low % factor > 0), down = high / factor - (high % factor < 0);
    first = first > up ? first : up;
    last = by == 0 ? first - 1 : last < down ? last : down;
  }
  void remainder(std::int64_t q, std::int64_t factor, std::int64_t rest, std::int64_t by) {
    if (by < 0) by = -by;
    if (q <= -by || q >= by) {
      last = first - 1;
    } else if (step == 1) {
      const std::int64_t behind = (factor * (q - rest) - first) % by;
      first += behind < 0 ? behind + by : behind;
      step = by;
    }
  }
};
TESSERA_HOT std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
TESSERA_HOT std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
// Places: where fragments are placed that will read what is assigned, and have not to ask for it.
struct Places {
  std::uint32_t count;
  std::int64_t at[16];  // as many as readers are counted for one name (pass count-uses)
  void add(std::int64_t place) { at[count++] = place; }
};
Places* places(Worker*);  // empty; null: there is no other rank
// The same for a name with known uses: so many fragments will read it, some of them at `to`.
void assign_used(Worker*, Cf*, std::uint32_t output, const Name&, Df&, std::int64_t uses, const Places* to = nullptr);
void assign_value(Worker*, Cf*, std::uint32_t output, const Name&, Value*);  // takes the reference
// The same for swept names.
void assign_swept(Worker*, Cf*, std::uint32_t output, const Name&, Df&, const Spot&);
void assign_value(Worker*, Cf*, std::uint32_t output, const Name&, Value*, const Spot&);
// The horizon of a swept name that the scope declares; its body closes it when it has created all its fragments. 0: in
// this run it is not swept.
std::int64_t horizon_open(Worker*, Scope*);
void horizon_close(Worker*, std::int64_t horizon);
// What these say may be read as long as somebody holds the name whose horizon is `until`, of the same scope as all of
// them; 0: as long as they live.
void hulls_stay(const Hulls&, std::int64_t until);

// look copies the values of the inputs of this block, by their names, where all are numbers that are on this rank, and
// says whether they are: so a condition is known before there is a fragment for it. looked counts them as read, by a
// fragment that need not be made.
bool look(Worker*, const Block&, const Name*, Value* copies);
void looked(Worker*, const Block&, const Name*);
// A use that was counted of this element will not be made; and that was all that this fragment takes back.
void take_back(Worker*, const Name&);
void taken_back(Worker*, const Cf*);

// The ranks that locators count, the same throughout a run.
std::int32_t ranks();

// Advice that frees early: after this CF; after n reads. Every reader of a name that has a count
// somewhere in the program reports its read, `slot` being its input.
void hint_delete(Worker*, Cf*, const Name&);
void hint_reads(Worker*, Cf*, const Name&, std::int64_t n);
void read_done(Worker*, Cf*, const Name&, std::uint32_t slot);

// Does what a locator says mean `rank` of `ranks`?
TESSERA_HOT bool belongs(std::int64_t place, std::int64_t ranks, std::int64_t rank) {
  const std::int64_t rest = place % ranks;
  return (rest < 0 ? rest + ranks : rest) == rank;
}

TESSERA_HOT Name& frame_name(Cf* c, unsigned w) { return *reinterpret_cast<Name*>(c->words() + w); }
TESSERA_HOT const Name& frame_name(const Cf* c, unsigned w) { return *reinterpret_cast<const Name*>(c->words() + w); }
TESSERA_HOT std::int64_t& frame_int(Cf* c, unsigned w) { return reinterpret_cast<std::int64_t&>(c->words()[w]); }
TESSERA_HOT std::int64_t frame_int(const Cf* c, unsigned w) { return static_cast<std::int64_t>(c->words()[w]); }
TESSERA_HOT double& frame_real(Cf* c, unsigned w) { return reinterpret_cast<double&>(c->words()[w]); }
TESSERA_HOT double frame_real(const Cf* c, unsigned w) { return reinterpret_cast<const double&>(c->words()[w]); }
TESSERA_HOT Value*& frame_value(Cf* c, unsigned w) { return reinterpret_cast<Value*&>(c->words()[w]); }
TESSERA_HOT Value* frame_value(const Cf* c, unsigned w) { return reinterpret_cast<Value* const&>(c->words()[w]); }
// The value of input k while the block runs (borrowed).
TESSERA_HOT Value* input(const Cf* c, const Block& b, unsigned k) {
  return reinterpret_cast<Value* const&>(c->words()[b.frame_words + k]);
}

}  // namespace tessera::abi

// Every generated program defines this one function.
extern "C" const tessera::abi::Program* tessera_program();
