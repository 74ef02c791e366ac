// Which of a rank's ready fragments were born there and are still to be dealt, and which are its
// own share: kept from a deal, or arrived from one. The host only tells how many are ready.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/event.hpp"
#include "balancer/policy.hpp"

namespace tessera::balancer {

// Births counts by group. Of the `ready` ones `kept` are this rank's own, `leaving` are asked for
// by a Ship action that is not answered yet, and the rest is fresh: born here and not dealt.
//
// From one LoadChanged to the next at least s fragments must have started and so at least
// ready - (ready before) + s were born: s is the least that explains the new count and what has
// finished. Own ones start first, as queues are first in, first out. Where more started and were
// born than that, fewer are fresh: a fragment may stay undealt, but none is dealt twice.
//
// A range (`for`) counts iterations. An iteration of the own share makes fragments of the groups of
// its body when it starts: those are own share too, not births.
class Births {
 public:
  explicit Births(const std::vector<GroupInfo>& groups);

  void told(const LoadChanged&);
  void arrived(const std::vector<GroupCount>&);
  // `fragments` are asked for by a Ship action; answered by shipped with what went.
  void leaving(const std::vector<GroupCount>&);
  void shipped(const std::vector<GroupCount>& asked, const std::vector<GroupCount>& moved);
  // `n` of the fresh ones stay.
  void keep(Group, std::int64_t n);

  std::size_t groups() const { return entries_.size(); }
  std::int64_t ready(std::size_t g) const { return entries_[g].ready; }
  std::int64_t total() const;  // ready, of all groups
  // Ready here, whoever's they are, and not leaving.
  std::int64_t here(std::size_t g) const;
  std::int64_t fresh(std::size_t g) const;
  std::int64_t born(std::size_t g) const { return entries_[g].born; }  // by the last LoadChanged
  std::int64_t bytes_each(std::size_t g) const;

 private:
  struct Entry {
    std::int64_t told = 0;   // by the host; what it means by "as before"
    std::int64_t bytes = 0;  // of those
    std::int64_t ready = 0;
    std::int64_t kept = 0;
    std::int64_t leaving = 0;
    std::int64_t running = 0;  // started, and not seen to finish
    std::int64_t owed = 0;     // fragments that started iterations of the own share make
    std::int64_t born = 0;
    bool range = false;
    std::vector<Group> body;
  };
  Entry& at(Group);
  void update(Entry&, std::int64_t finished);
  std::vector<Entry> entries_;
};

}  // namespace tessera::balancer
