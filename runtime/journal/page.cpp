#include "runtime/journal/page.hpp"

#include <utility>

#include "runtime/journal/doing.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime::journal {
namespace {

std::uint64_t bytes_of(const abi::Value* v) { return v->size + sizeof(Slot) + sizeof(abi::Value); }

// The thread that has let go of its last reference.
bool lets_go_here(abi::Value* v) {
  if (thread_worker == nullptr || thread_worker->page == nullptr) [[unlikely]]
    return Page::lets_go_elsewhere(v);
  return Page::lets_go(v, *thread_worker->page);
}

}  // namespace

Page::Page(Journal& journal)
    : goes_on(journal.known() != nullptr),
      waits(goes_on && journal.flows()),
      ranges_(journal.loops_),
      journal_(journal) {
  runtime::lets_go = lets_go_here;
  Gate::add(&inside_);
}

Page::~Page() {
  forget(0);
  {
    const Gate::Closed closed;
    stop();
    slots_.leave();
  }
  Gate::remove(&inside_);
}

void Page::loop(const Id& id) {
  if (last_loop_ == id) return;
  last_loop_ = id;
  journal_.loops_.note(id);
}

Page::Part Page::begin_part(const abi::Cf* loop, int depth) {
  bool plain = (loop->block->flags & abi::kPlain) != 0;
  for (const std::uint32_t* g = loop->block->body_groups; plain && *g != kNoGroup; ++g) {
    for (const std::uint32_t* other = loop->block->body_groups; other != g; ++other) plain = plain && *other != *g;
  }
  if (plain && ++parts_ == 0) ++parts_;
  return std::exchange(part, {plain ? parts_ : 0, depth, 0});
}

void Page::add_rows(std::size_t more) {
  if (rows_.size() + more <= kFrame || rows_.empty()) return;
  full_.push_back(std::move(rows_));
  rows_ = {};
  rows_.reserve(kFrame);
}

Slot* Page::next_slot() {
  if (Slot* const s = slots_.take()) return s;
  slots_.collect(gone_);
  if (Slot* const s = slots_.take()) return s;
  slots_.more();
  return slots_.take();
}
Slot* Page::more_slots() {
  const Passing here(inside_);
  return next_slot();
}

void Page::now_notes(const abi::Block* b) {
  const Passing here(inside_);
  notes_[b->group % kBlocks] = {b, &ranges_.group(b->group)};
}

void Page::look() {
  notes_ = {};
  if (off()) ranges_.clear();
  if (ranges_.bytes() > kPageFull) journal_.hurry();
}

void Page::forget_note() {
  const Gate::Closed closed;
  slots_.for_each([this](Slot& s) {
    if (!has_ended(s)) s.set(Slot::kUnneeded);
  });
  turn_.fetch_add(1);
}

bool Page::lets_go_and_leave(abi::Value* v, Page& mine) {
  const bool goes = lets_go_of_slots(v, &mine);
  Gate::leave(mine.inside_);
  return goes;
}
bool Page::lets_go_elsewhere(abi::Value* v) {
  const Gate::Alone here;
  return lets_go_of_slots(v, nullptr);
}

bool Page::lets_go_of_slots(abi::Value* v, Page* mine) {
  const bool wanted = is_wanted(v);
  std::uint32_t keep = 0;
  for (auto* s = static_cast<Slot*>(v->noted); s != nullptr;) {
    Slot& one = *std::exchange(s, s->next);
    if (one.page != nullptr && one.page->keeps(one, v, wanted)) {
      one.next = Slot::kept();
      ++keep;
      continue;
    }
    one.value.store(nullptr, std::memory_order_relaxed);
    const bool gone = one.state() == Slot::kStanding && !wanted;
    if (one.page == nullptr) {
      Slots::left(&one);
    } else if (one.page != mine) {
      one.page->slots_.put_back(&one, gone);
    } else {
      if (gone) mine->gone_.push_back(one.name);
      mine->slots_.put(&one);
    }
  }
  if (keep == 0) return true;
  __atomic_fetch_and(&v->pool, static_cast<std::uint8_t>(~abi::kNoted), __ATOMIC_RELAXED);
  __atomic_store_n(&v->refs, keep, __ATOMIC_RELEASE);
  return false;
}

// All who could read it have done so, and are on the pages of this rank, unless it is wanted. Who has assigned it may
// not be on his; and a sweep may be writing it.
bool Page::keeps(const Slot& s, const abi::Value* v, bool wanted) {
  if (s.state() == Slot::kWriting) return true;
  if (s.state() != Slot::kFresh || (has_ended(s) && !wanted) || off()) return false;
  const std::uint64_t bytes = kept_.fetch_add(bytes_of(v)) + bytes_of(v);
  if (bytes > kPageMost) lost_.store(true);
  if (bytes > kPageFull) journal_.hurry();
  return bytes <= kPageMost;
}

void Page::forget(std::size_t from) {
  for (; given_.size() > from; given_.pop_back()) abi::release(given_.back().value);
}

void Page::give(const Output& output, abi::Value* v) {
  given_.push_back({output, abi::retain(v), journal_.swept_so_far()});
}

// The references go when the gate has been passed.
void Page::add_given(const Id& key, std::size_t from) {
  for (std::size_t k = from; k < given_.size(); ++k) {
    const Given& g = given_[k];
    if (g.sweeps != journal_.swept_so_far()) mark_wanted(g.value);
    Slot* const s = next_slot();
    s->name = g.output.id;
    s->maker = key;
    s->turn = 0;
    join_others(g.value, s);
    s->value.store(g.value, std::memory_order_release);
  }
}

void Page::ran(const Id& key, std::uint32_t group, std::size_t from) {
  if (journal_.on()) {
    const Passing here(inside_);
    ranges_.add(key, group);
    add_given(key, from);
  }
  forget(from);
}

void Page::done(const Id& key, const InputNames& reads, std::size_t from) {
  if (!journal_.on()) return forget(from);
  reads_.clear();
  for (unsigned k = 0; k < reads.size(); ++k) {
    if (abi::is_needed(reads[k])) reads_.push_back(reads[k].id);
  }
  outputs_given_.clear();
  for (std::size_t k = from; k < given_.size(); ++k) outputs_given_.push_back(given_[k].output);
  const Done d{key, reads_, outputs_given_};
  {
    const Passing here(inside_);
    add_rows(sizeof(Id) * (d.reads.size() + 2 * d.outputs.size() + 2));
    append(rows_, d);
    add_given(key, from);
  }
  forget(from);
}

Pace::Amount Page::amount() {
  Pace::Amount all;
  const auto add = [&](const Slot& s) {
    if (s.state() != Slot::kFresh) return;
    all.bytes += bytes_of(s.value.load(std::memory_order_relaxed));
    ++all.values;
  };
  const std::size_t every = slots_.for_some(add);
  all.bytes *= every;
  all.values *= every;
  all.bytes += full_.size() * kFrame + rows_.size() + ranges_.bytes();
  return all;
}

std::uint64_t Page::bytes_kept() {
  const Gate::Closed closed;
  return amount().bytes;
}

// What one has assigned that runs by now may be read by some that are taken with this sweep, and he is not.
Page::Taken Page::take() {
  slots_.look_back(gone_);
  Taken t{{}, std::move(full_), std::move(gone_), ranges_.take(), lost_.exchange(false)};
  full_.clear();
  gone_.clear();
  slots_.for_each([&](Slot& s) {
    if (s.state() != Slot::kFresh) return;
    if (!has_ended(s)) return mark_wanted(s.value.load(std::memory_order_relaxed));
    s.set(Slot::kWriting);
    t.slots.push_back(&s);
  });
  kept_.store(0);
  if (!rows_.empty()) t.rows.push_back(std::exchange(rows_, {}));
  return t;
}

void Page::written(const Taken& t) {
  for (Slot* s : t.slots) {
    s->set(Slot::kStanding);
    if (!s->is_kept()) continue;
    abi::Value* const v = s->value.exchange(nullptr);
    slots_.put_back(s, !is_wanted(v));
    abi::release(v);
  }
}

void Page::stop() {
  off_.store(true);
  slots_.for_each([this](Slot& s) {
    s.set(Slot::kUnneeded);
    if (!s.is_kept()) return;
    abi::release(s.value.exchange(nullptr));
    slots_.put_back(&s, false);
  });
}

void Page::write_now() { journal_.write_now(); }

void Page::took_back(const TakenBack& t) {
  if (!journal_.on()) return;
  const Passing here(inside_);
  add_rows(sizeof t);
  append(rows_, t);
}

}  // namespace tessera::runtime::journal
