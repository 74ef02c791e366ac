#include "runtime/journal/page.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/journal/doing.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime::journal {
namespace {

// Everybody who could read it has done so, and is on a page of this rank.
bool is_idle(const abi::Value* v) { return __atomic_load_n(&v->refs, __ATOMIC_ACQUIRE) == 1; }
bool is_dead(const abi::Value* v) { return is_idle(v) && !is_wanted(v); }

}  // namespace

Page::Page(Journal& journal)
    : waits(journal.known() != nullptr && journal.flows()), journal_(journal), ranges_(journal.loops_) {}

Page::~Page() {
  forget(0);
  gather(Values::all);
  for (Pile* pile : {&small_, &large_}) {
    release_all(pile->fresh);
    release_all(pile->standing);
  }
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

void Page::keep(const Fresh& p, bool large) {
  Pile& pile = large ? large_ : small_;
  pile.bytes += bytes_of(p);
  if (large) large_at_.emplace(p.value, pile.fresh.size());
  pile.fresh.push_back(p);
}

// Looking costs little for each value, since it is done again only when there are so many more.
void Page::look_if_many() {
  if (small_.fresh.size() < look_at_ && small_.bytes < look_bytes_) return;
  look(small_);
  look_at_ = std::max(kFewPending, 2 * small_.fresh.size());
  look_bytes_ = small_.bytes + std::max(kFewBytes, small_.bytes / 8);
}

void Page::add(Fresh p) {
  const bool large = is_large(p.value);
  if (large && large_.fresh.size() + large_.standing.size() >= look_at_large_) {
    look(large_);
    const std::size_t left = large_.fresh.size() + large_.standing.size();
    look_at_large_ = left + 1 + left / 32;
  }
  if (small_.idle + large_.idle > kPageMost) {
    lost_ = true;
    return abi::release(p.value);
  }
  keep(p, large);
}

void Page::remove_large(std::size_t at) {
  std::vector<Fresh>& all = large_.fresh;
  const auto moves = [this](const abi::Value* v, std::size_t from, std::size_t to) {
    const auto found = large_at_.find(v);
    if (found == large_at_.end() || found->second != from) return;
    from == to ? void(large_at_.erase(found)) : void(found->second = to);
  };
  moves(all[at].value, at, at);
  abi::release(all[at].value);
  if (at + 1 != all.size()) moves(all.back().value, all.size() - 1, at);
  all[at] = all.back();
  all.pop_back();
}

void Page::drop_read() {
  const std::lock_guard hold(mutex_);
  for (const abi::Value* v : large_read_) {
    const auto found = large_at_.find(v);
    if (found == large_at_.end() || !is_dead(large_.fresh[found->second].value)) continue;
    large_.bytes -= bytes_of(large_.fresh[found->second]);
    remove_large(found->second);
  }
  large_read_.clear();
}

std::uint64_t Page::bytes_kept() {
  const std::lock_guard hold(mutex_);
  return small_.bytes + large_.bytes;
}

// Whoever has read a value lets go of it when he is on his page, so with the next sweep, or before.
void Page::look(Pile& pile) {
  pile.bytes = pile.idle = 0;
  const auto stays = [&](const Fresh& p) {
    if (is_dead(p.value)) return false;
    pile.bytes += bytes_of(p);
    if (is_idle(p.value)) pile.idle += bytes_of(p);
    return true;
  };
  if (&pile == &large_) {
    for (std::size_t k = pile.fresh.size(); k-- > 0;) {
      if (!stays(pile.fresh[k])) remove_large(k);
    }
  } else {
    std::erase_if(pile.fresh, [&](const Fresh& p) {
      const bool goes = !stays(p);
      if (goes) abi::release(p.value);
      return goes;
    });
  }
  std::erase_if(pile.standing, [&](const Standing& s) {
    if (!is_idle(s.value)) return false;
    if (!is_wanted(s.value)) gone_.push_back(s.id);
    abi::release(s.value);
    return true;
  });
  if (small_.idle + large_.idle > kPageFull) journal_.hurry();
}

void Page::look_at_all() {
  look(small_);
  look(large_);
}

// What is noted goes where it can be taken from. A value that is dead by now need not: whoever has read it is in this
// sweep. But where a sweep has ended since the value was given, they may be in that one.
void Page::gather(Values which) {
  const std::uint32_t upto = noted_.load(std::memory_order_acquire);
  const bool any_idle = small_.idle + large_.idle > 0;
  for (const Note* n = &notes_[gathered_]; n != &notes_[upto]; ++n) {
    if (n->group != kNoGroup) {
      if (n != &notes_[gathered_]) spans_ = false;
      ranges_.add(n->key, n->group, n->part, n->index);
    }
    abi::Value* const v = n->value;
    if (v == nullptr) continue;
    if (spans_ || which == Values::wanted) [[unlikely]]
      mark_wanted(v);
    if (which == Values::alive && is_dead(v)) {
      abi::release(v);
      continue;
    }
    const bool large = is_large(v);
    which != Values::alive || (!large && !any_idle) ? keep({n->name, n->key, v}, large) : add({n->name, n->key, v});
  }
  if (gathered_ != upto) spans_ = false;
  gathered_ = upto;
  if (which == Values::alive) look_if_many();
  if (ranges_.bytes() > kPageFull) journal_.hurry();
}

void Page::gather_notes() {
  const std::lock_guard hold(mutex_);
  gather(Values::alive);
  gathered_ = 0;
  noted_.store(0, std::memory_order_relaxed);
  noted_blocks_ = {};
  if (journal_.on()) return;
  ranges_.clear();
  large_at_.clear();
  for (Pile* pile : {&small_, &large_}) {
    release_all(pile->fresh);
    pile->bytes = 0;
  }
}

void Page::forget_note() {
  for (const Note* const first = &notes_[noted_.load(std::memory_order_relaxed)]; out_ > first;)
    abi::release((--out_)->value);
}

void Page::forget(std::size_t from) {
  for (; given_.size() > from; given_.pop_back()) abi::release(given_.back().value);
}

void Page::give(const Output& output, abi::Value* v) {
  given_.push_back({output, abi::retain(v), journal_.swept_so_far()});
}

void Page::add_given(const Id& key, std::size_t from) {
  for (; given_.size() > from; given_.pop_back()) {
    const Given& g = given_.back();
    if (g.sweeps != journal_.swept_so_far()) mark_wanted(g.value);
    add({g.output.id, key, g.value});
  }
  look_if_many();
}

void Page::ran(const Id& key, std::uint32_t group, std::size_t from) {
  if (!journal_.on()) return forget(from);
  const std::lock_guard hold(mutex_);
  ranges_.add(key, group);
  add_given(key, from);
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
  const std::lock_guard hold(mutex_);
  add_rows(sizeof(Id) * (d.reads.size() + 2 * d.outputs.size() + 2));
  append(rows_, d);
  add_given(key, from);
}

Page::Taken Page::take() {
  gather(Values::all);
  Taken t{{}, {}, std::move(full_), std::move(gone_), Ranges(journal_.loops_), std::exchange(lost_, false)};
  full_.clear();
  gone_.clear();
  t.small.swap(small_.fresh);
  t.large.swap(large_.fresh);
  large_at_.clear();
  for (Pile* pile : {&small_, &large_}) pile->bytes = pile->idle = 0;
  if (!rows_.empty()) t.rows.push_back(std::exchange(rows_, {}));
  std::swap(t.ranges, ranges_);
  look_at_ = kFewPending;
  look_bytes_ = kFewBytes;
  look_at_large_ = 1;
  return t;
}

// What was noted while the others were taken may have been read by what was taken with them; and so may what is noted
// next, which runs by now.
void Page::taken() {
  gather(Values::wanted);
  spans_ = true;
}

void Page::stand(std::vector<Fresh>& written, Pile& pile) {
  const std::lock_guard hold(mutex_);
  for (const Fresh& p : written) pile.standing.push_back({p.id, p.value});
  written.clear();
}

void Page::write_now() { journal_.write_now(); }

void Page::took_back(const TakenBack& t) {
  if (!journal_.on()) return;
  const std::lock_guard hold(mutex_);
  add_rows(sizeof t);
  append(rows_, t);
}

}  // namespace tessera::runtime::journal
