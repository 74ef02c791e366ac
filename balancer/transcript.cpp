#include "balancer/transcript.hpp"

namespace tessera::balancer {
namespace {

std::string name(Rank r) { return std::to_string(index(r)); }
std::string name(Group g) { return std::to_string(index(g)); }

std::string list(const std::vector<GroupCount>& fragments) {
  std::string text = "{";
  for (const GroupCount& f : fragments) {
    if (text.size() > 1) text += ", ";
    text += name(f.group) + ": " + std::to_string(f.count);
  }
  return text + "}";
}
std::string list(const std::vector<GroupLoad>& ready) {
  std::string text = "{";
  for (const GroupLoad& g : ready) {
    if (text.size() > 1) text += ", ";
    text += name(g.group) + ": " + std::to_string(g.ready);
    if (g.bytes > 0) text += " of " + std::to_string(g.bytes) + " B";
  }
  return text + "}";
}
std::string list(const std::vector<GroupDone>& finished) {
  std::string text = "{";
  for (const GroupDone& d : finished) {
    if (text.size() > 1) text += ", ";
    text += name(d.group) + ": " + std::to_string(d.count) + " in " + seconds_text(d.weight);
    if (d.bytes > 0) text += " made " + std::to_string(d.bytes) + " B";
  }
  return text + "}";
}
std::string number(std::uint64_t n) { return "#" + std::to_string(n); }
// Nine digits are plenty for a person, and the same on every machine.
std::string decimal(double x) { return seconds_text(static_cast<Time>(x * 1e9)); }
std::string bandwidth_text(double b) { return std::to_string(static_cast<std::int64_t>(b / 1e6)) + " MB/s"; }

struct MessageText {
  std::string operator()(const Report& m) const {
    std::string text = "report " + list(m.ready) + " done " + list(m.finished);
    text += m.idle ? " idle" : " busy";
    if (m.workers != 1) text += " threads " + std::to_string(m.workers);
    if (m.unmoved > 0) text += " unmoved " + seconds_text(m.unmoved);
    for (const std::uint64_t t : m.arrived) text += " arrived " + number(t);
    return text;
  }
  std::string operator()(const ReportSeen& m) const {
    return m.hold > 0 ? "report seen, hold " + seconds_text(m.hold) : "report seen";
  }
  std::string operator()(const Order& m) const {
    return "order " + number(m.ticket) + " to " + name(m.to) + " " + list(m.fragments);
  }
  std::string operator()(const Confirm& m) const {
    return "confirm " + number(m.ticket) + " to " + name(m.to) + " " + list(m.fragments) + " " +
           std::to_string(m.bytes) + " B";
  }
  std::string operator()(const LinkReport& m) const {
    return "link " + (index(m.peer) < 0 ? "to anybody" : "to " + name(m.peer)) + " " + seconds_text(m.latency) + " " +
           bandwidth_text(m.bandwidth);
  }
  std::string operator()(const StealRequest& m) const {
    return "steal request " + number(m.number) + (m.idle ? " idle" : "");
  }
  std::string operator()(const StealRefuse& m) const { return "steal refuse " + number(m.number); }
  std::string operator()(const StealRevoke& m) const { return "steal revoke " + number(m.number); }
  std::string operator()(const StealWake& m) const { return m.call ? "steal call" : "steal wake"; }
  std::string operator()(const AuctionQuestion& m) const { return "auction question " + number(m.number); }
  std::string operator()(const AuctionAnswer& m) const {
    return "auction answer " + number(m.number) + " load " + std::to_string(m.load);
  }
  std::string operator()(const AuctionRequest& m) const { return "auction request " + number(m.number); }
  std::string operator()(const AuctionRefusal& m) const { return "auction refusal " + number(m.number); }
  std::string operator()(const AuctionUnloaded&) const { return "auction unloaded"; }
  std::string operator()(const AuctionWake&) const { return "auction wake"; }
  std::string operator()(const MirrorState& m) const {
    return "mirror state " + seconds_text(m.units) + " at " + decimal(m.speed) + " among " + decimal(m.tasks);
  }
  std::string operator()(const MirrorRequest& m) const {
    return "mirror request " + number(m.number) + " at " + decimal(m.speed) + " among " + decimal(m.tasks) +
           (m.idle ? " idle" : "");
  }
  std::string operator()(const MirrorRefusal& m) const { return "mirror refusal " + number(m.number); }
  std::string operator()(const OutsideTasks& m) const {
    return "outside tasks " + seconds_text(static_cast<Time>(m.tasks * 1e9)) + " beside " + std::to_string(m.threads) +
           " threads";
  }
  std::string operator()(const LoopOpened&) const { return "loop opened"; }
  std::string operator()(const BlockRequest& m) const { return "block request " + number(m.number); }
  std::string operator()(const LoopDrained& m) const { return "loop drained " + number(m.number); }
  std::string operator()(const ShareDone& m) const {
    return "share " + number(m.ticket) + " of " + std::to_string(m.units) + " done";
  }
  std::string operator()(const HandOver& m) const {
    std::string text = "hand over " + name(m.group) + " to";
    for (const Rank r : m.to) text += " " + name(r);
    return text;
  }
  std::string operator()(const GroupReport& m) const {
    std::string text = "group report load " + seconds_text(m.load) + " movable " + seconds_text(m.movable) + " in " +
                       std::to_string(m.fragments) + " capacity " + seconds_text(static_cast<Time>(m.capacity * 1e9));
    for (const TransferSeen& t : m.seen) {
      text += " seen " + number(t.transfer) + (t.given > 0 ? " gave " + seconds_text(t.given) : "");
    }
    return text;
  }
  std::string operator()(const GroupReportSeen&) const { return "group report seen"; }
  std::string operator()(const GroupInvite& m) const {
    return "invite " + number(m.transfer) + ": " + std::to_string(m.count) + " of " + seconds_text(m.weight) +
           " from the group of " + name(m.giver);
  }
  std::string operator()(const GroupNeed& m) const {
    std::string text = "need " + number(m.transfer) + ":";
    for (const RankCount& r : m.receivers) {
      text += " " + name(r.rank) + " takes " + std::to_string(r.count);
    }
    return text + " of " + seconds_text(m.weight);
  }
  std::string operator()(const GroupSent& m) const {
    std::string text = "sent " + number(m.transfer);
    if (m.ticket != 0) {
      text += " by " + number(m.ticket) + " " + name(m.from) + " -> " + name(m.to) + " " + list(m.fragments) + " " +
              std::to_string(m.bytes) + " B";
    }
    return m.last ? text + ", the last" : text;
  }
};

struct EventText {
  std::string operator()(const LoadChanged& e) const {
    return "load changed " + list(e.ready) + " done " + list(e.finished);
  }
  std::string operator()(const WentIdle&) const { return "went idle"; }
  std::string operator()(const WentBusy&) const { return "went busy"; }
  std::string operator()(const Received& e) const { return "received " + name(e.from) + ": " + to_text(e.message); }
  std::string operator()(const Arrived& e) const {
    return "arrived from " + name(e.from) + " " + number(e.ticket) + " " + list(e.fragments);
  }
  std::string operator()(const Shipped& e) const {
    return "shipped " + number(e.ticket) + " to " + name(e.to) + " " + list(e.fragments) + " " +
           std::to_string(e.bytes) + " B";
  }
  std::string operator()(const TimerFired& e) const { return "timer " + std::to_string(e.timer) + " fired"; }
  std::string operator()(const LinkMeasured& e) const {
    return "link to " + name(e.peer) + " measured " + seconds_text(e.latency) + " " + bandwidth_text(e.bandwidth);
  }
  std::string operator()(const RankLeaving& e) const { return "rank " + name(e.rank) + " leaving"; }
  std::string operator()(const RankJoined& e) const { return "rank " + name(e.rank) + " joined"; }
  std::string operator()(const OutsideLoad& e) const { return "outside load " + decimal(e.tasks) + " tasks"; }
};

struct ActionText {
  std::string operator()(const Send& a) const { return "send " + name(a.to) + ": " + to_text(a.message); }
  std::string operator()(const Ship& a) const {
    return "ship " + number(a.ticket) + " to " + name(a.to) + " " + list(a.fragments);
  }
  std::string operator()(const SetTimer& a) const {
    return "set timer " + std::to_string(a.timer) + " at " + seconds_text(a.at);
  }
  std::string operator()(const CancelTimer& a) const { return "cancel timer " + std::to_string(a.timer); }
  std::string operator()(const Decide& a) const {
    std::string text = "decide: " + a.why;
    if (index(a.from) >= 0) {
      text += ", " + name(a.from) + " -> " + name(a.to) + " " + list(a.fragments);
      if (a.load_from != 0 || a.load_to != 0) {
        text += " loads " + seconds_text(a.load_from) + " " + seconds_text(a.load_to);
      }
    }
    return text;
  }
};

}  // namespace

std::string seconds_text(Time ns) {
  const bool negative = ns < 0;
  const auto magnitude = negative ? -static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string fraction = std::to_string(magnitude % 1'000'000'000);
  fraction.insert(0, 9 - fraction.size(), '0');
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  std::string text = negative ? "-" : "";
  text += std::to_string(magnitude / 1'000'000'000);
  if (!fraction.empty()) text.append(1, '.').append(fraction);
  return text;
}

std::string to_text(const Message& m) { return std::visit(MessageText{}, m); }
std::string to_text(const Event& e) { return std::visit(EventText{}, e); }
std::string to_text(const Action& a) { return std::visit(ActionText{}, a); }

}  // namespace tessera::balancer
