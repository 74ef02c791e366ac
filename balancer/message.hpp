// What policies say to each other: plain structs, one closed variant. Tags (the variant index) are
// frozen by a test; append, never reorder.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// central, worker -> coordinator: this worker's state, coalesced.
struct Report {
  std::vector<GroupLoad> ready;     // absolute, changed groups only
  std::vector<GroupDone> finished;  // since the last report
  bool idle = false;
  std::int32_t workers = 1;            // threads that run fragments there
  Time unmoved = 0;                    // ns of ready work in groups that are never reported
  std::vector<std::uint64_t> arrived;  // tickets of shipments that came in since the last report;
                                       // `ready` includes them
  friend bool operator==(const Report&, const Report&) = default;
};
// central, coordinator -> worker: the worker may send its next report.
struct ReportSeen {
  Time hold = 0;  // ns to wait before it, unless the worker goes idle
  friend bool operator==(const ReportSeen&, const ReportSeen&) = default;
};
// central, coordinator -> source worker: ship these to `to`.
struct Order {
  std::uint64_t ticket = 0;
  Rank to{-1};
  std::vector<GroupCount> fragments;
  friend bool operator==(const Order&, const Order&) = default;
};
// central, source worker -> coordinator: what the order really moved.
struct Confirm {
  std::uint64_t ticket = 0;
  Rank to{-1};
  std::vector<GroupCount> fragments;
  std::int64_t bytes = 0;
  friend bool operator==(const Confirm&, const Confirm&) = default;
};
// central, worker -> coordinator: a measured link of this worker.
struct LinkReport {
  Rank peer{-1};  // -1: what this worker sees towards anybody
  Time latency = 0;
  double bandwidth = 0;
  friend bool operator==(const LinkReport&, const LinkReport&) = default;
};
// What the fragments that finished on a rank made there.
enum class Offspring : std::uint8_t { unknown, none, some };
// steal, thief -> victim.
struct StealRequest {
  std::uint64_t number = 0;  // the thief's request count, to recognise late answers
  bool idle = false;         // nothing runs at the thief; else it asks ahead
  Time need = 0;             // ns of one thread's work that keep it going until more could come; 0: not known
  Offspring made = Offspring::unknown;  // at the thief
  friend bool operator==(const StealRequest&, const StealRequest&) = default;
};
// steal, victim -> thief: nothing to give now (default mode).
struct StealRefuse {
  std::uint64_t number = 0;
  friend bool operator==(const StealRefuse&, const StealRefuse&) = default;
};
// steal, thief -> victim: no longer needed (faithful mode).
struct StealRevoke {
  std::uint64_t number = 0;
  friend bool operator==(const StealRevoke&, const StealRevoke&) = default;
};
// steal, victim -> sleeping thief: there is something to steal again.
struct StealWake {
  bool call = false;  // to any rank: fragments make others here
  friend bool operator==(const StealWake&, const StealWake&) = default;
};
// auction, torus, tree, a rank that ran empty -> its neighbours: how much have you?
struct AuctionQuestion {
  std::uint64_t number = 0;  // of the asker's auction, to recognise late answers
  friend bool operator==(const AuctionQuestion&, const AuctionQuestion&) = default;
};
// auction, neighbour -> asker: the load index.
struct AuctionAnswer {
  std::uint64_t number = 0;
  std::int64_t load = 0;  // ready fragments
  friend bool operator==(const AuctionAnswer&, const AuctionAnswer&) = default;
};
// auction, asker -> the most loaded: give me some. Answered with a shipment or AuctionRefusal.
struct AuctionRequest {
  std::uint64_t number = 0;
  friend bool operator==(const AuctionRequest&, const AuctionRequest&) = default;
};
// auction, the most loaded -> asker: nothing to give any more.
struct AuctionRefusal {
  std::uint64_t number = 0;
  friend bool operator==(const AuctionRefusal&, const AuctionRefusal&) = default;
};
// auction, a rank that got nothing -> its neighbours: I sleep, wake me.
struct AuctionUnloaded {
  friend bool operator==(const AuctionUnloaded&, const AuctionUnloaded&) = default;
};
// auction, a rank with surplus -> one that sleeps.
struct AuctionWake {
  friend bool operator==(const AuctionWake&, const AuctionWake&) = default;
};
// mirror, a rank -> all others: its row of the state table.
struct MirrorState {
  double speed = 1;        // power times threads: work units per ns
  double tasks = 1;        // that share its cores, itself included; smoothed
  std::int64_t units = 0;  // assigned and not begun: ns of one thread on a rank of power 1
  friend bool operator==(const MirrorState&, const MirrorState&) = default;
};
// mirror, a rank that ran dry -> one of the others: give me some of yours.
struct MirrorRequest {
  std::uint64_t number = 0;  // to recognise late refusals
  double speed = 1;
  double tasks = 1;
  bool idle = false;  // nothing runs at the asker; else it asks ahead
  friend bool operator==(const MirrorRequest&, const MirrorRequest&) = default;
};
// mirror, the answer to a request when there is too little to give.
struct MirrorRefusal {
  std::uint64_t number = 0;
  friend bool operator==(const MirrorRefusal&, const MirrorRefusal&) = default;
};
// A transfer between groups that one side's numbers include, and the work (ns) that it ordered for it
// (giving side).
struct TransferSeen {
  std::uint64_t transfer = 0;
  Time given = 0;
  friend bool operator==(const TransferSeen&, const TransferSeen&) = default;
};
// hierarchical, leaf -> root: its group as a whole.
struct GroupReport {
  Time load = 0;                   // ns of work: ready, running and on its way
  Time movable = 0;                // the part of it that may go elsewhere
  std::int64_t fragments = 0;      // in `movable`
  double capacity = 0;             // threads times relative speed of all that take work
  std::vector<TransferSeen> seen;  // transfers that the numbers above include
  friend bool operator==(const GroupReport&, const GroupReport&) = default;
};
// hierarchical, root -> leaf: the leaf may send its next report.
struct GroupReportSeen {
  friend bool operator==(const GroupReportSeen&, const GroupReportSeen&) = default;
};
// hierarchical, root -> receiving leaf: `count` fragments of about `weight` ns each are to come
// from the group of leaf `giver`.
struct GroupInvite {
  std::uint64_t transfer = 0;
  Rank giver{-1};
  std::int64_t count = 0;
  Time weight = 0;
  friend bool operator==(const GroupInvite&, const GroupInvite&) = default;
};
// hierarchical, receiving leaf -> giving leaf: who takes how many of them.
struct RankCount {
  Rank rank{-1};
  std::int64_t count = 0;
  friend bool operator==(const RankCount&, const RankCount&) = default;
};
struct GroupNeed {
  std::uint64_t transfer = 0;
  Time weight = 0;
  std::vector<RankCount> receivers;
  friend bool operator==(const GroupNeed&, const GroupNeed&) = default;
};
// hierarchical, giving leaf -> receiving leaf: one order of the transfer was carried out, with
// this; `last`: no more will come.
struct GroupSent {
  std::uint64_t transfer = 0;
  std::uint64_t ticket = 0;  // 0: no order, only the end
  Rank from{-1};
  Rank to{-1};
  std::vector<GroupCount> fragments;
  std::int64_t bytes = 0;
  bool last = false;
  friend bool operator==(const GroupSent&, const GroupSent&) = default;
};

// predictive, demand, proportional, rank -> those that may deal to it: tasks of others compete with
// its `threads`.
struct OutsideTasks {
  double tasks = 0;
  std::int32_t threads = 1;
  friend bool operator==(const OutsideTasks&, const OutsideTasks&) = default;
};
// demand, master -> a worker that has no reason to ask: there are fragments to be had.
struct LoopOpened {
  friend bool operator==(const LoopOpened&, const LoopOpened&) = default;
};
// demand, worker -> master: the next block, please.
struct BlockRequest {
  std::uint64_t number = 0;  // the worker's request count, to recognise late answers
  friend bool operator==(const BlockRequest&, const BlockRequest&) = default;
};
// demand, master -> worker: nothing left to give; LoopOpened tells when there is.
struct LoopDrained {
  std::uint64_t number = 0;
  friend bool operator==(const LoopDrained&, const LoopDrained&) = default;
};
// proportional, worker -> master: what came with this ticket has been run.
struct ShareDone {
  std::uint64_t ticket = 0;
  std::int64_t units = 0;
  friend bool operator==(const ShareDone&, const ShareDone&) = default;
};
// proportional, master -> a worker that is long overdue: give what you have not started of `group`
// to these ranks.
struct HandOver {
  Group group{0};
  std::vector<Rank> to;
  friend bool operator==(const HandOver&, const HandOver&) = default;
};

using Message =
    std::variant<Report, ReportSeen, Order, Confirm, LinkReport, StealRequest, StealRefuse, StealRevoke, StealWake,
                 AuctionQuestion, AuctionAnswer, AuctionRequest, AuctionRefusal, AuctionUnloaded, AuctionWake,
                 MirrorState, MirrorRequest, MirrorRefusal, OutsideTasks, LoopOpened, BlockRequest, LoopDrained,
                 ShareDone, HandOver, GroupReport, GroupReportSeen, GroupInvite, GroupNeed, GroupSent>;

}  // namespace tessera::balancer
