// What happened on a rank beside its workers' runs, when there is no room for all of it.
#include "runtime/trace/rank_events.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "runtime/trace/trace_events.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {
namespace {

TEST(RankEvents, KeepsTheLastOnesWithTheirTexts) {
  const auto transports = make_inproc_transports({.ranks = 1});
  Communicator comm(*transports[0]);
  const auto held = std::make_shared<Held>();
  for (const std::size_t limit : {std::size_t{2000}, std::size_t{20'000}, std::size_t{10'000'000}}) {
    RankEvents events(comm, *held, true, true, std::make_shared<RecordRoom>(limit, 1));
    constexpr int kMany = 1000;
    for (int k = 0; k < kMany; ++k) {
      balancer::Decide d;
      d.why = "number " + std::to_string(k);
      d.from = Rank{0}, d.to = Rank{0};
      events.decided(d);
      if (k % 3 == 0) events.came(Rank{0}, Message{ClockAsk{k}}, static_cast<std::size_t>(k));
    }
    int next = -1, decisions = 0;
    std::size_t words = 0;
    for (const TracePart& part : events.take(events.scale())) {
      for (std::size_t i = 0; i < part.words.size(); i += event_words(part.words[i])) {
        const std::uint64_t* w = &part.words[i];
        const auto word = static_cast<EventWord>(w[0] & 0xff);
        EXPECT_TRUE(word == EventWord::clock || w[1] >= events.since());
        EXPECT_TRUE(word != EventWord::message || next < 0 || static_cast<int>(w[2]) == next - 1);
        if (word != EventWord::decision) continue;
        const std::string text(reinterpret_cast<const char*>(w + 2), w[0] >> kEventShift);
        const int number = std::stoi(text.substr(text.rfind(' ')));
        EXPECT_TRUE(next < 0 || number == next) << text;
        next = number + 1;
        ++decisions;
      }
      words += part.words.size();
    }
    EXPECT_EQ(next, kMany) << "the last one is there";
    EXPECT_EQ(decisions == kMany, limit == 10'000'000);
    EXPECT_LE(words * 8, std::max(limit, std::size_t{4096}));
  }
}

// A value that came belongs to the first question for it since it came before; other questions are for what never came.
TEST(TraceEvents, QuestionsBelongToWhatCameNext) {
  struct Event {
    EventWord word;
    std::int32_t rank;  // that asked, or that it came from
    balancer::Time at;
    TraceKey key;
    bool along = false;
  };
  TraceEvents events(0);
  balancer::simulator::Times times;
  const auto add = [&](Rank self, std::initializer_list<Event> all) {
    TracePart part;
    part.worker = -1;
    for (const Event& e : all) {
      const auto from = static_cast<std::uint64_t>(e.rank) << kEventShift;
      part.words.insert(part.words.end(), {from | (e.along ? 256u : 0u) | static_cast<std::uint64_t>(e.word),
                                           static_cast<std::uint64_t>(e.at), e.key});
    }
    events.add(
        self, part, [](std::uint32_t) { return balancer::Group{0}; }, times);
  };
  using enum EventWord;
  add(Rank{0}, {{asked, 1, 1, 3},
                {asked, 1, 2, 5},
                {asked, 1, 10, 7},
                {asked, 1, 12, 7},
                {asked, 2, 13, 7},
                {asked, 1, 14, 8},
                {asked, 1, 30, 7},
                {asked, 1, 55, 9}});
  add(Rank{1}, {{value, 0, 20, 7}, {value, 0, 21, 8, true}, {value, 0, 40, 7}, {value, 0, 50, 9}});
  add(Rank{2}, {{value, 0, 20, 7}, {value, 0, 25, 7}});
  std::map<std::tuple<std::int32_t, TraceKey, balancer::Time>, balancer::Time> found;
  for (const TraceGraph::Came& c : events.came()) found[{balancer::index(c.rank), c.value, c.at}] = c.asked;
  const decltype(found) wanted = {{{1, 7, 20}, 10}, {{1, 7, 40}, 30}, {{1, 8, 21}, -1},
                                  {{1, 9, 50}, -1}, {{2, 7, 20}, 13}, {{2, 7, 25}, -1}};
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace tessera::runtime
