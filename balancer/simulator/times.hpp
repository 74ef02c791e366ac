// Times: when and where the fragments of a trace ran, and what went on around them: messages, moves, decisions, memory.
// All times are ns since the start of the run, on the clock of rank 0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "balancer/policy.hpp"

namespace tessera::balancer::simulator {

// Arrival: an input came to the rank where its reader ran, by a message.
struct Arrival {
  std::uint32_t input;  // its number in Fragment::inputs
  Time at;
  Time asked = -1;  // when that rank asked for it; -1: it did not, or that is not known
  static constexpr std::uint32_t kNobody = static_cast<std::uint32_t>(-1);
  std::uint32_t by = kNobody;  // the fragment that asked: it ran there then, or had just come there
};

// Bar: one run of a fragment. An iteration of a loop that every rank runs has several.
struct Bar {
  std::size_t fragment = 0;
  std::int32_t rank = 0, worker = 0;
  Time start = 0, length = 0;
  std::uint32_t block = 0;
  std::uint32_t numbers = 0, arrivals = 0;  // so many, in Times
  std::size_t first_number = 0, first_arrival = 0;
};

// Block: what the fragments' code is, for people.
struct BlockText {
  struct Slot {
    std::string base;  // `Csum` of `Csum[k - 1]`
    std::uint32_t indices = 0;
    bool output = false;
  };
  std::uint32_t group = 0;
  bool kernel = false;
  std::string file;
  std::uint32_t line = 0;
  std::string text;                // the statement
  std::vector<std::string> names;  // of its variables that are ints; of an iteration: its counter
  std::vector<Slot> slots;
};

struct Moved {  // a fragment came to another rank
  std::size_t fragment = 0;
  Time at = 0;
  Rank from{0}, to{0};
  bool by_policy = false;  // else placed by its locator
  Time since = -1;         // when the last of its inputs was on `from`; -1: it had none, or that is not known
  std::int32_t last = -1;  // which one that was; -1: not known
  Time asked = -1;         // when `from` had asked for that; -1: it had not, or that is not known
  std::uint32_t asked_by = Arrival::kNobody;  // as in Arrival
};

struct Sent {  // a message came
  Time at = 0;
  Rank from{0}, to{0};
  std::string kind;
  std::int64_t bytes = 0, fragments = 0;
};

struct Decided {
  Time at = 0;
  Rank rank{0}, from{-1}, to{-1};
  Time load_from = 0, load_to = 0;
  std::vector<GroupCount> fragments;
  std::string why;
};

struct Memory {
  Time at = 0;
  Rank rank{0};
  std::int64_t process = 0, data = 0;  // bytes of the rank's process; about so many of data fragments
};

struct Came {  // of a simulated run: something about a fragment came, its value most often
  Time at = 0;
  Rank rank{0};
  std::size_t fragment = 0;
};

struct RankInfo {
  std::int32_t workers = 0;
  bool same_host = true;  // as rank 0: one clock
  Time offset = 0;        // of its clock, as it was measured
  Time error = 0;         // ... by so much at most
  std::string host;
};

struct SourceText {
  std::string name;
  std::vector<std::string> lines;
};

struct Times {
  Time finished = 0;  // 0: nothing of all this was recorded
  Time from = 0;      // when what is kept of the run begins
  std::string balancer;
  bool simulated = false;
  std::vector<RankInfo> ranks;
  std::vector<BlockText> blocks;
  std::vector<Bar> bars;
  std::vector<std::int64_t> numbers;  // of bars: of BlockText::names, then the indices of its slots
  std::vector<Arrival> arrivals;      // of bars
  std::vector<Moved> moves;
  std::vector<Sent> messages;
  std::vector<Decided> decisions;
  std::vector<Memory> memory;
  std::vector<SourceText> sources;
  std::vector<std::string> notes;  // for people: what is missing
  std::int64_t unattached = 0;     // questions for values that belong to none that came: the record is wrong
  std::vector<Came> came, asked;   // not in files: bars have it

  std::span<const std::int64_t> numbers_of(const Bar& b) const { return {numbers.data() + b.first_number, b.numbers}; }
  std::span<const Arrival> arrivals_of(const Bar& b) const { return {arrivals.data() + b.first_arrival, b.arrivals}; }
};

}  // namespace tessera::balancer::simulator
