#include "runtime/work/loops.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "balancer/ready_order.hpp"
#include "runtime/fragment/horizons.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kSeenLoops = static_cast<std::size_t>(balancer::kSeen);
// Another one comes first whenever that is asked for while so few are listed; else for each so many at kShare-th times.
constexpr std::size_t kMostAlways = 1024, kShare = 8;
// So many loops behind the first one are compared with it.
constexpr std::size_t kCompared = 8;
// Of atomic fragments so few: what a turn has made beside its way to the next one.
constexpr std::int64_t kFew = 64;

// Of one loop: all that its iterations know is the same, but which of them are left.
bool are_parts(const Cf* a, const Cf* b) {
  if (a->block != b->block || a->scope != b->scope) return false;
  for (unsigned k = 2; k < a->block->frame_words; ++k) {
    const bool holds = (a->block->flags & abi::kHolds) != 0 && k == a->block->hold_word;
    if (!holds && abi::frame_int(a, k) != abi::frame_int(b, k)) return false;
  }
  return true;
}

bool makes_few(const Cf* c) {
  return c->block->kind == abi::Kind::range && (c->block->flags & abi::kNested) == 0 && iterations_left(c) <= kFew;
}

bool has_come(const Cf* c) { return c->block->kind == abi::Kind::range && (c->flags & kPlaced) != 0; }

}  // namespace

// Where what is pushed next belongs. A loop from another rank: behind those that came before it, which may be what its
// iterations wait for. Else a loop behind those of its family, which earlier turns have made; else behind what the same
// body has made before it; else first. So does a `while` that has waited, or comes from another rank.
Cf** Loops::place_of(List& list, const Cf* c) {
  if (has_come(c)) return list.came == nullptr ? &list.head : &list.came->next;
  if (c->block->kind == abi::Kind::range && (c->flags & kFamily) != 0 && (c->flags & kWithin) == 0) {
    if (Cf* const behind = last_of_family(list, c->flags); behind != nullptr) return &behind->next;
  }
  if (list.last == nullptr && c->block->kind == abi::Kind::loop) {
    if (Cf* const behind = last_of_family(list, family_of_turns(c)); behind != nullptr) return &behind->next;
  }
  return list.last == nullptr ? &list.head : &list.last->next;
}

Cf* Loops::last_of_family(const List& list, unsigned flags) {
  Cf* const last = list.families[place_in_families(flags)];
  return last != nullptr && (last->flags & kFamily) == (flags & kFamily) ? last : nullptr;
}

void Loops::push(Cf* c) {
  List& list = (c->flags & kDue) != 0 ? due_ : ahead_;
  Cf** const at = place_of(list, c);
  if (c->block->kind == abi::Kind::range && (c->flags & kFamily) != 0) {
    Cf* const behind = last_of_family(list, c->flags);
    if (behind == nullptr || at == &behind->next) list.families[place_in_families(c->flags)] = c;
  }
  c->next = *at;
  *at = c;
  ++listed_;
  if (c->next == nullptr) list.tail = c;
  if (c->next != nullptr && c->next == list.turn) list.before_turn = c;
  (has_come(c) ? list.came : list.last) = c;
  if (out_of_order_) note_place(c, &list == &due_, made_before_);
}

void Loops::append(List& list, Cf* c) {
  c->next = nullptr;
  (list.tail == nullptr ? list.head : list.tail->next) = c;
  list.tail = c;
}

void Loops::push_last(Cf* c) {
  List& list = (c->flags & kDue) != 0 || due_.head == nullptr ? ahead_ : due_;
  append(list, c);
  ++listed_;
  if (out_of_order_) note_place(c, &list == &due_, order_.end());
}

void Loops::push_first(Cf* c) {
  List& list = (c->flags & kDue) != 0 ? due_ : ahead_;
  c->next = list.head;
  list.head = c;
  if (list.tail == nullptr) list.tail = c;
  if (list.turn != nullptr && list.before_turn == nullptr) list.before_turn = c;
  ++listed_;
  if (out_of_order_) note_place(c, &list == &due_, order_.begin());
}

void Loops::remove(const Place& p) {
  List& list = list_of(p);
  Cf *const c = p.cf, *const before = p.before;
  (before == nullptr ? list.head : before->next) = c->next;
  --listed_;
  if (list.last == c) list.last = before;
  if (list.tail == c) list.tail = before;
  if (list.turn == c) list.turn = c->next;
  if (list.before_turn == c || list.turn == nullptr) list.before_turn = list.turn == nullptr ? nullptr : before;
  if (list.came == c) list.came = before != nullptr && has_come(before) ? before : nullptr;
  if (Cf*& of_family = list.families[place_in_families(c->flags)]; of_family == c) {
    const bool same = before != nullptr && before->block->kind == abi::Kind::range &&
                      (before->flags & kFamily) == (c->flags & kFamily);
    of_family = same ? before : nullptr;
  }
  if (out_of_order_) forget_place(c);
}

void Loops::begin_body(Making making) {
  made_before_ = order_.begin();
  due_.last = ahead_.last = nullptr;
  if (turns_ != 0) [[unlikely]]
    ahead_first_ = turns_ % 2 == 0;
  if (making == Making::due) ahead_first_ = false;
}

Loops::Place Loops::next(Making making) const {
  if (making == Making::few) return next_of_few();
  if (making < Making::due) return {};
  Place next;
  if (due_.head == nullptr || ahead_first_) next = next_ahead(making);
  if (next.cf == nullptr && due_.head != nullptr)
    next = turns_ != 0 && due_.turn != nullptr ? Place{due_.turn, due_.before_turn, true}
                                               : Place{due_.head, nullptr, true};
  return next;
}

Loops::Place Loops::make_by_next(Making making, bool here) {
  Place p = next(making);
  if (p.cf == nullptr) return p;
  if ((p.cf->flags & kHolding) != 0 && turns_ == 0) [[unlikely]]
    p = most_behind(p);
  return make_by(p, here);
}

Loops::Place Loops::make_by(Place p, bool here) {
  if (here && out_of_order_) [[unlikely]]
    made_before_ = places_[p.cf];
  if (turns_ != 0) [[unlikely]] {
    List& list = list_of(p);
    if (here) list.last = p.before;
    list.turn = p.cf->next;
    list.before_turn = list.turn == nullptr ? nullptr : p.cf;
  }
  return p;
}

// What is read or freed when such a loop has been made does not wait for it.
Loops::Place Loops::next_of_few() const {
  for (const List* list : {&due_, &ahead_}) {
    std::size_t seen = 0;
    for (Cf *before = nullptr, *c = list->head; c != nullptr && seen < kCompared; before = c, c = c->next, ++seen) {
      if (makes_few(c)) return {c, before, list == &due_};
    }
  }
  return {};
}

// Behind loops that may not be made now there may be others, whose fragments this rank would else take for work that it
// has. Not loops of loops: they are around those that are left.
Loops::Place Loops::next_ahead(Making making) const {
  if (making < Making::movable) return {};
  if (making == Making::all && turns_ != 0 && ahead_.turn != nullptr) return {ahead_.turn, ahead_.before_turn, false};
  Cf* before = nullptr;
  Cf* range = ahead_.head;
  for (std::size_t seen = 0; range != nullptr && making != Making::all; ++seen) {
    const unsigned left_alone = before == nullptr ? abi::kStays : abi::kStays | abi::kNested;
    const bool around = before != nullptr && range->block->kind != abi::Kind::range;
    if ((range->block->flags & left_alone) == 0 && !around) break;
    if (seen == kSeenLoops) return {};
    before = range;
    range = range->next;
  }
  return {range, before, false};
}

// Not one that stands around more than a few others: what is listed of its earlier iterations goes before what it makes
// next, or fragments would wait for what stands ever further behind. First those that stand around none, then the
// innermost. Else it is the same block.
const abi::Block* Loops::another_block(const Cf* head) {
  constexpr std::int64_t kMostWithin = 4;
  struct Listed {
    const abi::Block* block;
    std::int64_t loops;
  };
  std::vector<Listed> all;  // by their last places in the list
  for (const Cf* c = head; c != nullptr; c = c->next) {
    const auto at = std::find_if(all.rbegin(), all.rend(), [c](const Listed& l) { return l.block == c->block; });
    if (at == all.rend()) {
      all.push_back({c->block, 1});
    } else {
      ++at->loops;
      std::rotate(std::prev(at.base()), at.base(), all.end());
    }
  }
  const auto is_around = [](const abi::Block* outer, const abi::Block* b) {
    for (const std::uint32_t* w = outer->within; w != nullptr && *w != ~0u && outer != b; w += 2) {
      if (w[0] <= b->index && b->index < w[1]) return true;
    }
    return false;
  };
  const abi::Block* innermost = nullptr;
  for (auto other = all.rbegin(); other != all.rend(); ++other) {
    if (other->block == head->block) continue;
    std::int64_t within = 0;
    for (const Listed& l : all) within += is_around(other->block, l.block) ? l.loops : 0;
    if (within == 0) return other->block;
    if (within <= kMostWithin && (innermost == nullptr || is_around(innermost, other->block))) innermost = other->block;
  }
  return innermost == nullptr ? head->block : innermost;
}

bool Loops::another_first() {
  // Where many are listed all of them are looked at only every now and then.
  if (listed_ > kMostAlways && ++asked_ < listed_ / kMostAlways * kShare) return false;
  asked_ = 0;
  ahead_first_ = due_.head != nullptr && !ahead_first_;
  List& list = due_.head != nullptr && !ahead_first_ ? due_ : ahead_;
  if (list.head == nullptr) return false;
  put_first(list, another_block(list.head));
  return makes_few(list.head);
}

// Of its parts the one with the lowest indices.
void Loops::put_first(List& list, const abi::Block* block) {
  Cf* first = nullptr;
  const bool range = block->kind == abi::Kind::range;
  for (Cf* c = list.head; c != nullptr; c = c->next) {
    if (c->block != block || (!range && first != nullptr)) continue;
    if (first == nullptr || !are_parts(c, first) || abi::frame_int(c, 0) < abi::frame_int(first, 0)) first = c;
  }
  if (first == list.head) return;
  note_order();
  list.turn = list.before_turn = nullptr;
  // What it makes goes before it, and not behind those of its family, which come later now.
  list.families.fill(nullptr);
  list.came = nullptr;
  // Of calls all, in their order: were it one of them each time, the loop that makes them would make more meanwhile.
  const auto moves = [&](const Cf* c) { return c == first || (c->block == block && !range); };
  Cf *moved = nullptr, *others = nullptr;
  Cf **end_of_moved = &moved, **end_of_others = &others;
  for (Cf* c = list.head; c != nullptr; c = c->next) {
    Cf**& end = moves(c) ? end_of_moved : end_of_others;
    *end = c;
    end = &c->next;
  }
  *end_of_others = nullptr;
  *end_of_moved = others;
  list.head = moved;
  while (list.tail->next != nullptr) list.tail = list.tail->next;
}

// To be called before one is put first.
void Loops::note_order() {
  if (out_of_order_) return;
  __atomic_store_n(&out_of_order_, true, __ATOMIC_RELAXED);
  for (const List* list : {&due_, &ahead_}) {
    for (Cf* c = list->head; c != nullptr; c = c->next) note_place(c, list == &due_, order_.end());
  }
  made_before_ = order_.begin();
}

void Loops::note_place(Cf* c, bool due, Order::iterator before) { places_[c] = order_.insert(before, {c, due}); }

void Loops::forget_place(const Cf* c) {
  const auto at = places_.find(c);
  if (made_before_ == at->second) ++made_before_;
  order_.erase(at->second);
  places_.erase(at);
}

void Loops::in_order() {
  if (!__atomic_load_n(&out_of_order_, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&out_of_order_, false, __ATOMIC_RELAXED);
  due_ = ahead_ = {};
  for (const auto& [c, due] : order_) {
    List& list = due ? due_ : ahead_;
    append(list, c);
    if (has_come(c)) list.came = c;
    if (c->block->kind == abi::Kind::range && (c->flags & kFamily) != 0) list.families[place_in_families(c->flags)] = c;
  }
  order_.clear();
  places_.clear();
  made_before_ = order_.end();
}

void Loops::take_turns(std::uint32_t number) {
  if (__atomic_load_n(&turns_, __ATOMIC_RELAXED) == number) return;
  __atomic_store_n(&turns_, number, __ATOMIC_RELAXED);
  if (number == 0) due_.turn = due_.before_turn = ahead_.turn = ahead_.before_turn = nullptr;
}

// Of the loops from this one on: that which holds the oldest values of a name that this one holds, too. Else one of two
// that go through a name at different speeds would be made when the other has come to its end.
Loops::Place Loops::most_behind(const Place& first) {
  const auto held = [](const Cf* c) {
    return reinterpret_cast<const HeldHull*>(abi::frame_int(c, c->block->hold_word));
  };
  if (makes_few(first.cf) || Horizon::reads_few(held(first.cf))) return first;
  Place most = first;
  std::size_t seen = 0;
  for (Cf *at = first.cf, *c = at->next; c != nullptr && seen < kCompared; at = c, c = c->next, ++seen) {
    if ((c->flags & kHolding) != 0 && Horizon::is_behind(held(c), held(most.cf))) most = {c, at, first.due};
  }
  return most;
}

bool Loops::is_sound(const List& list) {
  std::set<const Cf*> listed;
  const Cf* before = nullptr;
  bool turn = list.turn == nullptr && list.before_turn == nullptr;
  for (const Cf* c = list.head; c != nullptr; before = c, c = c->next) {
    if (!listed.insert(c).second) return false;
    turn = turn || (c == list.turn && list.before_turn == before);
  }
  const auto is_known = [&](const Cf* c) { return c == nullptr || listed.contains(c); };
  bool families = true;
  for (std::size_t k = 0; k < kFamilies; ++k) {
    const Cf* const c = list.families[k];
    families = families && is_known(c) && (c == nullptr || place_in_families(c->flags) == k);
  }
  return before == list.tail && turn && families && is_known(list.last) && is_known(list.came);
}

bool Loops::is_sound() const {
  std::size_t listed = 0, placed = 0;
  for_each([&](const Cf* c) {
    ++listed;
    placed += places_.contains(c) && places_.find(c)->second->cf == c ? 1 : 0;
    return true;
  });
  const bool places = placed == (out_of_order_ ? listed : 0) && placed == places_.size() && placed == order_.size();
  return places && is_sound(due_) && is_sound(ahead_);
}

}  // namespace tessera::runtime
