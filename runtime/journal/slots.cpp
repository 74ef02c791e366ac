#include "runtime/journal/slots.hpp"

#include <mutex>
#include <utility>

#include "runtime/memory/lock.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime::journal {
namespace {

SpinMutex joining;

SlotRow* row_of(Slot* s) {
  return reinterpret_cast<SlotRow*>(reinterpret_cast<std::uintptr_t>(s) & ~(alignof(SlotRow) - 1));
}

}  // namespace

Slot* Slot::kept() {
  static Slot mark;
  return &mark;
}

void Slots::collect(std::vector<Id>& gone) {
  for (Slot* s = back_.exchange(nullptr, std::memory_order_acquire); s != nullptr;) {
    if (s->turn != 0) gone.push_back(s->name);
    put(std::exchange(s, s->next));
  }
}

void Slots::look_back(std::vector<Id>& gone) {
  for (Slot* s = back_.exchange(nullptr, std::memory_order_acquire); s != nullptr;) {
    if (s->turn != 0) gone.push_back(s->name);
    put_back(std::exchange(s, s->next), false);
  }
}

void Slots::more() {
  rows_.push_back(std::make_unique<SlotRow>());
  for (std::size_t k = SlotRow::kSlots; k-- > 0;) {
    Slot& s = rows_.back()->slots[k];
    s.page = &page_;
    put(&s);
  }
}

void Slots::leave() {
  for (auto& row : rows_) {
    for (Slot& s : row->slots) {
      s.page = nullptr;
      if (s.value.load() != nullptr) ++row->left;
    }
    if (row->left != 0) static_cast<void>(row.release());  // the last value that has a slot in it deletes it (left)
  }
  rows_.clear();
}

void Slots::left(Slot* s) {
  SlotRow* const row = row_of(s);
  if (row->left.fetch_sub(1) == 1) delete row;
}

void join_others(abi::Value* v, Slot* s) {
  const std::lock_guard hold(joining);
  s->next = is_noted(v) ? static_cast<Slot*>(v->noted) : nullptr;
  v->noted = s;
  mark_noted(v);
}

}  // namespace tessera::runtime::journal
