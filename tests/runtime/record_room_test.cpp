// Who writes much has much of the room, and all that is kept is from about the same time on.
#include "runtime/trace/record_room.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "runtime/threads/ticks.hpp"

namespace tessera::runtime {
namespace {

constexpr std::size_t kRoom = std::size_t{1} << 20;  // bytes

struct Pen {
  explicit Pen(std::shared_ptr<RecordRoom> room) : writer(std::move(room)) {}
  void write(std::size_t words) {
    for (std::size_t k = 0; k < words; ++k) {
      if (chunk == nullptr || chunk->used == chunk->room) chunk = &writer.next(1);
      chunk->words[chunk->used++] = number++;
    }
  }
  std::size_t kept() {
    std::size_t words = 0;
    std::uint64_t first = 0;
    const auto all = writer.take();
    for (const auto& list : all) {
      if (words == 0) first = list.front();
      for (const std::uint64_t n : list) EXPECT_EQ(n, first + words++);
    }
    EXPECT_EQ(first + words, number) << "the last is there";
    return words;
  }
  RecordRoom::Writer writer;
  RecordRoom::Chunk* chunk = nullptr;
  std::uint64_t number = 0;
};

TEST(RecordRoom, IsSharedByNeed) {
  const auto room = std::make_shared<RecordRoom>(kRoom * RecordRoom::kUsual, 3);
  Pen much(room), little(room), nothing(room);
  for (int k = 0; k < 4000; ++k) much.write(900), little.write(100);
  const std::uint64_t a = much.writer.since(), b = little.writer.since();
  EXPECT_GT(a, 0u);
  EXPECT_GT(b, 0u);
  EXPECT_EQ(nothing.writer.since(), 0u);
  const std::size_t of_much = much.kept(), of_little = little.kept();
  EXPECT_EQ(nothing.kept(), 0u);
  EXPECT_LE((of_much + of_little) * 8, kRoom);
  EXPECT_GT(of_much * 8, kRoom * 3 / 4) << "nine tenths of what is written are its";
  EXPECT_GT(of_little, 0u);
}

// It has the whole room, then writes nothing any more: another one gets it, but for the last chunk.
TEST(RecordRoom, WhoHasStoppedGivesItBack) {
  const auto room = std::make_shared<RecordRoom>(kRoom * RecordRoom::kUsual, 2);
  Pen before(room), after(room);
  before.write(kRoom / 4);
  after.write(kRoom / 4);
  const std::size_t of_before = before.kept(), of_after = after.kept();
  EXPECT_GT(of_after * 8, kRoom * 3 / 4);
  EXPECT_GT(of_before, 0u);
  EXPECT_LE((of_before + of_after) * 8, kRoom);
}

// Of what needs twice as much at the end there is room for half.
TEST(RecordRoom, CountsWhatTheEndNeeds) {
  const auto room = std::make_shared<RecordRoom>(kRoom * RecordRoom::kUsual, 1);
  RecordRoom::Writer writer(room);
  RecordRoom::Chunk* chunk = &writer.next(1);
  for (int k = 0; k < 1000; ++k) {
    chunk->used = chunk->room;
    chunk = &writer.next(1, 2 * chunk->room * 8 * RecordRoom::kUsual);
  }
  chunk->used = chunk->room;
  std::size_t kept = 0;
  for (const auto& list : writer.take()) kept += list.size() * 8;
  EXPECT_LE(kept, kRoom * 5 / 8);
  EXPECT_GE(kept, kRoom * 3 / 8);
}

TEST(RecordRoom, MayBeWrittenByManyAtOnce) {
  const auto room = std::make_shared<RecordRoom>(kRoom * RecordRoom::kUsual, 4);
  std::vector<std::unique_ptr<Pen>> pens;
  for (int k = 0; k < 4; ++k) pens.push_back(std::make_unique<Pen>(room));
  std::vector<std::thread> threads;
  for (auto& p : pens) threads.emplace_back([&p] { p->write(500'000); });
  for (std::thread& t : threads) t.join();
  std::size_t all = 0;
  for (auto& p : pens) all += p->kept();
  EXPECT_LE(all * 8, kRoom);
  EXPECT_GT(all * 8, kRoom / 2);
}

}  // namespace
}  // namespace tessera::runtime
