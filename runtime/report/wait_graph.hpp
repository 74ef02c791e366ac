// WaitGraph: which data fragments nothing will assign, of a run that can't finish; or which fragments wait for each
// other. A pure data structure: what waits on the ranks goes in, as words; what is worth showing comes out.
//
// A fragment that waits *gives* the names that it would assign if it ran. What waits and is no call of a kernel yet (an
// `if`, a sub, a call whose indices wait) *may give* any element of what it has in its hands. A name that is waited for
// and that no fragment gives is a root; one that none may give either comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::runtime {

// A fragment as words: how many names it needs, gives and may give, then those: needs as (name, what it is an element
// of). Names are the lower halves of their ids.
struct WaitingFragment {
  struct Need {
    std::uint64_t name = 0, base = 0;
  };
  std::vector<Need> needs;
  std::vector<std::uint64_t> gives, may_give;
  void write(std::vector<std::uint64_t>& words) const;
};

class WaitGraph {
 public:
  // The fragments of one rank, in the order in which they are to be shown.
  void add(std::int32_t rank, const std::vector<std::uint64_t>& words);
  // A name that is assigned when everything in some block has finished.
  void add_end(std::uint64_t name) { ends_.push_back(name); }
  // A name that a fragment gives which runs.
  void add_given(std::uint64_t name) { being_made_.push_back(name); }

  struct Place {
    std::int32_t rank = 0;
    std::uint32_t fragment = 0;  // of that rank, in the order it was given in
    std::uint64_t name = 0;      // that it waits for
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Root {
    std::vector<Place> first;  // who waits for it, one for each rank that has any
    std::int64_t waiting = 0;  // behind it, those included
  };
  struct Found {
    std::vector<Root> roots;  // at most `most`
    std::int64_t more = 0;    // roots that are not among them
    std::vector<Place>
        circle;  // each waits for a name that the next one gives, or may give, the last one for one of the first
    std::int64_t behind = 0;  // the circle, it included
  };
  Found find(std::size_t most) { return look(most, false); }
  // The same while fragments run and more are made: what is given by who runs is a root; no circles, for who is in none
  // of the lists may yet give what they wait for.
  Found find_while_running(std::size_t most) { return look(most, true); }

 private:
  Found look(std::size_t most, bool runs);
  struct Need {
    std::uint64_t name, base;
    std::uint32_t fragment;
  };
  struct Giver {
    std::uint64_t name;
    std::uint32_t fragment;
  };
  using Visit = std::vector<bool>;
  static std::pair<std::size_t, std::size_t> givers(const std::vector<Giver>&, std::uint64_t name);
  Place place(const Need&) const;
  std::int64_t reach(std::vector<std::uint64_t> names, Visit& seen) const;
  std::optional<std::uint32_t> giver(const Need&) const;
  std::vector<Place> circle(std::uint32_t from) const;

  std::vector<std::pair<std::int32_t, std::uint32_t>> ranks_;  // rank, its first fragment
  std::uint32_t fragments_ = 0;
  std::vector<Need> needs_;              // of fragment after fragment
  std::vector<Need> waiters_;            // the same by name
  std::vector<Giver> by_key_;            // who waits for a name, or for an element of it
  std::vector<Giver> gives_, may_give_;  // by name, when find() has sorted them
  std::vector<std::uint64_t> ends_, being_made_;
  std::vector<std::uint32_t> first_need_, first_give_, first_may_;  // of each fragment, in the order they were added
  std::vector<std::uint64_t> given_, may_given_;                    // by fragment
};

}  // namespace tessera::runtime
