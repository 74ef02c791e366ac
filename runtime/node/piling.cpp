// What a worker does while values pile up (work/pileup.hpp).
#include <algorithm>
#include <utility>

#include "runtime/node/node.hpp"

namespace tessera::runtime {

namespace {

// Ticks, about 1 ms; and 16 us, until something has run.
constexpr std::uint64_t kWeighs = 2'500'000, kWeighsFirst = kWeighs / 64;

}  // namespace

bool Node::look_at_pile(Worker& w, std::uint64_t now) {
  const std::int64_t bytes = piled();
  const bool leaves = several_ && comm.outstanding.on_its_way() >= Growing::kMuchPassedOn;
  // Most of what has been made has been read; so will be the rest, where somebody else goes on who may do so.
  // What others have may be here, too.
  const bool flows = several_ && held->made() >= 2 * std::max(held->now(), comm.outstanding.bytes());
  if (several_ && w.idle_since != 0 && pileup.lasts()) backlogs.want();
  // What a balancer has shipped may be just what they wait for: who waits for them then keeps twice as much.
  const bool quiet = several_ && !facts.balancing && backlogs.silent();
  pileup.look(bytes, now, crew.calls(), w.idle_since,
              leaves                                ? Pileup::Ends::sure
              : (flows && backlogs.busy()) || quiet ? Pileup::Ends::likely
              : several_ && !backlogs.busy()        ? Pileup::Ends::idle
                                                    : Pileup::Ends::unknown,
              held->made() - held->now());
  if (pileup.drains()) crew.growing.look(!several_);
  if (!pileup.lasts()) [[likely]]
    return false;
  if (several_)
    crew.growing.press(leaves || comm.outstanding.bytes() >= Growing::kMuchPassedOn,
                       comm.bytes() >= Growing::kMuchPassedOn);
  return true;
}

Running Node::may_run(const Worker& w) const {
  if (w.leaves) return Running::no_growing;
  return pileup.drains() && (bounded_ || crew.growing.large()) ? Running::last_first : Running::usual;
}

// First what does not add to what piles up, of any worker, or what makes such.
bool Node::find_while_piled(Worker& w, Work& work) {
  if (w.queue.pop(work, Making::nothing, Making::nothing, 0, Running::no_growing) ||
      steal(w, work, Making::nothing, Running::no_growing) || (crew.growing.large() && find_maker(w, work)))
    return runs_on(w);
  return false;
}

// Else, while others run such, nothing runs that does add to it: of a worker that is alone on its rank those may be on
// other ranks.
void Node::leave_to_others(Worker& w) {
  // Nobody else has anything of this rank, or runs: nobody is waited for. (To look at very many loops takes longer.)
  const bool by_itself =
      works_alone() && comm.outstanding.bytes() == 0 && !backlogs.busy() && w.queue.loops() < Lead::kMany;
  if (several_ && by_itself) backlogs.want();  // they may be busy by now
  w.leaves = ((several_ && !by_itself) || crew.others_let_go(w)) && !pileup.passes();
}

// A loop around others runs ahead of what its iterations make, which waits for other ranks and will hold much: what
// waits counts by what it makes.
void Node::look_at_outer(Worker& w, const WaitCounts::Seen& seen, std::uint64_t now) {
  if (several_ && now - w.weighed > (crew.growing.is_weighed() ? kWeighs : kWeighsFirst)) {
    w.weighed = now;
    crew.growing.weigh();
  }
  if (!several_ || crew.growing.weight() == 1 || !w.queue.is_around_others_next()) return w.outer.is_alone();
  w.outer.enough(crew.growing.weight() * seen.waiting, seen.ceased, now, crew.calls());
}

// Who reads what piles up may have to be made first.
bool Node::find_maker(Worker& w, Work& work) {
  const Making making = may_make(w);
  const std::int64_t chunk = std::min(w.chunk, kPiledChunk);
  if (w.queue.pop_maker(work, making, chunk, true)) return true;
  for (const auto& other : crew.workers) {
    if (other.get() == &w || other->queue.loops() == 0) continue;
    work.stolen = other->queue.pop_maker(work, making, chunk, false);
    if (work.stolen) return true;
  }
  return false;
}

// What it makes is to be run, unless it only waits.
void Node::run_tried(Worker& w, Work work) {
  ReadyQueue& queue = *std::exchange(work.tried, nullptr);
  const abi::Block& block = *work.cf->block;
  const std::int64_t waits = w.waits.load();
  run_work(w, work);
  queue.has_made(block, w.waits.load() != waits);
}

// Each worker has made a part of its own of what sets out. Another one may have what comes earlier in the program: what
// follows from that is read sooner. Of several workers, where all that is ready makes values grow.
bool Node::find_earlier(Worker& w, Work& work) {
  const std::optional<ReadyQueue::Grows> own = w.queue.next_that_grows();
  if (!own || w.stats.tiny(own->group)) return false;
  Worker* from = nullptr;
  std::int64_t least = own->counter;
  for (const auto& other : crew.workers) {
    if (other.get() == &w || other->queue.looks_empty()) continue;
    const std::optional<ReadyQueue::Grows> its = other->queue.next_that_grows();
    if (its && its->group == own->group && its->counter < least) from = other.get(), least = its->counter;
  }
  work.stolen = from != nullptr && from->queue.steal(work, Making::nothing, 0, Running::last_first);
  return work.stolen;
}

bool Node::runs_on(Worker& w) {
  w.lead.found();
  w.outer.found();
  w.idle_since = 0;
  Crew::set_lets_go(w, true);
  return true;
}

}  // namespace tessera::runtime
