// What happened on a rank beside its workers' runs, when there is no room for all of it.
#include "runtime/trace/rank_events.hpp"

#include <gtest/gtest.h>

#include "runtime/transport/transport.hpp"

namespace tessera::runtime {
namespace {

TEST(RankEvents, KeepsTheLastOnesWithTheirTexts) {
  const auto transports = make_inproc_transports({.ranks = 1});
  Communicator comm(*transports[0]);
  const auto held = std::make_shared<Held>();
  for (const std::size_t limit : {std::size_t{2000}, std::size_t{20'000}, std::size_t{10'000'000}}) {
    RankEvents events(comm, *held, true, true, limit);
    constexpr int kMany = 1000;
    for (int k = 0; k < kMany; ++k) {
      balancer::Decide d;
      d.why = "number " + std::to_string(k);
      d.from = Rank{0}, d.to = Rank{0};
      events.decided(d);
      if (k % 3 == 0) events.came(Rank{0}, Message{ClockAsk{k}}, static_cast<std::size_t>(k));
    }
    const TracePart part = events.take(events.scale());
    int next = -1, decisions = 0;
    for (std::size_t i = 0; i < part.words.size(); i += kEventWords) {
      const auto word = static_cast<EventWord>(part.words[i] & 0xff);
      EXPECT_TRUE(word == EventWord::clock || part.words[i + 1] >= events.since());
      EXPECT_TRUE(word != EventWord::message || next < 0 || static_cast<int>(part.words[i + 2]) == next - 1);
      if (word != EventWord::decision) continue;
      const std::string& text = part.texts.at(part.words[i + 2]);
      const int number = std::stoi(text.substr(text.rfind(' ')));
      EXPECT_TRUE(next < 0 || number == next) << text;
      next = number + 1;
      ++decisions;
    }
    EXPECT_EQ(next, kMany) << "the last one is there";
    EXPECT_EQ(part.texts.size(), static_cast<std::size_t>(decisions));
    EXPECT_EQ(decisions == kMany, limit == 10'000'000);
    EXPECT_EQ(events.since() == 0, limit == 10'000'000);
    EXPECT_LE(part.words.size() * 8 + part.texts.size() * 50, limit + limit / 4);
  }
}

}  // namespace
}  // namespace tessera::runtime
