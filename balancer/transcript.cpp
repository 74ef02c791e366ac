#include "balancer/transcript.hpp"

namespace tessera::balancer {
namespace {

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
  std::string operator()(const SeriesRan& e) const {
    std::string text = "series ran";
    for (const SeriesWork& w : e.ran)
      text += " " + number(w.series) + ":" + name(w.group) + " " + seconds_text(w.weight);
    return text;
  }
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
  std::string operator()(const SettleSeries& a) const { return to_text(SeriesPlan{a.places}); }
};

}  // namespace

std::string to_text(const Message& m) {
  return std::visit([](const auto& message) { return text(message); }, m);
}
std::string to_text(const Event& e) { return std::visit(EventText{}, e); }
std::string to_text(const Action& a) { return std::visit(ActionText{}, a); }

}  // namespace tessera::balancer
