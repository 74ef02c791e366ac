// Pages: what workers note while sweeps take it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "balancer/random.hpp"
#include "runtime/abi/tessera.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/memory/value.hpp"
#include "tests/runtime/journal_folder.hpp"

namespace tessera::runtime::journal {
namespace {

Id reader(std::uint64_t k) { return abi::mix({5, 6}, k); }

Settings settings_in(const fs::path& folder, const Header& header) {
  Settings s;
  s.folder = folder;
  s.header = header;
  s.interval = 1000;
  return s;
}

void note(Page& page, const Id& fragment) {
  page.begin_note(fragment);
  page.end_note(0, 0);
}
void note(Page& page, const Id& fragment, const Id& output, abi::Value* v) {
  page.begin_note(fragment);
  page.note(output, v);
  page.end_note(0, 0);
}

thread_local Page* page_of_thread = nullptr;
// As a run's threads do it.
bool lets_go_here(abi::Value* v) {
  return page_of_thread == nullptr ? Page::lets_go_elsewhere(v) : Page::lets_go(v, *page_of_thread);
}

// What is in the files, sweep by sweep.
struct Swept {
  std::set<std::pair<std::uint64_t, std::uint64_t>> ran;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> values;  // and how large they are
  std::set<std::pair<std::uint64_t, std::uint64_t>> gone;
  bool has(const Id& fragment) const { return ran.contains({fragment.lo, fragment.hi}); }
  bool has_value(const Id& name) const { return values.contains({name.lo, name.hi}); }
};
// What is in each sweep by itself: the others may be lost.
std::vector<Swept> sweeps_in(const fs::path& folder) {
  std::vector<Swept> each;
  Swept s;
  Sink sink;
  sink.done = [](const Done&) {};
  sink.value = [&](const ValueOf& v) { s.values[{v.id.lo, v.id.hi}] = static_cast<std::int64_t>(v.bytes.size()); };
  sink.taken_back = [](const TakenBack&) {};
  sink.gone = [&](const Gone& g) { s.gone.insert({g.id.lo, g.id.hi}); };
  sink.ran = [&](const Ran& r) {
    for (const Id& id : r.keys) s.ran.insert({id.lo, id.hi});
  };
  sink.range = [](const Range&) {};
  sink.text = [](const Text&) {};
  sink.has_text = [](const NeedsText&) { return true; };
  sink.learned = [](const Learned&) {};
  sink.begins = [](std::uint64_t) {};
  sink.whole = [&](std::uint64_t) { each.push_back(std::exchange(s, {})); };
  Header header;
  for (const fs::path& file : files_of(folder)) for_each_record(file, header, sink);
  return each;
}
Swept all_in(const fs::path& folder) {
  Swept all;
  for (Swept& s : sweeps_in(folder)) {
    all.ran.merge(s.ran);
    all.values.merge(s.values);
  }
  return all;
}

// Whoever has read a value may be noted before who gave it, and a sweep come between.
TEST_F(JournalFiles, WhoEndsAfterItsReadersGivesAValue) {
  Journal journal(settings_in(folder_, header()), nullptr, 2);
  journal.start();
  Page &makes = journal.page(0), &reads = journal.page(1);
  const auto read = [&](std::uint64_t k, abi::Value* v) {
    note(reads, reader(k));
    abi::release(v);
    journal.write_now();
  };
  abi::Value* v = abi::value_int(0);
  const Id first = key(0);
  makes.begin_note(first);
  makes.note(name(0), v);
  read(0, v);
  makes.end_note(0, 0);
  journal.write_now();
  v = abi::value_int(1);
  makes.give({name(1), -1}, v);
  read(1, v);
  makes.ran(key(1), 0, 0);
  journal.write_now();
  // Others need not, when no sweep comes between; but the first that is noted after a sweep may have run by then.
  note(makes, key(4));
  v = abi::value_int(2);
  note(makes, key(2), name(2), v);
  note(reads, reader(2));
  abi::release(v);
  v = abi::value_int(3);
  makes.give({name(3), -1}, v);
  makes.ran(key(3), 0, 0);
  read(3, v);
  journal.stop(false);
  std::vector<Swept> all = sweeps_in(folder_);
  ASSERT_EQ(all.size(), 5u);
  for (std::uint64_t k = 0; k < 2; ++k) {
    EXPECT_TRUE(all[2 * k].has(reader(k)) && !all[2 * k].has(key(k))) << k;
    EXPECT_TRUE(all[2 * k + 1].has(key(k)) && all[2 * k + 1].has_value(name(k))) << k;
  }
  for (std::uint64_t k = 2; k < 4; ++k)
    EXPECT_TRUE(all[4].has(key(k)) && all[4].has(reader(k)) && !all[4].has_value(name(k))) << k;
}

// It is written down, too, that nobody can read any more what is written; not of what went to another rank.
TEST_F(JournalFiles, WhatIsWrittenAndReadByAllIsGone) {
  Journal journal(settings_in(folder_, header()), nullptr, 2);
  journal.start();
  lets_go = lets_go_here;
  enum : std::uint8_t { by_its_worker, by_another, by_a_thread, wanted, still_held, kAll };
  std::vector<abi::Value*> values;
  for (std::uint64_t k = 0; k < kAll; ++k) {
    values.push_back(abi::value_int(static_cast<std::int32_t>(k)));
    note(journal.page(0), key(k), name(k), values.back());
  }
  mark_wanted(values[wanted]);
  journal.write_now();
  for (const std::uint64_t k : {by_its_worker, by_another, by_a_thread, wanted}) {
    page_of_thread = k == by_a_thread ? nullptr : &journal.page(k == by_another ? 1 : 0);
    note(journal.page(1), reader(k));
    abi::release(values[k]);
  }
  page_of_thread = nullptr;
  journal.write_now();
  abi::release(values[still_held]);
  journal.stop(true);
  const std::vector<Swept> all = sweeps_in(folder_);
  ASSERT_EQ(all.size(), 3u);
  for (std::uint64_t k = 0; k < kAll; ++k) {
    EXPECT_TRUE(all[0].has_value(name(k))) << k;
    EXPECT_EQ(all[1].gone.contains({name(k).lo, name(k).hi}), k < wanted) << k;
    EXPECT_EQ(all[2].gone.contains({name(k).lo, name(k).hi}), k == still_held) << k;
  }
}

// A sweep may write what is noted to the end: its last reader, who has the only reference, writes to a copy.
TEST_F(JournalFiles, WhatIsNotedIsNeverChanged) {
  Journal journal(settings_in(folder_, header()), nullptr, 1);
  for (const bool noted : {false, true}) {
    DF read(7);
    const abi::Value* const v = read.value;
    if (noted) note(journal.page(0), key(0), name(0), read.value);
    *static_cast<std::int32_t*>(read.get_data()) = 8;
    EXPECT_EQ(read.value != v, noted);
    EXPECT_EQ(read.value->i, 8);
  }
}

// One that has assigned something, which others have read, or still hold, and then fails. If its value were in a sweep
// it would be taken for done.
TEST_F(JournalFiles, WhoFailsHasGivenNothing) {
  Journal journal(settings_in(folder_, header()), nullptr, 1);
  journal.start();
  Page& page = journal.page(0);
  std::vector<abi::Value*> values;
  for (std::uint64_t k = 0; k < 4; ++k) {
    const Id fragment = key(k);
    values.push_back(abi::value_int(static_cast<std::int32_t>(k)));
    page.begin_note(fragment);
    page.note(name(k), values.back());
    if (k == 1) journal.write_now();
    k < 3 ? page.forget_note() : page.end_note(0, 0);
    if (k == 2) abi::release(std::exchange(values.back(), nullptr));
  }
  journal.write_now();
  for (abi::Value* v : values) {
    if (v != nullptr) abi::release(v);
  }
  journal.stop(true);
  const Swept all = all_in(folder_);
  for (std::uint64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(all.has(key(k)), k == 3) << k;
    EXPECT_EQ(all.has_value(name(k)), k == 3) << k;
  }
}

// Workers make values and read each other's while sweeps come as they like: some fragments note what others read before
// they return. Of each sweep by itself, for the others may be lost: of whom it has it has what he gave, or all who read
// it.
TEST_F(JournalFiles, EachSweepByItselfHasAValueOrAllWhoReadIt) {
  constexpr std::uint64_t kWorkers = 3, kEach = 20000, kReaders = 2;
  Journal journal(settings_in(folder_, header()), nullptr, kWorkers);
  lets_go = lets_go_here;
  journal.start();
  struct Shared {
    std::array<std::atomic<abi::Value*>, kReaders> value{};
  };
  std::vector<Shared> shared(kWorkers * kEach);
  std::atomic<std::size_t> ended{0};
  const auto reads = [&](std::size_t worker, std::uint64_t v, std::uint64_t k) {
    abi::Value* value = nullptr;
    while ((value = shared[v].value[k].exchange(nullptr)) == nullptr) std::this_thread::yield();
    note(journal.page(worker), reader(kReaders * v + k));
    EXPECT_EQ(value->i, static_cast<std::int32_t>(v));
    abi::release(value);
  };
  const auto works = [&](std::size_t worker) {
    balancer::Random random(worker);
    for (std::uint64_t k = 0; k < kEach; ++k) {
      const std::uint64_t v = worker * kEach + k;
      abi::Value* const value = abi::value_int(static_cast<std::int32_t>(v));
      const Id fragment = key(v);
      const auto passes_on = [&] {
        for (auto& to : shared[v].value) to.store(abi::retain(value));
        abi::release(value);
        if (random.below(50) == 0) std::this_thread::yield();
      };
      if (random.below(4) == 0) {
        journal.page(worker).give({name(v), -1}, value);
        passes_on();
        journal.page(worker).ran(fragment, 0, 0);
      } else {
        journal.page(worker).begin_note(fragment);
        journal.page(worker).note(name(v), value);
        passes_on();
        journal.page(worker).end_note(0, 0);
      }
      // Its own, and the neighbour's.
      if (k % 8 == 7) {
        for (std::uint64_t r = k - 7; r <= k; ++r) {
          reads(worker, worker * kEach + r, 0);
          reads(worker, (worker + 1) % kWorkers * kEach + r, 1);
        }
      }
    }
    ++ended;
  };
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      page_of_thread = &journal.page(worker);
      works(worker);
    });
  }
  while (ended.load() < kWorkers) journal.write_now();
  for (std::thread& t : threads) t.join();
  journal.stop(true);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> made_by;
  for (std::uint64_t v = 0; v < shared.size(); ++v) made_by[{key(v).lo, key(v).hi}] = v;
  std::uint64_t with_readers = 0, with_value = 0;
  for (const Swept& s : sweeps_in(folder_)) {
    for (const auto& id : s.ran) {
      const auto at = made_by.find(id);
      if (at == made_by.end()) continue;
      const std::uint64_t v = at->second;
      const bool read = s.has(reader(kReaders * v)) && s.has(reader(kReaders * v + 1));
      EXPECT_TRUE(read || s.has_value(name(v))) << v;
      ++(s.has_value(name(v)) ? with_value : with_readers);
    }
  }
  EXPECT_EQ(with_readers + with_value, shared.size());
  EXPECT_GT(with_readers, 0u);
  EXPECT_GT(with_value, 0u);
}

// What a fragment was the last to read is freed before the next one makes its outputs: in memory that was used long ago
// these cost heat a quarter of its time.
TEST_F(JournalFiles, ALargeValueGoesWithItsLastReader) {
  constexpr std::uint64_t kBytes = 1 << 20, kValues = 10;
  Journal journal(settings_in(folder_, header()), nullptr, 1);
  journal.start();
  Page& page = journal.page(0);
  const auto assigns = [&](std::uint64_t k) {
    abi::Value* v = abi::value_bytes(kBytes);
    page.give({name(k), -1}, v);
    page.ran(key(k), 0, 0);
    return v;
  };
  std::vector<abi::Value*> values;
  for (std::uint64_t k = 0; k < kValues; ++k) values.push_back(assigns(k));
  for (std::uint64_t k = 0; k < kValues; ++k) {
    EXPECT_LT(page.bytes_kept(), (kValues + 1) * kBytes) << k;
    abi::release(std::exchange(values[k], assigns(kValues + k)));
  }
  EXPECT_LT(page.bytes_kept(), (kValues + 1) * kBytes);
  journal.write_now();
  const Swept all = all_in(folder_);
  for (std::uint64_t k = 0; k < kValues; ++k)
    EXPECT_TRUE(!all.has_value(name(k)) && all.has_value(name(kValues + k))) << k;
  for (abi::Value* v : values) abi::release(v);
  journal.stop(false);
}

// Of one value with several names others let go while it gets the next one, and sweeps look at it.
TEST_F(JournalFiles, AValueThatHasSeveralNamesIsKeptForEach) {
  constexpr std::uint64_t kValues = 20000, kBytes = 600;
  Journal journal(settings_in(folder_, header()), nullptr, 2);
  journal.start();
  struct Slot {
    std::atomic<abi::Value*> value{nullptr};
  };
  std::vector<Slot> given(kValues);
  std::atomic<bool> ended{false};
  // Whoever has made it notes it under two names, and lets go; who was given it may be the last by then, or not.
  std::thread makes([&] {
    for (std::uint64_t k = 0; k < kValues; ++k) {
      abi::Value* v = abi::value_bytes(kBytes + k % 7);
      Page& page = journal.page(0);
      const Id fragment = key(2 * k);
      page.begin_note(fragment);
      page.note(name(3 * k), v);
      given[k].value.store(abi::retain(v), std::memory_order_release);
      page.note(name(3 * k + 1), v);
      page.end_note(0, 0);
      abi::release(v);
    }
  });
  std::thread passes_on([&] {
    for (std::uint64_t k = 0; k < kValues; ++k) {
      abi::Value* v = nullptr;
      while ((v = given[k].value.load(std::memory_order_acquire)) == nullptr) std::this_thread::yield();
      note(journal.page(1), key(2 * k + 1), name(3 * k + 2), v);
      EXPECT_EQ(v->size, kBytes + k % 7);
      abi::release(v);
    }
    ended.store(true);
  });
  while (!ended.load()) journal.write_now();
  makes.join();
  passes_on.join();
  journal.stop(true);
  const Swept all = all_in(folder_);
  EXPECT_EQ(all.ran.size(), 2 * kValues);
  for (std::uint64_t k = 0; k < 3 * kValues; ++k) {
    const Id id = name(k);
    const auto v = all.values.find({id.lo, id.hi});
    ASSERT_EQ(v == all.values.end() ? 0 : v->second - static_cast<std::int64_t>(kBytes + k / 3 % 7), 0) << k;
  }
}

}  // namespace
}  // namespace tessera::runtime::journal
