// Needs: which values those who wait need first, where values pile up on a rank of several or of several workers. Of
// the fragments that wait for one value more these are the ones that let most go. Who is to assign it is looked for: a
// fragment that is ready runs first (ReadyQueue::put_first), one that makes values grow only if nothing runs here; of
// one that waits that is needed which it waits for. What nobody assigns here others are asked for (`Need`), who do the
// same; and the loop comes first by which calls may be made that assign it.
//
//   rank 0   s[k] = add(s[k - 1], z[k])      waits for z[18] only; much is held for it
//   rank 1   z[k] = filter(y[k])             z[18] is ready, behind a hundred others that are not needed yet
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/data/data_fragments.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime {

// By the communication thread.
class Needs {
 public:
  static constexpr std::size_t kMost = 8, kMostOfOthers = 4 * kMost;  // values are looked for at once
  // So often, at most; and of the thread's processor time no more than one part in so many.
  static constexpr Clock::duration kEvery = std::chrono::milliseconds(2);
  static constexpr int kPart = 16;
  // Who has been asked whether it is busy looks for so long: the one who asks waits.
  static constexpr Clock::duration kAsked = std::chrono::milliseconds(20);
  static constexpr std::int32_t kPassedOn = 8;
  static constexpr std::size_t kMostFollowed = 64;  // values, by who waits
  static constexpr std::int32_t kAsks = 32;         // so many others, of many

  Needs(DataFragments& data, Crew& crew, Communicator& comm, Rank self, std::int32_t ranks, std::function<void()> found)
      : data_(data), crew_(crew), comm_(comm), self_(balancer::index(self)), ranks_(ranks), found_(std::move(found)) {}

  void asked(Clock::time_point now) { asked_ = now; }
  void on(const Need& m);
  // `piles`: values pile up.
  void turn(Clock::time_point now, bool piles);
  Clock::time_point next(Clock::time_point now, Clock::time_point until, bool piles) const {
    return looks(now, piles) || !of_others_.empty() ? std::min(until, next_) : until;
  }

 private:
  struct ById {
    bool operator()(const abi::Id& a, const abi::Id& b) const { return a.lo != b.lo ? a.lo < b.lo : a.hi < b.hi; }
  };
  using Names = std::map<abi::Id, const abi::Block*, ById>;  // and who wants it

  bool looks(Clock::time_point now, bool piles) const { return piles || now - asked_ < kAsked; }
  struct Waiting;
  Names most_needed(const Waiting&) const;
  static Names follow(const Waiting&, Names& needed);
  static Names not_waited_for(const Waiting&, Names needed);
  void put_first(Names& needed);
  static std::set<std::uint32_t> makers(const Names&);
  void look_at_loops(const std::set<std::uint32_t>& groups);
  void ask(const Names&, std::int32_t passed_on);
  DataFragments& data_;
  Crew& crew_;
  Communicator& comm_;
  const std::int32_t self_, ranks_;
  const std::function<void()> found_;
  Clock::time_point next_{}, asked_{};
  // What others have asked for, until it is looked for, and how often that has been passed on.
  Names of_others_;
  std::set<std::uint32_t> groups_of_others_;
  std::int32_t passed_on_ = 0;
};

}  // namespace tessera::runtime
