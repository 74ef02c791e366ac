// A fragment's way through one rank: submitted, gathered, ready, run, finished.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "runtime/abi/tessera/kernel_error.hpp"
#include "runtime/balance/policy_host.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/horizon.hpp"
#include "runtime/journal/doing.hpp"
#include "runtime/memory/no_memory.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/node/end_of_run.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/observing.hpp"
#include "runtime/node/watched.hpp"
#include "runtime/report/ending.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/report/thrown_type.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/trace/trace_buffer.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

// Structured fragments run inside one another up to this depth; deeper ones are queued.
constexpr int kMaxDepth = 64;
// With this many fragments to run in the queue a worker runs these before it makes more: what is
// made waits, and takes memory, until they have run.
constexpr std::int64_t kEnoughReady = 64;
// With so many loops in it a `while` or a sub makes no more of them before some have run.
constexpr std::int64_t kManyLoops = 64;

// Whether its time is to be taken. What only computes arguments is no part of the call's weight.
inline bool begin(Worker& w, const abi::Block& b) {
  if (b.kind == abi::Kind::atomic) return w.stats.begin(b.group);
  if (b.kind != abi::Kind::eval) w.stats.begin_making(b.group);
  return false;
}

// A kernel's fragment that takes no longer than to queue it, or to move it.
bool at_once(const Worker& w, const Cf* c) {
  return w.stats.tiny(c->block->group) || abi::recalled(c) || (w.page != nullptr && journal::is_over(*w.page, c));
}

bool structured(const Cf* c) { return c->block->kind != abi::Kind::atomic && c->block->kind != abi::Kind::range; }

// A `while` that may read swept names goes on behind what its turn has made: it would make all turns before that runs,
// and inside another fragment what that one holds would be held meanwhile.
bool goes_behind(const Cf* c, const abi::Block& before) {
  return before.kind == abi::Kind::loop && (c->block->flags & abi::kHolds) != 0;
}

void set_current(Worker& w, Cf* c) { __atomic_store_n(&w.current, c, __ATOMIC_RELAXED); }

}  // namespace

void Node::enroll(Cf* c) {
  if ((c->flags & kEnrolled) != 0) return;
  c->flags |= kEnrolled;
  static_cast<ScopeRecord*>(c->scope)->count.add();
  if ((c->block->flags & abi::kHolds) != 0) [[unlikely]]
    hold_hulls(c);
}

void Node::leave_scope(Worker& w, ScopeRecord* scope, std::int64_t count) {
  for (; scope != nullptr; count = 1) {
    const std::uint64_t ref = scope->ref;
    const protocol::Knows knows = scope->knows();
    if (!scope->count.take(count)) return;
    if (protocol::at_zero(knows) == protocol::AtZero::pays) {
      Rank engaged_by{-1};
      if (scopes.close_proxy(scope, ref, engaged_by)) {
        comm.send(engaged_by, ScopeReturn{ref});
        w.sent = true;
      }
      return;
    }
    ScopeRecord* parent = scope->parent;
    for (const AtEnd& at_end : scope->at_end) {
      // The names belong to a scope around this one, which our count still keeps alive.
      try {
        switch (at_end.does) {
          case AtEnd::Does::assigns:
            data.assign(w, {at_end.block, parent, nullptr, 0, nullptr, &at_end.spot}, at_end.name, abi::value_int(1));
            if (at_end.spot.horizon != 0) data.note_swept(w, at_end.name, at_end.spot, sizeof(abi::Value));
            break;
          case AtEnd::Does::frees:
            at_end.parts.empty() ? data.free_now(w, at_end.name, at_end.block)
                                 : holds.free({at_end.name, at_end.block, at_end.parts, at_end.all});
            break;
          case AtEnd::Does::ends_hold:
            holds.end(at_end.name, scope->id, false);
            break;
        }
        w.sent = w.sent || ranks() > 1;
      } catch (const ProgramError& e) {
        return fail(fmt::format("{}: error: {}", runtime::place(facts.program, facts.program.blocks[at_end.block]->pos),
                                e.what()),
                    kExitProgram);
      }
    }
    scopes.retire(scope);
    if (data.free_scope(scope)) w.sent = true;
    holds.scope_ended(scope->ref);
    scopes.free_retired(scope);
    if (parent == nullptr) return end->root_finished();
    scope = parent;
  }
}

Rank Node::place_of(Cf* c) const {
  try {
    return members.place(c->block->locator(c));
  } catch (...) {
    free_cf(c);
    throw;
  }
}

// It has failed, and nobody else knows of it: it goes, and is not counted off its scope. Its inputs are those of its
// block, its frame is that of the block `reached`.
void Node::abandon(Cf* c, const abi::Block& reached) {
  release_inputs(c);
  c->block = &reached;
  free_cf(c);
}

void Node::submit(Worker& w, Cf* c) {
  if (c->block->kind != abi::Kind::atomic && w.current != nullptr) join_family(c, w.current);
  if (w.watched) [[unlikely]] {
    if (w.page != nullptr && w.page->goes_on && is_skipped(w, c)) return;
    if (w.trace != nullptr) w.trace->born(*c);
    if (abi::recalled(c)) return give(w, c);
  }
  if (w.births.noted(*c)) [[unlikely]]
    w.births.note(*c, *w.current);
  if (c->block->locator != nullptr && ranks() > 1) {
    const Rank to = place_of(c);
    c->flags |= kPlaced;
    if (to != self()) return place(w, c, to);
  }
  if ((c->block->flags & abi::kSpreads) != 0 && ranks() > 1 && !spread(w, c)) return;
  start(w, c);
}

void Node::start_here(Worker& w, Cf* c, std::uint64_t promised) {
  if (journal != nullptr && journal::recalls(*journal, w.page, c)) return ready(w, c, w.number >= 0);
  start(w, c, promised);
}

void Node::start(Worker& w, Cf* c, std::uint64_t promised) {
  bool gathered = false;
  try {
    gathered = data.gather(w, c, promised);
  } catch (...) {
    // It is this fragment's mistake, not that of the one that is creating it.
    fail_by_exception(c);
    return abandon(c, *c->block);
  }
  if (gathered) ready(w, c, w.number >= 0);
}

void Node::arrived(Worker& w, Cf* c) {
  c->flags |= kGathered;
  // The worker that completed the inputs runs the consumer next, while its data is warm.
  if (w.number >= 0 && w.chained == nullptr && c->block->kind == abi::Kind::atomic && at_once(w, c)) {
    w.chained = c;
    return;
  }
  if (c->block->kind != abi::Kind::atomic) {
    // A `while` waits in each turn: that many waited once makes it go before others no longer than they do.
    const bool many = crew.look(w).waiting >= Lead::kMany;
    c->flags = static_cast<std::uint16_t>(many ? c->flags | kDue : c->flags & ~kDue);
  }
  ready(w, c, false);
}

// A worker that holds the communication role has kept it long enough: what comes next is queued.
bool Node::overdue(const Worker& w) const { return w.leave_by != 0 && ticks() > w.leave_by; }

// What `while`s and recursions that need not wait make goes on for ever: they go behind the loops that they have made.
bool Node::far_ahead(const Worker& w) const {
  return w.queue.loops() >= kManyLoops || crew.look(w).waiting >= unfolds_;
}
bool Node::enough_ready(const Worker& w) const { return w.queue.atomics() >= std::max(w.visible, kEnoughReady); }

// Running at once saves a queue's worth of work, but hides the fragment from siblings and from the
// balancer: so only what is tiny, or what makes more fragments while nobody goes hungry.
bool Node::in_place(const Worker& w, const Cf* c) const {
  if (overdue(w) || evacuation->parked()) return false;
  if (c->block->kind == abi::Kind::atomic) {
    return at_once(w, c) && !(pileup.lasts() && crew.growing.grows(c->block->group));
  }
  return structured(c) && !w.sends && w.depth < kMaxDepth && !enough_ready(w) && !far_ahead(w) &&
         !(crew.sleepers.any() && crew.workers.size() > 1);
}

void Node::ready(Worker& w, Cf* c, bool may_run_now) {
  if (may_run_now && in_place(w, c)) return execute(w, c);
  if (!retained.empty()) {
    if (const Rank to = settled(c); to != self()) {
      observing->moves.followed[c->block->group].fetch_add(1, std::memory_order_relaxed);
      return place(w, c, to);
    }
  }
  enroll(c);
  Worker& to = w.number >= 0 ? w : crew.any_worker();
  // What has waited is no farther ahead than what it waited for. Where many have, what the first of them makes goes
  // before the next one.
  to.queue.push(c, may_run_now ? structured(c) && far_ahead(w) : (c->flags & kDue) != 0);
  ++w.queued;
  // A worker tells the policy when it has run something. What a message makes ready while all of them run would
  // wait for that, unseen, while others have nothing.
  if (w.number < 0 && policy != nullptr && !crew.sleepers.any()) policy->changed();
  wake_worker();
}

// A kernel's fragment that repeats makes values grow, while they pile up: what lets values go has its turn.
[[gnu::always_inline]] inline bool Node::leaves_to_others(Worker& w, Cf* c) {
  if (piled() < pileup.next()) [[likely]]
    return false;
  if (c->block->kind != abi::Kind::atomic) return false;
  if (!crew.growing.grows(c->block->group)) {
    Crew::set_lets_go(w, true);
    return false;
  }
  enroll(c);
  w.queue.push(c);
  wake_worker();
  return true;
}

// While values pile up the loops that are listed have theirs after each turn of a `while`: one may make who reads them.
inline bool Node::readers_turn(const Worker& w) const { return piled() >= pileup.next() && w.queue.loops() > 0; }

// A call whose condition or indices are known now: others may want it, as they may one that had none.
bool Node::is_to_be_seen(const Worker& w, const Cf* c) const {
  return c->block->kind == abi::Kind::atomic && !alone() && !at_once(w, c);
}

// It waits for inputs of its next block, or runs on at once: true; or, also when it is to go `behind`, by the queue.
[[gnu::always_inline]] inline bool Node::goes_on(Worker& w, Cf* c, const abi::Block& before, bool behind) {
  if (!(w.watched && goes_on_recalled(w, c)) && !data.gather(w, c)) return false;
  const bool repeats = (c->block->flags & abi::kRepeats) != 0;
  // What it has made ready is not to wait, unseen, until all of its runs are over.
  if (repeats && policy != nullptr && !w.stats.tiny(c->block->group)) policy->changed();
  if (repeats && leaves_to_others(w, c)) return false;
  const bool last = (repeats && works_alone() && held->grows()) || (before.kind == abi::Kind::loop && readers_turn(w));
  if (before.kind == abi::Kind::eval && is_to_be_seen(w, c)) return ready(w, c, false), false;
  if (!behind && !last && !overdue(w) && !evacuation->parked()) return true;
  enroll(c);
  last ? w.queue.push_last(c) : w.queue.push(c, behind);
  return false;
}

// The same of what may still read swept names, in the block `before` or the next one.
[[gnu::noinline]] bool Node::goes_on_holding(Worker& w, Cf* c, const abi::Block& before) {
  if ((c->flags & kHolding) != 0) hold_next(c, before), data.free_left(w);
  return goes_on(w, c, before, goes_behind(c, before) && (!several_ || enough_ready(w) || far_ahead(w)));
}

// Before what may take long.
bool Node::is_time_to_tell(const Worker& w, const abi::Block& next) {
  return w.untold.size() >= Worker::kMostUntold || ticks() > w.tells_by ||
         (next.kind == abi::Kind::atomic && !w.stats.tiny(next.group));
}

void Node::execute(Worker& w, Cf* c) {
  Cf* const outer = w.current;
  set_current(w, c);
  ++w.depth;
  const abi::Block* block = c->block;
  const abi::Block* failed_in = nullptr;
  bool finished = false;
  try {
    for (;;) {
      block = c->block;
      if (several_) {
        if (!w.boarding.empty() && ticks() > w.departs_by) depart(w);
        if ((c->flags & kGathered) != 0) data.note_uses(c);
        if (!w.untold.empty() && is_time_to_tell(w, *block)) data.tell(w);
      }
      const bool timed = begin(w, *block);
      const ValuesHere before = timed ? ValuesHere::now() : ValuesHere();
      const std::uint64_t from = timed ? ticks() : 0;
      const abi::Next next = !w.watched ? block->run(&w, c) : run_watched(w, c);
      no_child();
      if (timed && !w.recalled) w.stats.timed(block->group, from, ticks());
      if ((c->flags & kGathered) != 0) {
        if (facts.balancing) w.stats.add_bytes(block->group, input_bytes(*block, c));
        release_inputs(c, *block);  // of the block that ran, which may not be c->block any more
      }
      if (timed) w.stats.grew(block->group, ValuesHere::now().since(before));
      if (next == abi::Next::finished) {
        finished = true;
        break;
      }
      // The next turn of a `while` is due if it has to wait as well.
      if (block->kind == abi::Kind::loop) c->flags &= static_cast<std::uint16_t>(~kDue);
      if (w.moving_to != Worker::kStays) {
        const Rank to = members.place(w.moving_to);
        w.moving_to = Worker::kStays;
        c->flags |= kPlaced;
        if (ranks() > 1 && to != self()) {
          if ((c->flags & kHolding) != 0) hold_next(c, *block);
          w.has_placed = true;
          place(w, c, to);
          break;
        }
      }
      if (((block->flags | c->block->flags) & abi::kHolds) != 0) [[unlikely]] {
        if (!goes_on_holding(w, c, *block)) break;
      } else if (!goes_on(w, c, *block, block->kind == abi::Kind::loop && (enough_ready(w) || far_ahead(w)))) {
        break;
      }
    }
  } catch (...) {
    failed_in = std::exchange(c->block, block);
    fail_by_exception(c);
  }
  --w.depth;
  set_current(w, outer);
  if (failed_in != nullptr) [[unlikely]]
    return abandon(c, *failed_in);
  if (!finished) return;
  auto* scope = static_cast<ScopeRecord*>(c->scope);
  const bool enrolled = (c->flags & kEnrolled) != 0;
  if (enrolled && (c->flags & kHolding) != 0) [[unlikely]]
    let_go(c), data.free_left(w);
  free_cf(c);
  if (enrolled) leave_scope(w, scope);
}

void Node::run_chunk(Worker& w, const Work& work) {
  Cf* c = work.cf;
  Cf* const outer = w.current;
  set_current(w, c);
  w.stats.pause();
  ++w.depth;
  const std::uint64_t queued = w.queued;
  const std::int64_t waits = w.waits.load();
  try {
    if (w.watched) [[unlikely]] {
      iterate_watched(w, work, failed);
    } else {
      for (std::int64_t i = work.first; i <= work.last; ++i) {
        c->block->iterate(&w, c, i);
        if (failed.load(std::memory_order_relaxed)) break;
      }
    }
  } catch (...) {
    fail_by_exception(c);
  }
  // Iterations that ran to their end on the spot are claimed in growing chunks; iterations that
  // leave fragments in the queue in small ones, so that the queue stays short.
  if ((c->block->flags & abi::kNested) == 0) {
    w.chunk = std::min<std::int64_t>(w.chunk * 2, w.queued == queued ? 1024 : 32);
  }
  w.has_placed |= (c->block->flags & (abi::kSpreads | abi::kStays)) != 0 && several_;
  if (facts.balancing || w.has_placed) w.visible = visible_of(w, *c->block);
  --w.depth;
  set_current(w, outer);
  w.births.stepped(c->block->group, work.last - work.first + 1);
  if (w.lead.held() && (__atomic_load_n(&c->flags, __ATOMIC_RELAXED) & kDue) == 0)
    crew.made_beside(w.waits.load() - waits);
  if (work.hold != nullptr) Horizon::release(work.hold), data.free_left(w);
  if (!ReadyQueue::chunk_done(c)) return;
  auto* scope = static_cast<ScopeRecord*>(c->scope);
  if ((c->flags & kHolding) != 0) let_go(c);  // the rest of it has been taken
  free_cf(c);
  leave_scope(w, scope);
}

// By the one that is being handled.
[[gnu::cold]] void Node::fail_by_exception(const Cf* c) {
  try {
    throw;
  } catch (const ProgramError& e) {
    fail_in(c, e.pos(), e.what());
  } catch (const KernelError& e) {
    fail_in(c, 0, coded(e.what(), "T405"));
  } catch (const NoMemory& e) {
    fail_in(c, 0, not_enough_memory(e.bytes()), kExitEnvironment);
  } catch (const std::bad_alloc&) {
    fail_in(c, 0, not_enough_memory(), kExitEnvironment);
  } catch (const std::exception& e) {
    fail_in(c, 0, coded(fmt::format("the kernel threw an exception: {}", e.what()), "T409"));
  } catch (...) {
    fail_in(c, 0, coded(fmt::format("the kernel threw {}, which is no std::exception", thrown_type()), "T409"));
  }
}

void Node::fail_in(const Cf* c, abi::Pos pos, const std::string& text) { fail_in(c, pos, text, kExitProgram); }

void Node::fail_in(const Cf* c, abi::Pos pos, const std::string& text, int exit_code) {
  no_child();
  // Never given back: whatever runs above or beside it, this scope does not end any more, and so
  // neither does the program before the failure is known to rank 0.
  static_cast<ScopeRecord*>(c->scope)->count.add();
  const std::string where =
      pos == 0 ? runtime::place(facts.program, c->block->pos) : runtime::place(facts.program, pos);
  fail(fmt::format("{}: error: {}\n  in {}{}", where, text, describe(facts.program, c),
                   on_which_host(self(), facts.hosts)),
       exit_code);
}

}  // namespace tessera::runtime
