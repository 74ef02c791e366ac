// What a worker finds to do.
#include <algorithm>
#include <utility>

#include "balancer/ready_order.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/work/worth_giving.hpp"

namespace tessera::runtime {
namespace {

// So often it looks for work before it looks at how many workers are to work.
constexpr std::uint32_t kLooksForCompany = 16;
// Others see what a worker has counted after a step (WaitCounts), or when it looks for work and so many ticks (4 us)
// have passed: well within Lead::kPatience.
constexpr std::uint64_t kPublishes = 10'000;
// Of what it makes ready for others the values would hold so many bytes, but in any case there are so many.
constexpr double kVisibleBytes = 64 << 20;
constexpr std::int64_t kVisibleLeast = 64;
// A worker runs light fragments as long as there are more than so many of them to each that is not.
constexpr int kLightOfOne = 8, kManyLight = 64;

// So often a loop is looked for when values have piled up: the first turn may be a `while`'s.
constexpr int kReadersTurns = 2;

// `ticks`: what those like the one that it runs next have taken, on average; 0: none has been timed.
void note_light(Worker& w, double ticks) {
  if (ticks != 0) w.light = std::clamp(w.light + (ticks < kLightTicks ? 1 : -kLightOfOne), 0, kManyLight);
}

// What it waits for mostly stands in the first loop, for programs are written in an order in which they could run; but
// it may stand in any loop, also of another worker, who runs something long meanwhile.
void take_turns(Crew& crew, Worker& w) {
  const std::uint32_t gropes = w.lead.gropes();
  if (gropes == 0) return w.queue.take_turns(0);
  if (w.lead.goes_in_order()) {
    for (const auto& other : crew.workers) other->queue.in_order();
    return w.queue.take_turns(0);
  }
  for (const auto& other : crew.workers) other->queue.take_turns(gropes);
}

// Of the loops that it makes by, which may be another worker's, who runs something long meanwhile.
// True: it makes few fragments, and after it another one may come.
bool look_elsewhere(Crew& crew, Worker& w) {
  for (std::size_t i = 0; i < crew.workers.size(); ++i) {
    ReadyQueue& queue = crew.workers[(static_cast<std::size_t>(w.number) + i) % crew.workers.size()]->queue;
    if (queue.loops() > 0) return queue.another_loop_first();
  }
  return false;
}

}  // namespace

bool Node::find_work(Worker& w, Work& work, std::int64_t chunk) {
  if (keeps_company_ && w.number == 0 && ++w.looks % kLooksForCompany == 0) crew.keep_company();
  if (evacuation->parked()) {
    if (!w.untold.empty()) data.tell(w);
    if (w.chained != nullptr) {
      w.queue.push(std::exchange(w.chained, nullptr));
      wake_communication();
    }
    return false;
  }
  work.tried = nullptr;
  if (w.chained != nullptr) {
    work.cf = std::exchange(w.chained, nullptr);
    if (!pileup.lasts()) [[likely]]
      return true;
    if (!crew.growing.grows(work.cf->block->group)) return runs_on(w);
    if (!w.untold.empty()) data.tell(w);
    w.queue.push(work.cf);
  }
  const std::uint64_t now = bounded_ ? ticks() : 0;  // who is alone waits for nobody
  const bool piles = look_at_pile(w, now);
  const WaitCounts::Seen seen = bounded_ || piles ? crew.look(w) : WaitCounts::Seen{};
  const std::int64_t ahead = crew.waiting_ahead(seen.waiting);
  const bool many = seen.waiting >= most_ahead;
  if (alone()) {
    w.lead.is_alone();
  } else {
    w.lead.enough(many ? seen.waiting : ahead, seen.ceased, now, crew.calls());
    take_turns(crew, w);
  }
  if (bounded_ && now - w.published > kPublishes) {
    w.published = now;
    Crew::publish(w);
  }
  // Loops make more and more of what others are to read: those that read it may be listed behind.
  const bool in_order = pileup.drains() && crew.growing.large();  // so are those, then
  const bool grows = held->grows() || (piles && !in_order && w.grew > 0);
  const bool few = (makes_in_vain(w, seen) || grows) && look_elsewhere(crew, w);
  w.leaves = false;
  if (w.lets_go) Crew::set_lets_go(w, false);
  if (piles || in_order) [[unlikely]] {
    chunk = std::min(chunk, kPiledChunk);
    if (find_while_piled(w, work)) return true;
    if (piles) leave_to_others(w);
    // What it has made last was nothing to run.
    if (piles && w.idle_since != 0 && works_alone()) look_elsewhere(crew, w);
  }
  look_at_outer(w, seen, now);
  // What is made ahead waits in cold memory, and asks other ranks for its inputs: several times of what light fragments
  // take. For each light one that makes values pile up some of those who read them.
  const bool goes_deep = w.light > 0 && !w.has_placed;
  const bool enough = piles ? in_order || w.grew == 0 : goes_deep || w.queue.atomics() >= w.visible;
  const Making first = enough || many || w.leaves || w.outer.held() ? Making::nothing
                       : ahead >= Lead::kAhead                      ? Making::movable
                                                                    : Making::all;
  const Running running = may_run(w);
  const bool found = (first == Making::nothing && running == Running::last_first && crew.workers.size() > 1 &&
                      find_earlier(w, work)) ||
                     w.queue.pop(work, first, may_make(w), chunk, running) || steal(w, work, may_make(w), running);
  const bool atomic = found && work.cf->block->kind == abi::Kind::atomic;
  if (atomic || few) {
    w.grew = piles ? kReadersTurns : 0;
  } else if (w.grew > 0) {
    w.grew = found && work.cf->block->kind != abi::Kind::range ? w.grew - 1 : 0;
  }
  if (atomic && facts.balancing) note_light(w, w.stats.mean(work.cf->block->group));
  const bool runs = found && !(w.leaves && work.cf->block->kind == abi::Kind::range);
  if (runs) w.idle_since = 0;
  if (!runs && w.leaves && w.idle_since == 0) w.idle_since = ticks();
  if (found) {
    w.lead.found();
    w.outer.found();
  } else {
    Crew::publish(w);
  }
  return found;
}

// What is made waits for what other loops are to make. Of several workers or ranks others may be making it just now;
// but not where those loops have just had to go behind.
bool Node::makes_in_vain(Worker& w, const WaitCounts::Seen& seen) {
  if (!alone() && held->pile() != Pile::turns) return false;
  const bool vain =
      bounded_ ? w.vain.enough(seen.waiting + seen.ceased, seen.ceased) : w.vain.enough(w.waits.load(), w.wakes.load());
  if (vain) held->in_vain();
  return vain;
}

Making Node::may_make(const Worker& w) const {
  // Of who is alone nobody else makes those who read what piles up, and all that is ready adds to that.
  if (w.leaves && !(works_alone() && crew.look(w).waiting < Lead::kMany)) return Making::few;
  if (w.outer.held()) return Making::due;
  if (!w.lead.held()) return Making::all;
  const std::int64_t waiting = crew.look(w).waiting;
  return several_ && waiting < most_ahead ? Making::movable : Crew::in_any_case(waiting);
}

// So many of what this loop makes are to be ready: fewer, where their values are large, for whoever they are shipped to
// runs all of them.
std::int64_t Node::visible_of(const Worker& w, const abi::Block& loop) const {
  std::int64_t visible = visible_;
  for (const std::uint32_t* g = loop.body_groups; *g != ~0u; ++g) {
    const double growth = crew.growing.growth(*g);
    if (w.stats.mean(*g) == 0) visible = std::min(visible, kVisibleUnknown);
    if (growth * static_cast<double>(visible) > kVisibleBytes)
      visible = std::max(kVisibleLeast, static_cast<std::int64_t>(kVisibleBytes / growth));
  }
  return visible;
}

bool Node::steal(Worker& w, Work& work, Making making, Running running) {
  if (w.steals_from > ticks() && crew.company.all_work()) return false;
  for (std::size_t i = 1; i < crew.workers.size(); ++i) {
    Worker& victim = *crew.workers[(static_cast<std::size_t>(w.number) + i) % crew.workers.size()];
    work.stolen = !victim.queue.looks_empty() && victim.queue.steal(work, making, w.chunk, running);
    if (work.stolen) return true;
  }
  return false;
}

bool Node::stays_away(const Worker& w) const {
  return keeps_company_ && !crew.company.all_work() && crew.stays_away(w, ticks());
}

bool Node::work_in_sight(const Worker& w) const {
  if (evacuation->parked()) return false;
  if (w.chained != nullptr) return true;
  for (const auto& other : crew.workers) {
    if (other->queue.has(may_make(w), may_run(w))) return true;
  }
  return false;
}

// Only while each worker of the host has a core, and never instead of moving messages.
bool Node::look_on(const Worker& w) const {
  if (!looks_on_ || w.sent || w.leaves || evacuation->parked()) return false;
  if (ranks() > 1 && !role_.held(std::memory_order_relaxed)) return false;
  const std::uint64_t until = std::max(ticks(), w.steals_from) + kLook;
  for (std::uint64_t now = 0; now < until; now = ticks()) {
    for (const auto& other : crew.workers) {
      if ((now >= w.steals_from || other.get() == &w) &&
          (w.holds_on() ? other->queue.atomics() > 0 : !other->queue.looks_empty()))
        return true;
    }
    if (stopping.load(std::memory_order_relaxed) || failed.load(std::memory_order_relaxed)) break;
    spin_pause();
  }
  return false;
}

}  // namespace tessera::runtime
