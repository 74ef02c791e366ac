// What happened on a rank beside its workers' runs, when there is no room for all of it.
#include "runtime/trace/rank_events.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "runtime/trace/trace_events.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {
namespace {

TEST(RankEvents, KeepsTheLastOnesWithTheirTexts) {
  const auto transports = make_inproc_transports({.ranks = 1});
  Communicator comm(*transports[0]);
  const auto held = std::make_shared<Held>(8);
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

// Ranks that fill their room get more, as long as rank 0 has any; who comes first does not get all of it.
TEST(RankEvents, RoomGoesToWhoNeedsIt) {
  constexpr std::size_t kOwn = std::size_t{1} << 20, kPool = std::size_t{8} << 20;
  const auto transports = make_inproc_transports({.ranks = 3});
  const auto held = std::make_shared<Held>(8);
  std::vector<std::shared_ptr<RecordRoom>> rooms;
  std::vector<std::unique_ptr<Communicator>> comms;
  std::vector<std::unique_ptr<RankEvents>> ranks;
  for (const auto& t : transports) {
    rooms.push_back(std::make_shared<RecordRoom>(kOwn, 1));
    comms.push_back(std::make_unique<Communicator>(*t));
    const bool leads = t->rank() == Rank{0};
    ranks.push_back(std::make_unique<RankEvents>(*comms.back(), *held, leads, true, rooms.back(), leads ? kPool : 0));
  }
  const auto turn = [&] {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r]->turn(Clock::now());
      transports[r]->progress([&](Rank from, Parcel&& p) {
        const Message m = decode(std::move(p));
        if (const auto* ask = std::get_if<AskRoom>(&m)) ranks[r]->on(from, *ask);
        if (const auto* give = std::get_if<GiveRoom>(&m)) ranks[r]->on(from, *give);
      });
    }
  };
  const auto write = [&](std::size_t r, int times) {
    for (int k = 0; k < times; ++k) {
      ranks[r]->came(Rank{0}, Message{Wave{}}, 1);
      if (k % 16 == 0) turn();
    }
  };
  constexpr int kMessages = 10'000;  // of 32 bytes, each of which needs eight at the end: 2.4 MB
  write(2, kMessages);
  write(0, kMessages);
  EXPECT_EQ(ranks[2]->since(), 0u) << "all is kept";
  EXPECT_EQ(ranks[0]->since(), 0u);
  write(1, 10 * kMessages);
  EXPECT_GT(ranks[1]->since(), 0u) << "there is no more";
  std::size_t words = 0;
  for (auto& r : ranks) {
    for (const TracePart& part : r->take(r->scale())) words += part.words.size();
  }
  EXPECT_LE(words * 8 * RecordRoom::kUsual, 3 * kOwn + kPool);
}

// A value that came belongs to the first question for it since it came before, also if a fragment brought it. Questions
// for what never came, nor was made there, and Requests that nobody noted are counted.
TEST(TraceEvents, QuestionsBelongToWhatCameNext) {
  struct Event {
    EventWord word;
    balancer::Time at;
    TraceKey key;
    bool along = false;
  };
  constexpr TraceKey kMain = 1000;
  TraceGraph graph;
  TracePart worker{.worker = 0, .words = {}};
  const auto word = [&](TraceWord w, std::uint64_t payload, std::initializer_list<std::uint64_t> more = {}) {
    worker.words.push_back(payload << kTraceShift | static_cast<std::uint64_t>(w));
    worker.words.insert(worker.words.end(), more);
  };
  word(TraceWord::begin, 0, {kMain, 0});
  word(TraceWord::asked, 2 * 10 + 1, {7});
  word(TraceWord::asked, 2 * 12 + 1, {7});
  word(TraceWord::asked, 2 * 15 + 1, {6});  // and makes it itself
  word(TraceWord::made, 4, {6});
  word(TraceWord::end, 100);
  word(TraceWord::asked, 2 * 110, {7});  // when nothing ran
  graph.add(Rank{1}, worker);
  ASSERT_TRUE(graph.build({balancer::Group{0}}, [](std::uint32_t) { return balancer::Group{0}; }));

  TraceEvents events(0);
  balancer::simulator::Times times;
  const auto add = [&](Rank self, std::initializer_list<Event> all) {
    TracePart p{.worker = -1, .words = {}};
    for (const Event& e : all) {
      const bool more = e.along || e.word == EventWord::asked;
      p.words.insert(p.words.end(), {(more ? 256u : 0u) | static_cast<std::uint64_t>(e.word),
                                     static_cast<std::uint64_t>(e.at), e.key});
      if (e.word == EventWord::asked) p.words.push_back(e.key == 9 ? kMain : 0);
    }
    events.add(
        self, p, [](std::uint32_t) { return balancer::Group{0}; }, times);
  };
  using enum EventWord;
  add(Rank{1}, {{value, 20, 7}, {asked, 14, 8}, {value, 21, 8, true}, {value, 40, 7}, {asked, 30, 7}, {value, 120, 7}});
  add(Rank{2}, {{asked, 13, 7}, {value, 20, 7}, {value, 25, 7}, {asked, 44, 9}, {value, 45, 9}});
  add(Rank{3}, {{asked, 1, 3}, {asked, 2, 5}, {value, 1, 5}});
  const auto request = [&](Rank from) {
    const std::uint64_t head = static_cast<std::uint64_t>(index(from)) << kEventShift | Message(Request{}).index() << 8;
    TracePart p{.worker = -1, .words = {head | static_cast<std::uint64_t>(message), 5, 10, 0}};
    events.add(
        Rank{0}, p, [](std::uint32_t) { return balancer::Group{0}; }, times);
  };
  for (int i = 0; i < 4; ++i) request(Rank{2});
  std::map<std::tuple<std::int32_t, TraceKey, balancer::Time>, std::pair<balancer::Time, std::uint32_t>> found;
  for (const TraceGraph::Came& c : events.came(graph)) found[{index(c.rank), c.value, c.at}] = {c.asked, c.by};
  const std::uint32_t none = TraceGraph::kNone;
  const decltype(found) wanted = {{{1, 7, 20}, {10, 0}},    {{1, 7, 40}, {30, none}}, {{1, 7, 120}, {110, none}},
                                  {{1, 8, 21}, {14, none}}, {{2, 7, 20}, {13, none}}, {{2, 7, 25}, {-1, none}},
                                  {{2, 9, 45}, {44, 0}},    {{3, 5, 1}, {-1, none}}};
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(events.unattached(), 2 + 2) << "3 and 5 of rank 3, and of the four Requests of rank 2 two";
}

}  // namespace
}  // namespace tessera::runtime
