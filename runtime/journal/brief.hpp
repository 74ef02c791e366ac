// Brief: a fragment of a few microseconds that runs, as the journal sees it: only that it has returned is written down
// of it, and what it has assigned. Doing is for all others.
#pragma once

#include <cstdint>
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

// Enough is known of a fragment that takes longer than it takes to write all of that down.
inline bool all_is_written(const Worker& w, const Id& key, std::uint32_t group) {
  return simulation != nullptr ? (key.lo & 1) != 0 : !w.stats.tiny(group);
}

class Brief {
 public:
  // Of this fragment, which is about to run.
  static bool suits(const Worker& w, const abi::Cf* c) {
    const abi::Block& b = *c->block;
    return b.kind == abi::Kind::atomic && !abi::recalled(c) && b.output_count <= Page::kMostOutputs && !w.page->waits &&
           w.page->brief == nullptr && !all_is_written(w, key_of(c), b.group);
  }

  Brief(Surroundings& rank, Worker& w, abi::Cf* c)
      : rank_(rank),
        worker_(w),
        page_(*w.page),
        cf_(c),
        outer_(std::exchange(w.doing, nullptr)),
        group_(c->block->group) {
    if (repeats(c)) {
      page_.loop(c->id);
    } else if (page_.part.depth == w.depth) {
      part_ = page_.part.number;
    }
    key_ = key_of(c);
    page_.brief = this;
    page_.begin_note();
  }
  ~Brief() {
    if (doing_) [[unlikely]]
      doing_.reset();
    worker_.doing = outer_;
    page_.brief = nullptr;
    if (page_.noting()) [[unlikely]]
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
    if (doing_) [[unlikely]]
      return doing_->done();
    if (simulation != nullptr) [[unlikely]]
      page_.journal().printed_by_now();
    page_.end_note(key_, group_, part_);
  }

 private:
  Surroundings& rank_;
  Worker& worker_;
  Page& page_;
  abi::Cf* const cf_;
  Doing* const outer_;
  const std::uint32_t group_;
  std::uint32_t part_ = 0;
  Id key_;
  std::optional<Doing> doing_;
};

}  // namespace tessera::runtime::journal
