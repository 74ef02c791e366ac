// Brief: a fragment of a few microseconds that runs, as the journal sees it: only that it has returned is written down
// of it, and what it has assigned. Doing is for all others.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/journal/doing.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/threads/simulation.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime::journal {

inline bool repeats(const abi::Cf* c) { return (c->block->flags & abi::kRepeats) != 0; }

// The same in every run of the program, whatever it was translated to: a loop that repeats in one fragment has those of
// its turns.
inline Id key_of(const abi::Cf* c) {
  return repeats(c) ? fragment_of(c->id, static_cast<std::int64_t>(c->words()[0]), 0) : c->id;
}

// Enough is known of a fragment that takes longer than it takes to write all of that down. (Which do, differs from run
// to run.)
inline bool all_is_written(const Worker& w, const Id& key, std::uint32_t group) {
  return simulation != nullptr ? (key.lo >> w.page->journal().attempt() % 8 & 1) != 0 : !w.stats.tiny(group);
}

class Brief {
 public:
  // This one, as another of its block was found to a moment ago.
  static bool suits_again(const Worker& w, const abi::Cf* c) {
    return w.page->last_like(c->block).block == c->block && !w.page->noting && w.doing == nullptr && !abi::recalled(c);
  }
  static abi::Next run_again(Worker& w, abi::Cf* c) {
    Page& page = *w.page;
    const Page::Like& like = page.last_like(c->block);
    page.begin_note(c->id);
    page.noting = page.alone = true;
    abi::Next next;
    try {
      next = c->block->run(&w, c);
    } catch (...) {
      fails(w, nullptr);
      throw;
    }
    if (page.durable != nullptr || simulation != nullptr) [[unlikely]]
      if (ends_otherwise(w, nullptr)) return next;
    page.noting = page.alone = false;
    page.end_note(like, w.depth);
    return next;
  }
  // This fragment, which is about to run.
  static bool suits(const Worker& w, const abi::Cf* c) {
    return c->block->kind == abi::Kind::atomic && !abi::recalled(c) && !w.page->waits && !w.page->off() &&
           !w.page->noting && !all_is_written(w, key_of(c), c->block->group);
  }
  // It is, and nobody but the journal asks what it does: so others of its block are for a while.
  static void suited(const Worker& w, const abi::Cf* c) {
    if (w.trace != nullptr || w.series != nullptr || w.inputs != nullptr || repeats(c)) return;
    if (simulation != nullptr && c->block->group % 2 == 0) return;  // there are to be others, too
    w.page->now_notes(c->block);
  }
  // `runs` has its code run; it may throw.
  template <class F>
  static abi::Next run(Worker& w, abi::Cf* c, F runs) {
    Page& page = *w.page;
    Doing* const outer = std::exchange(w.doing, nullptr);
    std::uint32_t part = 0;
    if (repeats(c)) {
      page.loop(c->id);
    } else if (page.part.depth == w.depth) {
      part = page.part.number;
    }
    const Id key = key_of(c);
    const std::uint32_t group = c->block->group;
    page.begin_note(key);
    page.noting = true;
    abi::Next next;
    try {
      next = runs();
    } catch (...) {
      fails(w, outer);
      throw;
    }
    if (ends_otherwise(w, outer)) return next;
    page.noting = false;
    page.end_note(group, part);
    return next;
  }
  // Its kernel, which has assigned nothing yet, asks for more.
  static void durable(Worker& w) {
    w.page->alone = false;
    w.page->durable = std::make_unique<Doing>(surroundings(w.node), w, w.current);
    w.page->durable->durable();
  }

 private:
  [[gnu::noinline, gnu::cold]] static void fails(Worker& w, Doing* outer) {
    w.page->durable.reset();
    w.doing = outer;
    w.page->noting = w.page->alone = false;
    if (simulation != nullptr) w.page->journal().printed_by_now();
    w.page->forget_note();
  }
  // True: of this one more is written down.
  [[gnu::noinline]] static bool ends_otherwise(Worker& w, Doing* outer) {
    Page& page = *w.page;
    const bool more = page.durable != nullptr;
    if (more) {
      page.durable->done();
      page.durable.reset();
    }
    w.doing = outer;
    if (simulation != nullptr) page.journal().printed_by_now();
    if (more) page.noting = page.alone = false;
    return more;
  }
};

}  // namespace tessera::runtime::journal
