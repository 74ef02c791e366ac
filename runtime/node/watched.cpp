#include "runtime/node/watched.hpp"

#include <algorithm>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/journal/brief.hpp"
#include "runtime/journal/doing.hpp"
#include "runtime/node/input_sums.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/trace/trace_buffer.hpp"

namespace tessera::runtime {

using abi::Cf;
using abi::Worker;

namespace {

abi::Next run_recorded(Worker& w, Cf* c) { return w.trace == nullptr ? c->block->run(&w, c) : w.trace->run(w, c); }

// With a journal.
abi::Next run_kept(Worker& w, Cf* c) {
  if (w.page == nullptr) return run_recorded(w, c);
  if (journal::Brief::suits(w, c)) {
    journal::Brief::suited(w, c);
    const abi::Next next = journal::Brief::run(w, c, [&] { return run_recorded(w, c); });
    w.recalled = false;
    return next;
  }
  const std::uint32_t group = c->block->group;
  journal::Doing doing(w.node, w, c);
  const abi::Next next = run_recorded(w, c);
  doing.done();
  w.recalled = doing.recalled();
  if (w.recalled) w.stats.recalled(group);
  return next;
}

abi::Next run_checked(Worker& w, Cf* c) {
  if (!w.node.facts.options.check_inputs) return run_kept(w, c);
  InputSums inputs;
  inputs.note(c);
  // What it assigns may have others run in place, inside this.
  struct Around {
    Worker& w;
    InputSums* outer;
    ~Around() { w.inputs = outer; }
  } const around{w, std::exchange(w.inputs, &inputs)};
  const abi::Next next = run_kept(w, c);
  no_child();
  inputs.compare();  // there is no output
  return next;
}

// Where a policy asks what the fragments of series take. It has begun at `from`, ticks.
abi::Next run_in_series(Worker& w, Cf* c, std::uint64_t from) {
  const abi::Block& block = *c->block;
  if (w.series == nullptr || block.series == nullptr) return run_checked(w, c);
  const std::uint64_t series = block.series(c);
  const Rank belongs = w.node.members.place(block.locator(c));
  const abi::Next next = run_checked(w, c);
  if (series == 0 || w.recalled) return next;
  w.series->add({series, balancer::Group{block.group}, belongs,
                 static_cast<balancer::Time>(static_cast<double>(ticks() - from) * ns_per_tick()),
                 w.stats.read(block.group).mean_bytes_out()});
  return next;
}

[[gnu::noinline]] abi::Next run_otherwise(Worker& w, Cf* c) {
  const std::uint64_t from = w.series == nullptr ? 0 : ticks();
  if (simulation != nullptr) simulation->runs(c);
  // Mostly it is recorded, or there is a journal, and nothing else.
  if (w.series != nullptr || w.node.facts.options.check_inputs) return run_in_series(w, c, from);
  return w.page == nullptr ? run_recorded(w, c) : run_kept(w, c);
}

// Of one that repeats turns may be skipped by what is looked up.
template <class F>
bool counting_turns(Worker& w, Cf* c, F look_up) {
  const bool repeats = (c->block->flags & abi::kRepeats) != 0;
  const std::int64_t turn = repeats ? abi::frame_int(c, 0) : 0;
  const bool found = look_up();
  if (repeats) w.stats.skipped(c->block->group, static_cast<std::uint64_t>(abi::frame_int(c, 0) - turn));
  return found;
}

// A chunk of a loop begins. True: some of its iterations may need not be made.
[[gnu::noinline, gnu::cold]] bool may_skip(Worker& w, const Work& work) {
  if (w.page == nullptr) return false;
  w.page->loop(work.cf->id);
  return w.node.journal->known() != nullptr;
}

// The iteration that a chunk of a loop goes on with, from `i`; past the last one: with none.
[[gnu::noinline, gnu::cold]] std::int64_t next_iteration(Worker& w, const Work& work, std::int64_t i) {
  const std::int64_t next =
      std::min(journal::next_iteration(*w.node.journal, *w.page, work.cf, i, work.last), work.last + 1);
  // Each rank goes through the iterations of a loop that all run: the first part counts for the others.
  if ((work.cf->block->flags & abi::kSpreads) != 0 && abi::frame_int(work.cf, 2) != 0) return next;
  for (const std::uint32_t* g = work.cf->block->body_groups; next > i && *g != ~0u; ++g)
    w.stats.skipped(*g, static_cast<std::uint64_t>(next - i));
  return next;
}

// Where there is a journal: what its page is told of a chunk.
class InPart {
 public:
  InPart(Worker& w, const Cf* loop) : page_(w.page) {
    if (page_ != nullptr) outer_ = page_->begin_part(loop, w.depth + 1);
  }
  ~InPart() {
    if (page_ != nullptr) page_->part = outer_;
  }
  InPart(const InPart&) = delete;
  InPart& operator=(const InPart&) = delete;
  void at(std::int64_t i) {
    if (page_ != nullptr) page_->part.index = i;
  }

 private:
  journal::Page* const page_;
  journal::Page::Part outer_;
};

}  // namespace

[[gnu::noinline]] abi::Next run_watched(Worker& w, Cf* c) {
  if (w.page == nullptr || !journal::Brief::suits_again(w, c)) return run_otherwise(w, c);
  if (simulation != nullptr) [[unlikely]]
    simulation->runs(c);
  const abi::Next next = journal::Brief::run_again(w, c);
  w.recalled = false;
  return next;
}

[[gnu::noinline, gnu::cold]] bool goes_on_recalled(Worker& w, Cf* c) {
  const journal::Journal* const journal = w.node.journal.get();
  if (journal == nullptr || journal->known() == nullptr) return false;
  return counting_turns(w, c, [&] { return journal::recalls(*journal, w.page, c); });
}

[[gnu::noinline, gnu::cold]] bool is_skipped(Worker& w, Cf* c) {
  const bool over = counting_turns(w, c, [&] { return journal::skips(*w.node.journal, *w.page, c); });
  if (!over) return false;
  w.stats.skipped(c->block->group, 1);
  free_cf(c);
  return true;
}

[[gnu::noinline, gnu::cold]] void give(Worker& w, Cf* c) {
  Node& node = w.node;
  if (c->block->locator != nullptr && node.ranks() > 1) {
    const Rank to = node.members.place(c->block->locator(c));
    c->flags |= kPlaced;
    if (to != node.self()) return node.place(w, c, to);
  }
  node.ready(w, c, w.number >= 0);
}

[[gnu::noinline]] void iterate_watched(Worker& w, const Work& work, const std::atomic<bool>& failed) {
  const bool skips = may_skip(w, work);
  InPart part(w, work.cf);
  for (std::int64_t i = work.first; i <= work.last; ++i) {
    if (skips && (i = next_iteration(w, work, i)) > work.last) break;
    part.at(i);
    w.trace == nullptr ? work.cf->block->iterate(&w, work.cf, i) : w.trace->iterate(w, work.cf, i, i > work.first);
    if (failed.load(std::memory_order_relaxed)) break;
  }
}

}  // namespace tessera::runtime
