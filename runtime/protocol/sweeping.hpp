// Sweeps of several ranks: how the home of a swept name learns what may still be read of it anywhere.
//
// Each rank knows what is held there (fragment/horizon.hpp): fragments, loops and bodies that may still read. What is
// on its way between two ranks is held by nobody. So rank 0 leads all ranks through a cut:
//
//   cut      each writes down what it holds, and then marks what it ships from now on with the wave's number. It
//            answers how many shipments it had sent before, to whom.
//   expect   who has all answers tells each rank how many shipments from before the cuts of their senders it has to
//            have. What such a shipment may read, and came behind the cut, is added to what was written down.
//   tell     a rank that has them all tells the homes what it has written down.
//   found    a home that has heard all ranks asks the others about what nobody holds.
//   awaited  each says what of that is waited for there, and the home frees the rest.
//
// A home that has heard all ranks knows something that is around all that will ever read: what is there behind the cuts
// was made by what was held at them, or was under way across. Since hulls only shrink it does not matter that this is
// old when it comes: dead stays dead. (It is Mattern's way to the virtual time of a distributed simulation.)
//
// On one rank the order is: write down, then `cut`; and who ships: `ships`, then let go, then send. So what is marked
// behind the cut was held when it was written down.
//
// Who waits for a value and will read no more is not held, but seen where it waits: at home when the value is to be
// freed, elsewhere when the home asks. If it leaves between the cut and the question, or comes across the cut, that
// rank remembers it. Who has the value is seen by nobody. So if it moves, the value goes along, or the home remembers
// it until the sweep is over.
//
// Nobody is asked about a name that is a rank's own: no fragment that may read it has ever left. That rank writes down,
// looks once more whether none has left since, and frees; what leaves meanwhile is remembered as above. A fragment is
// noted to leave before it is let go of. The cut of a wave waits for the end of such a sweep.
//
// Pure, as step.hpp. The caller has a lock for SweepRank; the lead and the homes are of one thread.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::protocol {

// What a rank counts. Shipments of the wave before are all there when a wave is over, so the mark of one that comes is
// that of this wave, of the one before or, if this rank has not heard of it yet, of the next.
struct SweepRank {
  explicit SweepRank(std::size_t ranks) : sent(ranks) {}

  // A shipment goes to that rank, with this mark.
  std::uint64_t ships(std::size_t to) {
    ++sent[to];
    return wave;
  }
  // What is held here has been written down.
  void cut(std::uint64_t number) {
    before += since;
    since = early;
    early = 0;
    wave = number;
    told = expects = false;
  }
  // A shipment has come. True: across the cut, so what it may read is to be added.
  bool came(std::uint64_t mark) {
    if (mark > wave) return ++early, false;
    if (mark == wave) return ++since, false;
    ++before;
    return !told;
  }
  // So many have been sent here before the cuts.
  void expect(std::uint64_t count) {
    expected = count;
    expects = true;
  }
  // What has been written down may be told to the homes, once.
  bool tells() {
    if (told || !expects || before != expected) return false;
    return told = true;
  }

  std::vector<std::uint64_t> sent;                 // to each rank, since the start
  std::uint64_t wave = 0;                          // the last one that has cut here
  std::uint64_t before = 0, since = 0, early = 0;  // have come: marked with an earlier wave, this one, the next
  std::uint64_t expected = 0;
  bool expects = false;
  bool told = true;
};

// Rank 0. One wave after the other, for all homes that have asked meanwhile.
struct SweepLead {
  explicit SweepLead(std::size_t ranks) : expected(ranks) {}

  // A home wants a sweep.
  void want(std::int32_t home) {
    for (const std::int32_t h : next) {
      if (h == home) return;
    }
    next.push_back(home);
  }
  // True: all ranks are to cut, for `homes`.
  bool begins() {
    if (cuts > 0 || homes_left > 0 || next.empty()) return false;
    ++number;
    homes.clear();
    homes.swap(next);
    cuts = expected.size();
    homes_left = homes.size();
    expected.assign(expected.size(), 0);
    return true;
  }
  // A rank has cut, and had sent this. True: all have; each is to `expect` its number.
  bool cut(const std::vector<std::uint64_t>& sent) {
    assert(cuts > 0 && sent.size() == expected.size());
    for (std::size_t to = 0; to < sent.size(); ++to) expected[to] += sent[to];
    return --cuts == 0;
  }
  // A home has heard all ranks.
  void heard() { --homes_left; }

  std::uint64_t number = 0;
  std::vector<std::int32_t> homes, next;  // of the wave that is on; of the one after it
  std::vector<std::uint64_t> expected;
  std::size_t cuts = 0, homes_left = 0;  // are missing
};

}  // namespace tessera::protocol
