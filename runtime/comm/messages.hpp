// Everything ranks say to each other: a closed set of plain structs (docs/messages.md is the table
// of who sends what to whom and when). A value travels beside its message (Parcel::values); the
// struct carries a Passenger: a scalar is written in its place, of others the number of the value in the parcel.
//
// The struct is all there is to say of a message: fields.hpp takes it apart. `counts`: it carries work or data, and
// termination waves count it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "balancer/message.hpp"
#include "runtime/abi/tessera/abi.hpp"
#include "runtime/comm/silence.hpp"
#include "runtime/memory/held.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

// A value on its way: type none means "no value here".
struct Passenger {
  ValueRef value;
};

// Values that go into messages are marked (mark_wanted): a run with a journal sets it before it begins.
inline bool note_travels = false;

// ---- data fragments
struct Request {  // consumer's rank -> home: send me this value when it exists
  static constexpr bool counts = true;
  abi::Name name;
  bool lost = false;  // even if I have been given it: it may be gone
};
struct Publish {  // producer's rank -> home: assigned here
  static constexpr bool counts = true;
  abi::Name name;
  std::uint32_t block = 0;              // who assigned, for the report of a second assignment
  std::uint64_t ack = 0;                // not 0: answer Acked with it (protocol/counting.hpp)
  Passenger value;                      // small values travel; none: it stays with the producer
  std::vector<Rank> due;                // these have not asked, but wait for it
  bool given = false;                   // and the producer has sent it to them
  std::int64_t uses = -1;               // so many fragments will read it; -1: not known
  std::vector<std::int64_t> spot = {};  // of a swept name: its horizon, two indices, bytes
};
struct Acked {  // home -> producer
  static constexpr bool counts = true;
  std::uint64_t scope = 0;  // has one count less
};
struct Fetch {  // home -> the rank that keeps the value, or a rank with it -> one it has had it sent to: give it to
                // `to`
  static constexpr bool counts = true;
  abi::Name name;
  Rank to{-1};
};
struct Give {  // home, keeper, or a rank asked by Fetch -> consumer's rank
  static constexpr bool counts = true;
  abi::Name name;
  Passenger value;
};
struct Copied {  // a rank that received the value with a shipment -> home
  static constexpr bool counts = true;
  abi::Name name;
};
struct PassedDrop {
  Rank to{-1};
  abi::Id id;
};
struct Drop {  // home -> every rank with a copy: nobody can name these any more
  static constexpr bool counts = true;
  std::vector<abi::Id> ids;
  std::vector<PassedDrop> passed = {};  // you have sent these to those ranks: tell them, behind the values
};
struct DeleteHint {  // advice `delete` carried out on another rank -> home
  static constexpr bool counts = true;
  abi::Name name;
  std::uint32_t block = 0;
};
struct Hold {  // a rank -> home: something holds the name, or does so no longer (data/holds.hpp)
  static constexpr bool counts = false;
  abi::Name name;
  abi::Id by;
  bool ends = false;
  bool of_body = false;  // with `ends`
};
struct HeldDelete {  // a rank -> home: the same as DeleteHint, of a name that may be held
  static constexpr bool counts = false;
  abi::Name name;
  std::uint32_t block = 0;
  std::vector<abi::Id> parts;  // it, and what it is part of
  bool all = false;            // it may be held as part of something else, too
};
struct Settle {
  static constexpr bool counts = false;
};  // home -> all: answer, so that what you have said before is here
struct Settled {
  static constexpr bool counts = false;
};
struct ReadsHint {  // advice `req_count` evaluated on another rank -> home
  static constexpr bool counts = true;
  abi::Name name;
  std::int64_t reads = 0;
  std::uint32_t block = 0;
  std::uint64_t ack = 0;  // as in Publish
};
struct ReadDone {  // rank of a reader -> home, for names that have a req_count
  static constexpr bool counts = true;
  abi::Name name;
  std::uint32_t block = 0;  // the reader, and which of its inputs
  std::uint32_t slot = 0;
  std::uint64_t ack = 0;
};
struct Used {  // a rank -> home, of names with known uses
  static constexpr bool counts = false;
  std::vector<abi::Name> read;   // each by one fragment that runs there
  std::vector<abi::Id> used_up;  // assigned and read there only, although the home was asked for it
};
struct TakenBack {  // a rank -> home, of names with known uses: fragments that were counted will not be made
  static constexpr bool counts = true;
  std::vector<abi::Name> names;
  std::uint64_t ack = 0;
};
struct Gone {  // home -> a rank that asked: advice has freed it
  static constexpr bool counts = true;
  abi::Name name;
  std::uint32_t block = 0;  // who freed it
  bool spent = false;       // by its last counted read
};

// ---- computation fragments
struct PackedCf {
  std::uint32_t block = 0;
  abi::Id id;
  std::uint64_t scope = 0;
  std::vector<std::uint64_t> frame;  // raw words; Value* words are numbers into `held`
  std::vector<Passenger> held;
  std::uint64_t promised = 0;  // inputs the sender, their home, will give without a Request
  bool moved = false;          // it had its inputs there, or before
  bool due = false;            // fragment/cf.hpp
};
struct PackedInput {
  abi::Name name;
  Passenger value;
  bool unheard = false;  // its home may never have heard of it
};
struct Ship {  // fragments and the inputs the receiver may lack
  static constexpr bool counts = true;
  std::vector<PackedCf> fragments;
  std::vector<PackedInput> inputs;
  bool by_policy = false;    // else placed by a locator
  std::uint64_t ticket = 0;  // of the policy's Ship action
  std::uint64_t mark = 0;    // of sweeps (protocol/sweeping.hpp)
};
struct Resettled {  // a rank -> where the series belongs: the policy has moved one of it to `to`
  static constexpr bool counts = false;
  std::uint64_t series = 0;
  Rank to{-1};
};
struct ScopeReturn {  // fragments you sent me under this scope have finished, or need you no more
  static constexpr bool counts = true;
  std::uint64_t scope = 0;
  std::int64_t count = 1;  // of them
};

// ---- sweeps of several ranks (protocol/sweeping.hpp)
struct SweepWanted {  // a home -> 0
  static constexpr bool counts = false;
};
struct SweepCut {  // 0 -> all: write down what is held of names of these homes, and cut
  static constexpr bool counts = false;
  std::uint64_t number = 0;
  std::vector<Rank> homes;
};
struct SweepHasCut {  // all -> 0: so many shipments had been sent, by receiver
  static constexpr bool counts = false;
  std::vector<std::uint64_t> sent;
};
struct SweepExpect {  // 0 -> all: so many shipments had been sent to you
  static constexpr bool counts = false;
  std::uint64_t count = 0;
};
struct SweepTold {  // all -> a home: what may still be read
  static constexpr bool counts = false;
  std::vector<std::int64_t> boxes;  // of each five numbers, its horizon first
};
struct SweepFound {  // a home -> the others: all have told, and nobody holds these; which of them are awaited there?
  static constexpr bool counts = false;
  std::vector<abi::Id> values;
};
struct SweepAwaited {  // ... -> that home: these
  static constexpr bool counts = false;
  std::vector<abi::Id> values;
};
struct SweepHeard {  // a home -> 0: all have answered
  static constexpr bool counts = false;
};
struct HullsStay {  // a rank -> home: these may be read as long as somebody holds the name with this horizon, or 0
  static constexpr bool counts = false;
  std::int64_t until = 0;
  std::vector<std::int64_t> boxes;  // as in SweepTold
};

// ---- balancing
struct PolicyMessage {
  static constexpr bool counts = false;
  balancer::Message message;
};
struct LinkProbe {  // one of so many parts of a probe; when all have come, the receiver answers
  static constexpr bool counts = false;
  std::uint32_t number = 0;
  std::uint32_t parts = 1;
  std::int64_t round_trip = 0;  // ns, the best so far
  Passenger payload;
};
struct LinkAnswer {
  static constexpr bool counts = false;
  std::uint32_t number = 0;
  double bandwidth = 0, fastest = 0, most = 0;  // bytes/s, by when the parts came (balance/train.hpp)
  bool sure = false;
};

// ---- ranks that leave and join (node/membership.hpp, node/evacuation.hpp)
struct Entrust {  // home that leaves -> another rank: keep this value for me
  static constexpr bool counts = true;
  abi::Name name;
  Passenger value;
};
struct Keep {  // rank that leaves -> home: the value you believe here, or never heard of
  static constexpr bool counts = true;
  abi::Name name;
  Passenger value;
};
struct Refetch {  // a rank asked by Fetch -> home: `to` was to have this from me, and it is not here
  static constexpr bool counts = true;
  abi::Name name;
  Rank to{-1};
};
struct AskChange {  // a rank -> 0: this rank wants to leave, or to join
  static constexpr bool counts = false;
  Rank rank{-1};
  bool joins = false;
};
struct MemberChange {  // rank 0 -> all: from now on
  static constexpr bool counts = false;
  Rank rank{-1};
  bool joins = false;
};
struct Left {  // a rank -> 0: all is given away
  static constexpr bool counts = false;
  std::int64_t fragments = 0, values = 0, bytes = 0;  // that went
  std::int64_t names_kept = 0, bytes_kept = 0;        // directory entries; of small values
};

// ---- the run
struct Wave {  // rank 0 -> all: are you idle, how much have you sent and received?
  static constexpr bool counts = false;
  std::uint64_t number = 0;
};
struct WaveAnswer {
  static constexpr bool counts = false;
  std::uint64_t number = 0;
  bool idle = false;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool rests = false;  // it is not idle, but has made enough
};
struct AskWaiting {  // rank 0 -> all, when the program is stuck: what waits?
  static constexpr bool counts = false;
  std::vector<std::uint64_t> describe;  // or, then: a line of each of these pairs (fragment, name)
};
struct Waiting {  // answer (node/stuck.hpp)
  static constexpr bool counts = false;
  std::int64_t count = 0, listed = 0;
  std::vector<std::uint64_t> words;  // of the fragments that are listed
  std::vector<std::uint64_t> ends;   // names that are assigned when a block has ended
  std::vector<std::string> lines;    // or: those asked for
};
struct Failed {  // any rank -> 0: the program failed here
  static constexpr bool counts = false;
  std::string text;
  std::int32_t exit_code = 1;
};
struct Stop {  // rank 0 -> all
  static constexpr bool counts = false;
  std::int32_t exit_code = 0;
};
inline constexpr std::uint32_t kNoMaker = ~0u, kManyMakers = kNoMaker - 1;
struct GroupBirths {         // work/births.hpp
  std::int64_t born = 0;     // fragments that were made
  std::int64_t steps = 0;    // of loops and calls that repeat: of all of them, as far as they were made
  std::int64_t stepped = 0;  // of loops: those that have been made
  std::uint32_t maker = kNoMaker;
};
struct GroupTotals {
  std::uint32_t group = 0;
  std::int64_t count = 0;
  double weight = 0;       // mean, ns
  double variance = 0;     // ns^2
  std::int64_t bytes = 0;  // input bytes, sum
  std::int64_t moved_away = 0;
  std::int64_t followed = 0;  // ran elsewhere since those before them in their series had been moved
  GroupBirths births{};
};
struct UnreadCounts {  // `req_count` of one statement that said more reads than there were
  std::uint32_t block = 0;
  std::int64_t times = 0;
  std::int64_t limit = 0, reads = 0;  // of the first one
};
struct RunningFragment {
  std::string text;
  double seconds = 0;  // as far as is known
  std::uint32_t group = 0;
  std::vector<std::uint64_t> gives = {};  // names that it will assign, where somebody asked for waits
};
struct WaitLine {  // a fragment that waits for that name
  std::uint64_t name = 0;
  std::string waiter, slot, producers;
};
struct WaitsNow {  // report/waits_now.hpp
  std::int64_t count = 0;
  std::vector<std::uint64_t> words;  // as Waiting has them
  std::vector<WaitLine> lines;
};
struct RankNow {                         // while it runs
  std::vector<RunningFragment> running;  // longest first
  std::int64_t memory_bytes = 0, data_bytes = 0;
  WaitsNow waits = {};
};
struct MakeMore {  // rank 0 -> all: nothing goes on in the whole run but what rests (work/lead.hpp); a hint
  static constexpr bool counts = false;
};
struct AskTotals {  // rank 0 -> all: how far are you? (report/status_board.hpp)
  static constexpr bool counts = false;
  bool waits = false;                     // and what waits for what?
  std::vector<std::uint64_t> names = {};  // or, then: who waits for these?
};
struct Totals {  // every rank -> 0, at the end, for the progress line, and when it is asked
  static constexpr bool counts = false;
  bool final = false;
  std::int64_t finished = 0;
  std::int64_t ready = 0;
  std::int64_t waiting = 0;  // fragments that lack inputs
  RankNow now;
  double busy = 0;  // s, sum over this rank's workers
  std::int64_t threads = 0;
  std::int64_t moved_in = 0, moved_out = 0, shipments_out = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t messages_sent = 0;
  std::int64_t peak_memory_kb = 0;
  double cpu = 0;             // s, of the process (live ranks)
  double no_core = 0;         // s that its workers could have run and had no core, when they have ended
  double here = 0;            // s this rank took part in the run ...
  bool partly = false;        // ... which it left, or joined
  std::int64_t left = 0;      // fragments it gave away when it left, or passed on after
  std::int64_t recalled = 0;  // ... that did not run: a journal had them; `finished` and `groups` are without
  std::vector<GroupTotals> groups;
  std::vector<std::string> decisions;  // "reason|count"
  std::vector<UnreadCounts> unread;    // final ones only, as
  std::vector<HeldBytes> held;         // those that held most
};
struct TracePart {  // every rank -> 0, at the end of a run with --record
  static constexpr bool counts = false;
  std::int32_t worker = 0;
  bool full = false;       // there was no room: before base_ns not all is kept; this tells no more
  double ns_per_tick = 1;  // at base_ticks it was base_ns on rank 0's clock
  std::uint64_t base_ticks = 0;
  std::int64_t base_ns = 0;
  std::vector<std::uint64_t> words;  // trace/trace_buffer.hpp; of worker -1: trace/rank_events.hpp
};
struct ClockAsk {  // a rank -> 0, in a run with --record: what time is it? (trace/clock_sync.hpp)
  static constexpr bool counts = false;
  std::int64_t here = 0;  // ns
};
struct ClockAnswer {
  static constexpr bool counts = false;
  std::int64_t here = 0, there = 0;
};
struct AskRoom {  // a rank -> 0, in a run with --record: what I may write down is half full (trace/record_room.hpp)
  static constexpr bool counts = false;
  std::int64_t bytes = 0;  // so many more
};
struct GiveRoom {  // ... and rank 0's answer
  static constexpr bool counts = false;
  std::int64_t bytes = 0;  // none: there are no more
};
struct Beat {  // rank 0 -> all: are you there? And their answer; a rank -> all: I have said that rank 0 is not
               // (comm/silence.hpp)
  static constexpr bool counts = false;
  BeatKind kind = BeatKind::ask;
};

// a rank -> whose values they are: since I last told, so many bytes of yours have come, and gone (node/backlogs.hpp)
struct Backlog {
  static constexpr bool counts = false;
  std::int64_t came = 0, gone = 0;
  bool busy = false;  // fragments run here, which may read them
  bool asks = false;  // is the other one busy?
  bool answers = false;
};

// a rank -> others: fragments wait for these only, and values pile up: who can makes them first (node/needs.hpp)
struct Need {
  static constexpr bool counts = false;
  std::vector<abi::Id> names;
  std::vector<std::uint32_t> groups;  // one of these assigns them
  std::int32_t passed_on = 0;         // so often: what is needed for what was needed
};

// Order fixes the tag on the wire; append, never reorder (a test freezes it).
using Message =
    std::variant<Request, Publish, Acked, Fetch, Give, Copied, Drop, DeleteHint, ReadsHint, Ship, ScopeReturn,
                 PolicyMessage, LinkProbe, Wave, WaveAnswer, AskWaiting, Waiting, Failed, Stop, Totals, ReadDone, Gone,
                 Entrust, Keep, Refetch, AskChange, MemberChange, Left, TracePart, Resettled, Used, LinkAnswer, Hold,
                 HeldDelete, Settle, Settled, Beat, TakenBack, ClockAsk, ClockAnswer, AskTotals, MakeMore, SweepWanted,
                 SweepCut, SweepHasCut, SweepExpect, SweepTold, SweepHeard, HullsStay, AskRoom, GiveRoom, SweepFound,
                 SweepAwaited, Backlog, Need>;

// Messages that carry work or data: what termination waves count.
bool counts_for_termination(const Message&);

// "Request": of the alternative with this number, as its struct is called.
std::string_view message_name(std::size_t tag);

Parcel encode(const Message&);
Message decode(Parcel&&);

}  // namespace tessera::runtime
