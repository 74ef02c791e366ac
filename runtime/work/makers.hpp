// Makers: the order in which loops, `while`s and calls make more while large values pile up (work/growing.hpp). Before
// the others goes what makes such as let values go, and last what makes such as make them grow. What has made fragments
// that only wait has been in vain, and is passed over until the round ends: so loops go on side by side, and each value
// finds who reads it.
//
// Not locked: its queue is.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/work/loops.hpp"

namespace tessera::runtime {

class Growing;

class Makers {
 public:
  explicit Makers(std::uint32_t groups) : vain_(groups) {}

  // The one that lets most go, or makes least grow; of these the one that is needed, or the one nearest to the end of
  // the program, and of one loop that which has been listed longest. A loop around others makes the next ones when
  // these have come to their end, though they have been in vain. Nothing: all have been. `growing_too`: also what makes
  // values grow.
  Loops::Place next(Loops&, Making, const Growing&, bool growing_too) const;
  // Somebody waits for what this one makes: of those that do alike it and what is within it come first.
  void need(const abi::Block& b) { needed_ = &b; }
  // What this one has made last waits: it has been in vain. So has one around others, if one of these has been.
  void has_made(const abi::Block&, bool waits);
  // A round ends when something is popped that makes more and may make values grow, or so many atomic fragments that
  // may.
  void popped(bool atomic) {
    if (!atomic || ++grown_ == kInRound) end_round();
  }
  void end_round() {
    grown_ = 0;
    ++round_;
  }

 private:
  static constexpr int kInRound = 16;
  std::vector<std::uint64_t> vain_;  // by group: in this round
  std::uint64_t round_ = 1;
  int grown_ = 0;
  const abi::Block* needed_ = nullptr;
};

}  // namespace tessera::runtime
