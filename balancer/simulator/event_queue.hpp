// The simulator's queue of things to happen: a heap of small plain records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer::simulator {

// Happening is one thing that is due at a rank. What `a` and `b` mean depends on the kind.
struct Happening {
  enum class Kind : std::uint8_t {
    birth,     // a: index of the Birth
    finish,    // a: thread, b: generation of what runs on it
    pump,      // b: the time it was planned for; stale when the rank's differs
    serve,     // the rank's host may take the next thing from its inbox
    timer,     // a: timer, b: generation
    incoming,  // a: parcel; its last byte is at the receiver's door
    delivery,  // a: parcel
    measured,  // a: peer
    change,    // a: index of a change of the cluster
    notice,    // a: rank that leaves or joins, b: joins
    settle,    // the grace of a leaving rank is over
    watch,     // at rank 0, for all: who starves? (Options::watch)
  };
  Time at;
  std::uint64_t order;  // number of planning << 8 | kind: equal times happen as they were planned
  std::int32_t rank;
  std::uint32_t a;
  std::uint64_t b;

  Kind kind() const { return static_cast<Kind>(order & 0xFF); }
  bool before(const Happening& o) const { return at != o.at ? at < o.at : order < o.order; }
};

// EventQueue is a 4-ary heap: four children share two cache lines, and the heap is half as deep as
// a binary one.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }

  void push(Time at, Happening::Kind kind, Rank rank, std::uint32_t a = 0, std::uint64_t b = 0) {
    const Happening h{at, number_++ << 8 | static_cast<std::uint64_t>(kind), index(rank), a, b};
    std::size_t i = heap_.size();
    heap_.push_back(h);
    while (i > 0) {
      const std::size_t parent = (i - 1) / 4;
      if (!h.before(heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = h;
  }

  Happening pop() {
    const Happening first = heap_.front();
    const Happening last = heap_.back();
    heap_.pop_back();
    const std::size_t n = heap_.size();
    if (n == 0) return first;
    std::size_t i = 0;
    for (;;) {
      const std::size_t child = 4 * i + 1;
      if (child >= n) break;
      std::size_t least = child;
      const std::size_t end = child + 4 < n ? child + 4 : n;
      for (std::size_t c = child + 1; c < end; ++c) {
        if (heap_[c].before(heap_[least])) least = c;
      }
      if (!heap_[least].before(last)) break;
      heap_[i] = heap_[least];
      i = least;
    }
    heap_[i] = last;
    return first;
  }

 private:
  std::vector<Happening> heap_;
  std::uint64_t number_ = 0;
};

}  // namespace tessera::balancer::simulator
