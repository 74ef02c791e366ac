#include "compiler/block/note_callers.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

using Chains = std::set<const Chain*>;

// calls_in calls f for each call of a sub in the body, however deep.
void calls_in(const Body& body, const std::function<void(const Spawn&)>& f) {
  for (const Step& step : body.steps) {
    if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) calls_in((*when)->body, f);
    const auto* spawn = std::get_if<Spawn>(&step);
    if (spawn == nullptr) continue;
    if (spawn->owned == nullptr) {
      f(*spawn);
      continue;
    }
    for (const auto& b : spawn->owned->blocks) {
      if (b->body) calls_in(*b->body, f);
    }
  }
}

void add(std::vector<Extent>& places, Extent at) {
  const auto same = [&](const Extent& e) { return e.begin == at.begin; };
  if (std::none_of(places.begin(), places.end(), same)) places.push_back(at);
}

// A sub of the user's: its calls. What has been inlined into it knows the calls up to here.
void note_own(Chain& sub, const std::vector<Extent>& calls) {
  sub.callers = calls;
  for (const auto& b : sub.blocks) {
    if (!b->body) continue;
    for_each_chain(*b->body, [&](Chain& chain) {
      if (!chain.inlined) {
        chain.callers = calls;
      } else if (calls.size() == 1) {
        chain.callers.push_back(calls.front());
      }
    });
  }
}

}  // namespace

void note_callers(Program& program, Diagnostics& diagnostics) {
  std::map<const Chain*, std::vector<Extent>> places;  // by sub: calls by the user
  std::map<const Chain*, Chains> callers;              // by sub: subs of the library
  for (const auto& sub : program.subs) {
    for (const auto& b : sub->blocks) {
      if (!b->body) continue;
      calls_in(*b->body, [&](const Spawn& call) {
        if (diagnostics.in_library(call.at)) {
          callers[call.chain].insert(sub.get());
        } else {
          add(places[call.chain], call.at);
        }
      });
    }
  }
  for (const auto& sub : program.subs) {
    if (!diagnostics.in_library(sub->at)) {
      note_own(*sub, places[sub.get()]);
      continue;
    }
    std::vector<const Chain*> waiting = {sub.get()};
    Chains seen = {sub.get()};
    std::vector<Extent> all;
    while (!waiting.empty()) {
      const Chain* chain = waiting.back();
      waiting.pop_back();
      for (const Extent& at : places[chain]) add(all, at);
      for (const Chain* c : callers[chain]) {
        if (seen.insert(c).second) waiting.push_back(c);
      }
    }
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
    sub->callers = all;
    for (const auto& b : sub->blocks) {
      if (b->body) for_each_chain(*b->body, [&](Chain& chain) { chain.callers = all; });
    }
  }
}

}  // namespace tessera::compiler::block
