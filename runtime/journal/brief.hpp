// Brief, Alone: a fragment of a few microseconds that runs, as the journal sees it: only that it has returned is
// written down of it, and what it has assigned. Doing is for all others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  // Of this fragment, which is about to run.
  static bool suits(const Worker& w, const abi::Cf* c) {
    const abi::Block& b = *c->block;
    return b.kind == abi::Kind::atomic && !abi::recalled(c) && b.output_count <= Page::kMostOutputs && !w.page->waits &&
           w.page->brief == nullptr && w.page->alone == nullptr && !all_is_written(w, key_of(c), b.group);
  }

  Brief(Surroundings& rank, Worker& w, abi::Cf* c)
      : rank_(rank), worker_(w), page_(*w.page), cf_(c), outer_(std::exchange(w.doing, nullptr)) {
    std::uint32_t part = 0;
    if (repeats(c)) [[unlikely]] {
      page_.loop(c->id);
    } else if (page_.part.depth == w.depth) {
      part = page_.part.number;
    }
    page_.begin_note(key_of(c), c->block->group, part);
    page_.brief = this;
  }
  ~Brief() {
    if (doing_) [[unlikely]]
      doing_.reset();
    worker_.doing = outer_;
    page_.brief = nullptr;
    if (!done_) [[unlikely]]
      page_.forget_note();
    if (simulation != nullptr) [[unlikely]]
      page_.journal().printed_by_now();
  }
  Brief(const Brief&) = delete;
  Brief& operator=(const Brief&) = delete;

  // Its kernel, which has assigned nothing yet, asks for more.
  void durable() {
    doing_.emplace(rank_, worker_, cf_);
    doing_->durable();
  }
  // It has come to its end.
  void done() {
    done_ = true;
    if (doing_) [[unlikely]]
      return doing_->done();
    if (simulation != nullptr) [[unlikely]]
      page_.journal().printed_by_now();
    page_.end_note();
  }

 private:
  Surroundings& rank_;
  Worker& worker_;
  Page& page_;
  abi::Cf* const cf_;
  Doing* const outer_;
  std::optional<Doing> doing_;
  bool done_ = false;
};

// The same at less cost, where nobody else asks what the fragments of this worker do.
class Alone {
 public:
  // This one, as another of its block was found to a moment ago.
  static bool suits(const Worker& w, const abi::Cf* c) {
    return w.page->notes(c->block) && w.page->alone == nullptr && w.page->brief == nullptr && w.doing == nullptr &&
           !abi::recalled(c);
  }
  // It was found to be one of those that are noted.
  static void suited(Surroundings& rank, const Worker& w, const abi::Cf* c) {
    if (w.trace != nullptr || w.series != nullptr || w.inputs != nullptr || repeats(c)) return;
    if (simulation != nullptr && c->block->group % 2 == 0) return;  // there are to be others, too
    w.page->rank = &rank;
    w.page->now_notes(c->block);
  }

  static abi::Next run(Worker& w, abi::Cf* c) {
    Page& page = *w.page;
    const abi::Block& block = *c->block;
    page.begin_note(c->id, block.group, page.part.depth == w.depth ? page.part.number : 0);
    page.alone = c;
    abi::Next next;
    try {
      next = block.run(&w, c);
    } catch (...) {
      page.durable.reset();
      page.alone = nullptr;
      page.forget_note();
      if (simulation != nullptr) page.journal().printed_by_now();
      throw;
    }
    page.alone = nullptr;
    if (simulation != nullptr) [[unlikely]]
      page.journal().printed_by_now();
    if (w.doing != nullptr) [[unlikely]] {
      page.durable->done();
      page.durable.reset();
    } else {
      page.end_note();
    }
    return next;
  }
  // Its kernel, which has assigned nothing yet, asks for more.
  static void durable(Worker& w) {
    w.page->durable = std::make_unique<Doing>(*w.page->rank, w, w.page->alone);
    w.page->durable->durable();
  }
};

}  // namespace tessera::runtime::journal
