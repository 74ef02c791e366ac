#include "tests/protocol/broken.hpp"

#include <utility>
#include <variant>

#include "runtime/protocol/parts.hpp"

namespace tessera::protocol {
namespace {

template <class E, class Wrong>
Step instead(Wrong wrong) {
  return [wrong](Entry& e, const Event& event, const View& v, Actions& a) {
    std::holds_alternative<E>(event) ? wrong(e, std::get<E>(event), v, a) : step(e, event, v, a);
  };
}

}  // namespace

std::vector<Broken> broken_machines() {
  const auto without = [](Say say) {
    return [say](Actions& a) { std::erase_if(a.sends, [say](const Send& s) { return s.say == say; }); };
  };
  return {
      {"27d2e32: nobody says that the home may not have heard of what is on its way",
       instead<GoesAlong>([](Entry& e, const GoesAlong& m, const View& v, Actions& a) {
         step(e, m, v, a);
         a.unheard = false;
       })},
      {"what came with its readers stays when these have got it",
       instead<Handed>([](Entry&, const Handed&, const View&, Actions&) {})},
      {"what is being dropped is taken for what stays, when it comes again with a reader",
       instead<Shipped>([](Entry& e, const Shipped& m, const View& v, Actions& a) {
         if (!has_value(e.state)) step(e, m, v, a);
       })},
      {"7d21816: a question is forgotten with what was used up",
       instead<UsedUp>([](Entry& e, const UsedUp& m, const View& v, Actions& a) {
         if (e.others != nullptr && e.counted) e.others->asking.clear();
         step(e, m, v, a);
       })},
      {"40752d9: what was to come unasked is not asked for when ranks change",
       instead<WantedByAll>([](Entry&, const WantedByAll&, const View&, Actions&) {})},
      {"daaaac4: what was sent unasked and evicted is not asked for",
       instead<Evict>([](Entry& e, const Evict& m, const View& v, Actions& a) {
         step(e, m, v, a);
         e.state = State::absent;
       })},
      {"uses that have been taken back before the assignment are forgotten by it",
       instead<Assigned>([](Entry& e, const Assigned& m, const View& v, Actions& a) {
         if (e.state == State::unassigned && e.counted) e.set_uses_left(0);
         step(e, m, v, a);
       })},
      {"the end of a scope is not told", instead<End>([](Entry& e, const End& m, const View& v, Actions& a) {
         step(e, m, v, a);
         a.sends.clear();
       })},
      {"the end of a scope overtakes the value", instead<End>([](Entry& e, const End& m, const View& v, Actions& a) {
         step(e, m, v, a);
         for (Send& s : a.sends) {
           if (s.whom != kNobody) s.to = std::exchange(s.whom, kNobody);
         }
       })},
      {"who was told to pass a value on forgets it",
       instead<Give>([](Entry& e, const Give& m, const View& v, Actions& a) {
         if (e.others != nullptr && !v.at_home()) e.others->asking.clear();
         step(e, m, v, a);
       })},
      {"who asked before the assignment gets nothing",
       instead<Publish>([](Entry& e, const Publish& m, const View& v, Actions& a) {
         if (e.others != nullptr) e.others->asking.clear();
         step(e, m, v, a);
       })},
      {"a use is counted twice", instead<Used>([](Entry& e, const Used& m, const View& v, Actions& a) {
         step(e, m, v, a);
         if (e.counted && !a.forget && e.state == State::here) e.set_uses_left(e.uses_left() - 1);
       })},
      {"a use at home is not counted off when its fragment moves",
       instead<GoesAlong>([](Entry& e, const GoesAlong& m, const View& v, Actions& a) {
         View blind = v;
         blind.known_uses = false;
         step(e, m, blind, a);
         a.unheard = a.unheard || (!v.at_home() && v.known_uses && e.state == State::none);
       })},
      {"what could not be passed on is thought to be under way",
       instead<Request>([](Entry& e, const Request& m, const View& v, Actions& a) {
         step(e, Request{m.from, false}, v, a);
       })},
      {"a value that comes home is not given to who asked",
       instead<Keep>([](Entry& e, const Keep& m, const View& v, Actions& a) {
         if (e.others != nullptr) e.others->asking.clear();
         step(e, m, v, a);
       })},
      {"an entrusted value is lost when its keeper leaves",
       instead<Leave>([](Entry& e, const Leave& m, const View& v, Actions& a) {
         const bool entrusted = e.state == State::entrusted;
         step(e, m, v, a);
         if (entrusted) a.sends.clear();
       })},
      {"what came with its readers is evicted before these have got it",
       instead<Evict>([](Entry& e, const Evict&, const View&, Actions&) { e.state = State::evicted; })},
      {"what its home has not heard of is taken for used up there but for who moves",
       instead<GoesAlong>([](Entry& e, const GoesAlong& m, const View& v, Actions& a) {
         if (!v.at_home() || !e.counted || e.state != State::unassigned || e.unheard) return step(e, m, v, a);
         others(e).again = true;
         e.state = State::here;
         e.set_uses_left(0);
         step(e, m, v, a);
         a.wake = true;
       })},
      {"f8fc938: a delete frees what came with its readers before these have got it",
       instead<Free>([](Entry& e, const Free& m, const View& v, Actions& a) {
         const bool unheard = e.unheard;
         e.unheard = false;
         step(e, m, v, a);
         e.unheard = unheard;
       })},
      {"f8fc938: what its scope frees is taken for what goes with its readers",
       instead<Shipped>([](Entry& e, const Shipped& m, const View& v, Actions& a) {
         if (m.unheard && e.state == State::unassigned) e.counted = true;
         step(e, m, v, a);
       })},
      {"a delete forgets the copies", instead<Free>([without](Entry& e, const Free& m, const View& v, Actions& a) {
         step(e, m, v, a);
         without(Say::drop)(a);
       })},
      // One each for what is wrong at once.
      {"who asks is taken to bring the value",
       instead<Request>([](Entry& e, const Request& m, const View& v, Actions& a) {
         step(e, m, v, a);
         if (e.state == State::unassigned) e.state = State::here;
       })},
      {"who is to pass a value on does so before it has come",
       instead<Fetch>([](Entry&, const Fetch& m, const View&, Actions& a) { a.say(Say::give, m.to); })},
      {"who asks is taken for who answers", instead<Request>([](Entry& e, const Request& m, const View& v, Actions& a) {
         step(e, m, v, a);
         for (Send& s : a.sends) s.to = v.self;
       })},
      {"nobody is told that a value has come", instead<Give>([](Entry& e, const Give& m, const View& v, Actions& a) {
         step(e, m, v, a);
         a.wake = false;
       })},
      {"the first who uses a value deletes it",
       instead<Used>([](Entry& e, const Used&, const View& v, Actions& a) { step(e, Free{}, v, a); })},
      {"who asks is taken for who assigns", instead<Publish>([](Entry& e, const Publish& m, const View& v, Actions& a) {
         if (e.others != nullptr && !e.others->asking.empty()) e.assigned_by = 1;
         step(e, m, v, a);
       })},
      {"what was kept back goes along with its reader, and its home does not hear of it",
       instead<GoesAlong>([](Entry& e, const GoesAlong& m, const View& v, Actions& a) {
         step(e, m, v, a);
         a.publish.out = false;
       })},
      {"what was kept back is kept for ever", instead<Tell>([](Entry&, const Tell&, const View&, Actions&) {})},
      {"a use of what is kept back is counted twice",
       instead<UsedHere>([](Entry& e, const UsedHere& m, const View& v, Actions& a) {
         step(e, m, v, a);
         if (e.untold && !a.forget) step(e, m, v, a);
       })},
      {"what was kept back is told with the uses that it had at first",
       instead<UsedHere>([](Entry&, const UsedHere&, const View&, Actions&) {})},
  };
}

}  // namespace tessera::protocol
