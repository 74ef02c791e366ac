// Which of its loops a ReadyQueue makes by next.
#include <algorithm>
#include <mutex>
#include <vector>

#include "balancer/ready_order.hpp"
#include "runtime/fragment/horizons.hpp"
#include "runtime/work/ready_queue.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kSeenLoops = static_cast<std::size_t>(balancer::kSeen);
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

}  // namespace

bool ReadyQueue::makes_few(const Cf* c) {
  return c->block->kind == abi::Kind::range && (c->block->flags & abi::kNested) == 0 && iterations_left(c) <= kFew;
}

ReadyQueue::Next ReadyQueue::next_loop(Making making) const {
  if (making == Making::few) return next_of_few();
  if (making < Making::due) return {};
  if (due_.head == nullptr) return next_ahead(making);
  if (ahead_first_) {
    if (const Next next = next_ahead(making); next.cf != nullptr) return next;
  }
  if (takes_turns_ != 0 && due_.turn != nullptr) return {due_.turn, due_.before_turn, true};
  return {due_.head, nullptr, true};
}

// What is read or freed when such a loop has been made does not wait for it.
ReadyQueue::Next ReadyQueue::next_of_few() const {
  for (const Loops* list : {&due_, &ahead_}) {
    std::size_t seen = 0;
    for (Cf *before = nullptr, *c = list->head; c != nullptr && seen < kCompared; before = c, c = c->next, ++seen) {
      if (makes_few(c)) return {c, before, list == &due_};
    }
  }
  return {};
}

// Behind loops that may not be made now there may be others, whose fragments this rank would else take for work that it
// has. Not loops of loops: they are around those that are left.
ReadyQueue::Next ReadyQueue::next_ahead(Making making) const {
  if (making < Making::movable) return {};
  if (making == Making::all && takes_turns_ != 0 && ahead_.turn != nullptr)
    return {ahead_.turn, ahead_.before_turn, false};
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
const abi::Block* ReadyQueue::another_block(const Cf* head) {
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

bool ReadyQueue::another_loop_first() {
  const std::lock_guard hold(mutex_);
  ahead_first_ = due_.head != nullptr && !ahead_first_;
  Loops& list = due_.head != nullptr && !ahead_first_ ? due_ : ahead_;
  if (list.head == nullptr) return false;
  const abi::Block* block = another_block(list.head);
  Cf* first = nullptr;
  const bool range = block->kind == abi::Kind::range;
  for (Cf* c = list.head; c != nullptr; c = c->next) {
    if (c->block != block || (!range && first != nullptr)) continue;
    if (first == nullptr || !are_parts(c, first) || abi::frame_int(c, 0) < abi::frame_int(first, 0)) first = c;
  }
  if (first == list.head) return makes_few(first);
  note_places();
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
  return makes_few(first);
}

// Its loops as they would stand had none been put first. What a loop makes stands before what is left of it.
std::vector<Cf*> ReadyQueue::ordered(const Loops& list) const {
  std::vector<Cf*> all;
  for (Cf* c = list.head; c != nullptr; c = c->next) all.push_back(c);
  const auto place = [this](const Cf* c) { return places_.find(c)->second; };
  if (!places_.empty())
    std::stable_sort(all.begin(), all.end(), [&](const Cf* a, const Cf* b) { return place(a) < place(b); });
  return all;
}

// To be called before one is put first.
void ReadyQueue::note_places() {
  if (!places_.empty() && places_differ_) return;
  __atomic_store_n(&out_of_order_, true, __ATOMIC_RELAXED);
  places_differ_ = true;
  const std::array<std::vector<Cf*>, 2> lists = {ordered(due_), ordered(ahead_)};
  last_place_ = 0;
  for (const auto& list : lists) {
    for (const Cf* c : list) places_[c] = ++last_place_;
  }
}

void ReadyQueue::in_order() {
  if (!__atomic_load_n(&out_of_order_, __ATOMIC_RELAXED)) return;
  const std::lock_guard hold(mutex_);
  __atomic_store_n(&out_of_order_, false, __ATOMIC_RELAXED);
  for (Loops* list : {&due_, &ahead_}) {
    const std::vector<Cf*> all = ordered(*list);
    *list = {};
    Cf** end = &list->head;
    for (Cf* c : all) {
      c->next = nullptr;
      list->tail = *end = c;
      end = &c->next;
    }
  }
  places_.clear();
}

void ReadyQueue::take_turns(std::uint32_t number) {
  if (__atomic_load_n(&takes_turns_, __ATOMIC_RELAXED) == number) return;
  const std::lock_guard hold(mutex_);
  __atomic_store_n(&takes_turns_, number, __ATOMIC_RELAXED);
  if (number == 0) due_.turn = due_.before_turn = ahead_.turn = ahead_.before_turn = nullptr;
}

// Of the loops from this one on: that which holds the oldest values of a name that this one holds, too. Else one of two
// that go through a name at different speeds would be made when the other has come to its end.
Cf* ReadyQueue::most_behind(Cf* range, Cf*& before) {
  const auto held = [](const Cf* c) {
    return reinterpret_cast<const HeldHull*>(abi::frame_int(c, c->block->hold_word));
  };
  if (makes_few(range) || Horizon::reads_few(held(range))) return range;
  Cf* most = range;
  std::size_t seen = 0;
  for (Cf *at = range, *c = at->next; c != nullptr && seen < kCompared; at = c, c = c->next, ++seen) {
    if ((c->flags & kHolding) == 0 || !Horizon::is_behind(held(c), held(most))) continue;
    most = c;
    before = at;
  }
  return most;
}

}  // namespace tessera::runtime
