// How the balancer's messages travel, and are written to a policy's log (balancer/ itself knows
// nothing of archives).
#pragma once

#include "balancer/message.hpp"

namespace tessera::balancer {

template <class A>
void serialize(A& a, GroupCount& x) {
  a(x.group, x.count);
}
template <class A>
void serialize(A& a, GroupLoad& x) {
  a(x.group, x.ready, x.bytes);
}
template <class A>
void serialize(A& a, GroupDone& x) {
  a(x.group, x.count, x.weight, x.weight_squared, x.bytes);
}

template <class A>
void serialize(A& a, Report& x) {
  a(x.ready, x.finished, x.idle, x.workers, x.unmoved, x.arrived);
}
template <class A>
void serialize(A& a, ReportSeen& x) {
  a(x.hold);
}
template <class A>
void serialize(A& a, Order& x) {
  a(x.ticket, x.to, x.fragments);
}
template <class A>
void serialize(A& a, Confirm& x) {
  a(x.ticket, x.to, x.fragments, x.bytes);
}
template <class A>
void serialize(A& a, LinkReport& x) {
  a(x.peer, x.latency, x.bandwidth);
}
template <class A>
void serialize(A& a, StealRequest& x) {
  a(x.number, x.idle, x.need, x.made);
}
template <class A>
void serialize(A& a, StealRefuse& x) {
  a(x.number);
}
template <class A>
void serialize(A& a, StealRevoke& x) {
  a(x.number);
}
template <class A>
void serialize(A& a, StealWake& x) {
  a(x.call);
}
template <class A>
void serialize(A& a, AuctionQuestion& x) {
  a(x.number);
}
template <class A>
void serialize(A& a, AuctionAnswer& x) {
  a(x.number, x.load);
}
template <class A>
void serialize(A& a, AuctionRequest& x) {
  a(x.number);
}
template <class A>
void serialize(A& a, AuctionRefusal& x) {
  a(x.number);
}
template <class A>
void serialize(A&, AuctionUnloaded&) {}
template <class A>
void serialize(A&, AuctionWake&) {}
template <class A>
void serialize(A& a, MirrorState& x) {
  a(x.speed, x.tasks, x.units);
}
template <class A>
void serialize(A& a, MirrorRequest& x) {
  a(x.number, x.speed, x.tasks, x.idle);
}
template <class A>
void serialize(A& a, MirrorRefusal& x) {
  a(x.number);
}
template <class A>
void serialize(A& a, OutsideTasks& x) {
  a(x.tasks, x.threads);
}
template <class A>
void serialize(A&, LoopOpened&) {}
template <class A>
void serialize(A& a, BlockRequest& x) {
  a(x.number);
}
template <class A>
void serialize(A& a, LoopDrained& x) {
  a(x.number);
}
template <class A>
void serialize(A& a, ShareDone& x) {
  a(x.ticket, x.units);
}
template <class A>
void serialize(A& a, HandOver& x) {
  a(x.group, x.to);
}
template <class A>
void serialize(A& a, TransferSeen& x) {
  a(x.transfer, x.given);
}
template <class A>
void serialize(A& a, GroupReport& x) {
  a(x.load, x.movable, x.fragments, x.capacity, x.seen);
}
template <class A>
void serialize(A&, GroupReportSeen&) {}
template <class A>
void serialize(A& a, GroupInvite& x) {
  a(x.transfer, x.giver, x.count, x.weight);
}
template <class A>
void serialize(A& a, RankCount& x) {
  a(x.rank, x.count);
}
template <class A>
void serialize(A& a, GroupNeed& x) {
  a(x.transfer, x.weight, x.receivers);
}
template <class A>
void serialize(A& a, GroupSent& x) {
  a(x.transfer, x.ticket, x.from, x.to, x.fragments, x.bytes, x.last);
}

}  // namespace tessera::balancer
