// Pages: what workers note while sweeps take it.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/journal/journal.hpp"
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
  page.begin_note(fragment, 0, 0);
  page.end_note();
}
void note(Page& page, const Id& fragment, const Id& output, abi::Value* v) {
  page.begin_note(fragment, 0, 0);
  page.note(output, v);
  page.end_note();
}

// What is in the files, sweep by sweep.
struct Swept {
  std::set<std::pair<std::uint64_t, std::uint64_t>> ran;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> values;  // and how large they are
  bool has(const Id& fragment) const { return ran.contains({fragment.lo, fragment.hi}); }
  bool has_value(const Id& name) const { return values.contains({name.lo, name.hi}); }
};
Swept read_all(const fs::path& folder, const std::function<void(const Swept&)>& after_sweep) {
  Swept s;
  Sink sink;
  sink.done = [](const Done&) {};
  sink.value = [&](const ValueOf& v) { s.values[{v.id.lo, v.id.hi}] = static_cast<std::int64_t>(v.bytes.size()); };
  sink.taken_back = [](const TakenBack&) {};
  sink.gone = [](const Gone&) {};
  sink.ran = [&](const Ran& r) {
    for (const Id& id : r.keys) s.ran.insert({id.lo, id.hi});
  };
  sink.range = [](const Range&) {};
  sink.text = [](const Text&) {};
  sink.has_text = [](const NeedsText&) { return true; };
  sink.learned = [](const Learned&) {};
  sink.begins = [](std::uint64_t) {};
  sink.whole = [&](std::uint64_t) { after_sweep(s); };
  Header header;
  for (const fs::path& file : files_of(folder)) for_each_record(file, header, sink);
  return s;
}

// One thread, and the journal's, which runs where it is waited for; what a test has others do comes between.
class Steps : public Simulation {
 public:
  explicit Steps(std::function<void()> others) : others_(std::move(others)) { simulation = this; }
  ~Steps() override { simulation = nullptr; }
  Time now() override { return Time(std::chrono::seconds(1)); }
  int start(std::int32_t, std::function<void()> body) override {
    body_ = std::move(body);
    return 0;
  }
  void join(int) override { body_(); }
  void wait(const void*, Time) override { others_(); }
  void notify(const void*, bool) override {}
  void runs(const abi::Cf*) override {}
  bool delivers(std::int32_t, std::int32_t, const Parcel&) override { return true; }
  std::size_t cores() const override { return 3; }

 private:
  std::function<void()> others_, body_;
};

// While pages are taken, in each moment between two of them, a value is made and read, by each of three workers for
// each.
TEST_F(JournalFiles, WhatIsNotedIsInASweepWithWhatItHasRead) {
  constexpr std::uint64_t kPages = 3;
  Journal journal(settings_in(folder_, header()), nullptr, kPages);
  std::uint64_t made = 0;
  {
    const Steps steps([&] {
      for (std::size_t from = 0; from < kPages; ++from) {
        for (std::size_t to = 0; to < kPages; ++to, ++made) {
          abi::Value* v = abi::value_int(static_cast<std::int32_t>(made));
          note(journal.page(from), key(made), name(made), v);
          note(journal.page(to), reader(made));
          abi::release(v);
        }
      }
    });
    journal.start();
    journal.stop(true);
  }
  EXPECT_EQ(made, kPages * kPages * (kPages + 1));
  std::uint64_t apart = 0;
  const Swept all = read_all(folder_, [&](const Swept& s) {
    for (std::uint64_t k = 0; k < made; ++k) {
      if (!s.has(key(k)) || s.has(reader(k))) continue;
      ++apart;
      EXPECT_TRUE(s.has_value(name(k))) << k << " was read, and of who has read it nobody knows";
    }
  });
  EXPECT_GT(apart, 0u);
  EXPECT_LT(all.values.size(), made) << "and what both are there of need not be";
}

// What is in each sweep by itself: the others may be lost.
std::vector<Swept> sweeps_in(const fs::path& folder) {
  std::vector<Swept> each;
  Swept before;
  read_all(folder, [&](const Swept& s) {
    Swept only = s;
    for (const auto& id : before.ran) only.ran.erase(id);
    for (const auto& [id, bytes] : before.values) only.values.erase(id);
    each.push_back(only);
    before = s;
  });
  return each;
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
  makes.begin_note(key(0), 0, 0);
  makes.note(name(0), v);
  read(0, v);
  makes.end_note();
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

// The same while pages are taken; what is in the first sweep is lost.
TEST_F(JournalFiles, ASweepByItselfHasWhatWasReadBefore) {
  constexpr std::uint64_t kPages = 3;
  struct Swept1 {};
  Journal journal(settings_in(folder_, header()), nullptr, kPages);
  std::uint64_t made = 0, moments = 0;
  {
    Steps steps([&] {
      if (++moments == kPages + 2) throw Swept1();
      if (moments > kPages + 2) return;
      for (std::size_t from = 0; from < kPages; ++from) {
        for (std::size_t to = 0; to < kPages; ++to, ++made) {
          abi::Value* v = abi::value_int(static_cast<std::int32_t>(made));
          note(journal.page(from), key(made), name(made), v);
          note(journal.page(to), reader(made));
          abi::release(v);
        }
      }
    });
    journal.start();
    journal.write_now();
    EXPECT_THROW(steps.join(0), Swept1);
    journal.stop(true);
  }
  const std::vector<Swept> all = sweeps_in(folder_);
  ASSERT_EQ(all.size(), 2u);
  std::uint64_t apart = 0;
  for (std::uint64_t k = 0; k < made; ++k) {
    if (!all[1].has(key(k)) || all[1].has(reader(k))) continue;
    ++apart;
    EXPECT_TRUE(all[1].has_value(name(k))) << k;
  }
  EXPECT_GT(apart, 0u);
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
    page.begins();
    EXPECT_LT(page.bytes_kept(), (kValues + 1) * kBytes) << k;
    page.reads(values[k]);
    abi::release(std::exchange(values[k], assigns(kValues + k)));
  }
  page.begins();
  EXPECT_LT(page.bytes_kept(), (kValues + 1) * kBytes);
  journal.write_now();
  const Swept all = read_all(folder_, [](const Swept&) {});
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
      page.begin_note(key(2 * k), 0, 0);
      page.note(name(3 * k), v);
      given[k].value.store(abi::retain(v), std::memory_order_release);
      page.note(name(3 * k + 1), v);
      page.end_note();
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
  const Swept all = read_all(folder_, [](const Swept&) {});
  EXPECT_EQ(all.ran.size(), 2 * kValues);
  for (std::uint64_t k = 0; k < 3 * kValues; ++k) {
    const Id id = name(k);
    const auto v = all.values.find({id.lo, id.hi});
    ASSERT_EQ(v == all.values.end() ? 0 : v->second - static_cast<std::int64_t>(kBytes + k / 3 % 7), 0) << k;
  }
}

}  // namespace
}  // namespace tessera::runtime::journal
