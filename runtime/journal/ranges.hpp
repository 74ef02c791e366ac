// Fragments that are done, in little room. What a loop makes in its iteration i by its statement s has the id
// mix(mix(loop, i), s), and mix can be undone: so of an id, if s and the loop are known, it is known which i it is, and
// runs of iterations are written down as one record. Exactly: an id that is in a range has been put there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime::journal {

using abi::Id;

// What the statement with this number makes in the iterations first..last of a loop; of a fragment that repeats, its
// turns, whose statement is 0. `group` is that of its fragments.
struct Range {
  Id loop;
  std::int64_t first, last;
  std::uint32_t statement, group;
};

// What is known of the loop that made a fragment, from its id and its statement: its id but for `lo`, which is hidden
// by the index.
struct Sibling {
  std::uint64_t hi, hidden;
};
Sibling sibling_of(const Id& fragment, std::uint64_t statement);
std::int64_t index_in(const Id& loop, const Sibling&);
Id fragment_of(const Id& loop, std::int64_t index, std::uint32_t statement);

// Loops that were begun: whoever begins one notes it, and whoever writes down what it has made looks it up. One that
// was forgotten meanwhile costs room only.
class Loops {
 public:
  void note(const Id& loop) {
    Entry& e = entries_[at(loop.hi)];
    e.hi.store(loop.hi, std::memory_order_relaxed);
    e.lo.store(loop.lo, std::memory_order_relaxed);
  }
  bool find(std::uint64_t hi, Id& loop) const {
    const Entry& e = entries_[at(hi)];
    loop = {e.lo.load(std::memory_order_relaxed), hi};
    return e.hi.load(std::memory_order_relaxed) == hi;
  }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << 15;
  static std::size_t at(std::uint64_t hi) { return hi & (kEntries - 1); }
  struct Entry {
    std::atomic<std::uint64_t> hi{0}, lo{0};
  };
  std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(kEntries);
};

// Ranges: what one worker has done since it was last emptied.
class Ranges {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // The fragments of a group. Of a part of a loop in which each iteration makes one of them it is only counted on which
  // are done, while they are done in their order.
  class Group {
   public:
    // The next of that part.
    bool count(std::uint32_t part, std::int64_t index) {
      if (part_ != part || next_ != index) return false;
      ++next_;
      return true;
    }

   private:
    friend class Ranges;
    std::uint32_t part_ = kNone, range_ = kNone;  // the range that had the last of them
    std::int64_t next_ = 0;                       // all of the part before this one is in that range
    std::uint32_t statement_ = kNone;             // that of its fragments
    std::uint32_t failed_ = 0;                    // so many could not be found out
  };

  explicit Ranges(const Loops& loops) : loops_(&loops) {}
  // It stays where it is.
  Group& group(std::uint32_t g) {
    while (g >= groups_.size()) groups_.emplace_back();
    return groups_[g];
  }
  // Of a part of a loop, if it is told: then the iteration with this index has made it, and of this group nothing else.
  void add(const Id& fragment, std::uint32_t group, std::uint32_t part = 0, std::int64_t index = 0);

  const std::vector<Range>& ranges() const { return ranges_; }  // of what was taken
  const std::vector<Id>& singles() const { return singles_; }
  bool empty() const { return ranges_.empty() && singles_.empty(); }
  std::size_t bytes() const { return ranges_.size() * sizeof(Range) + singles_.size() * sizeof(Id); }
  // All of them. What it has learned of groups stays.
  Ranges take();
  void clear() { take(); }

 private:
  static constexpr std::uint32_t kStatements = 64;
  void stop_counting(Group& g) {
    if (g.part_ != kNone) ranges_[g.range_].last = std::max(ranges_[g.range_].last, g.next_ - 1);
    g.part_ = kNone;
  }
  bool undo(const Id& fragment, Group&, std::uint32_t group);  // false: it is in no range
  bool learn(Group&, const Id& fragment);
  std::uint32_t range_of(const Group&, const Sibling&);
  void open(Group&, const Id& loop, std::int64_t i, std::uint32_t group);
  bool alone(const Id& fragment);

  const Loops* loops_;
  std::deque<Group> groups_;
  std::vector<Range> ranges_;
  std::vector<Id> singles_;
  std::unordered_map<std::uint64_t, std::uint32_t> latest_;  // of a loop's statement: the last range
};

}  // namespace tessera::runtime::journal
