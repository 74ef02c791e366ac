// RankEvents: what happened on a rank beside its workers' runs, for --record: messages and values that came, what those
// who came with them asked for, fragments that came to it, what its policy decided and why, its memory; and how its
// clock stands to rank 0's. Communication thread only. Node::events is null when nothing is recorded.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "balancer/event.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/memory/held.hpp"
#include "runtime/trace/clock_sync.hpp"
#include "runtime/trace/record_room.hpp"

namespace tessera::runtime {

enum class EventWord : std::uint8_t {  // low bits of the first word; then the rank it came from, from kEventShift on
  message,                             // | tag << 8; ticks; bytes; fragments in it
  value,                               // | along with a fragment << 8; ticks; key
  arrived,                             // | by policy << 8; ticks; key of the fragment
  part,                                // | by policy << 8; ticks; key of the range; its first iteration; its last one
  decision,                            // from kEventShift on: bytes of its text; ticks; the text
  memory,                              // ticks; bytes of the process; bytes of data fragments
  clock,                               // | same host << 8; 0; offset; error
  asked,  // | by a Request << 8; ticks; key of the value; of the fragment that wants it, or 0
};
inline constexpr unsigned kEventShift = 16;
inline std::size_t event_words(std::uint64_t first) {
  switch (static_cast<EventWord>(first & 0xff)) {
    case EventWord::value:
    case EventWord::arrived:
      return 3;
    case EventWord::part:
      return 5;
    case EventWord::decision:
      return 2 + (first >> kEventShift) / sizeof(std::uint64_t) + 1;
    default:
      return 4;
  }
}

class RankEvents {
 public:
  // `leads`: on rank 0. `same_host`: as rank 0, with its clock.
  // `pool`: on rank 0, bytes for those ranks whose room is not enough.
  RankEvents(Communicator&, const Held&, bool leads, bool same_host, std::shared_ptr<RecordRoom>, std::size_t pool = 0);
  void came(Rank from, const Message&, std::size_t bytes);
  void arrived(const abi::Cf&, Rank from, bool by_policy);
  // This rank asked for it when the fragment had come, or for no fragment in particular.
  void asked(const abi::Id& value, const abi::Cf* by, bool request, std::uint64_t when);
  void decided(const balancer::Decide&);
  void turn(Clock::time_point now);
  // Rank 0 asks nobody for the time.
  Clock::time_point next() const { return leads_ ? next_ : std::min(next_, sync_.next()); }
  void on(Rank from, const ClockAsk&);
  void on(Rank from, const ClockAnswer&);
  void on(Rank from, const AskRoom&);
  void on(Rank from, const GiveRoom&);

  // How this rank's ticks become ns of rank 0's clock. The run is over.
  struct Scale {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
    double ns_per_tick = 1;
  };
  Scale scale();
  // Since when all is kept, in ticks; 0: there was room for all.
  std::uint64_t since() const { return writer_.since(); }
  std::vector<TracePart> take(const Scale&);
  // Rank 0: when the run began.
  std::int64_t began() const { return began_ns_; }

 private:
  void put(std::initializer_list<std::uint64_t> words);
  std::uint64_t* room(std::size_t words);

  Communicator& comm_;
  const Held& held_;
  const bool leads_;
  const std::uint64_t began_ticks_;
  const std::int64_t began_ns_;
  const bool same_host_;
  Clock::time_point next_{};
  ClockSync sync_;
  std::int64_t clock_offset_ = 0, clock_error_ = 0;
  std::size_t take_from_pool(std::size_t wanted);
  void look_for_room();

  const std::shared_ptr<RecordRoom> room_;
  std::size_t pool_;
  bool asks_for_room_ = false;  // an answer is to come, or was that there is no more
  RecordRoom::Writer writer_;
  RecordRoom::Chunk* chunk_ = nullptr;  // the last one
};

}  // namespace tessera::runtime
