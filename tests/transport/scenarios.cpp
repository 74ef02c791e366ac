#include "scenarios.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "test_values.hpp"

namespace tessera::runtime {
namespace {

using namespace std::chrono_literals;

void expect(bool ok, const std::string& what) {
  if (!ok) throw Failed(what);
}

// The first 8 bytes of a parcel are its number in its pair; all else is derived from it: a block of
// prime length over and over, so that no power of two's shift goes unnoticed. The block of a number
// is where it begins in one table, made once: filling has to cost little.
constexpr std::size_t kBlock = 4099;

std::span<const std::byte> block_of(std::uint64_t number) {
  static const auto table = [] {
    std::array<std::byte, 2 * kBlock> t;
    std::mt19937_64 random(1);
    for (std::byte& b : t) b = static_cast<std::byte>(random());
    return t;
  }();
  return std::span(table).subspan(number * 31 % kBlock, kBlock);
}

void fill(void* data, std::size_t size, std::uint64_t number) {
  if (size == 0) return;
  const std::span<const std::byte> block = block_of(number);
  auto* bytes = static_cast<std::byte*>(data);
  for (std::size_t at = 0; at < size; at += block.size()) {
    std::memcpy(bytes + at, block.data(), std::min(block.size(), size - at));
  }
}

bool is_filled(const void* data, std::size_t size, std::uint64_t number) {
  if (size == 0) return true;
  const std::span<const std::byte> block = block_of(number);
  const auto* bytes = static_cast<const std::byte*>(data);
  for (std::size_t at = 0; at < size; at += block.size()) {
    if (std::memcmp(bytes + at, block.data(), std::min(block.size(), size - at)) != 0) return false;
  }
  return true;
}

Parcel make_parcel(std::uint64_t number, std::size_t more_bytes, std::span<const std::size_t> sizes) {
  Parcel parcel;
  parcel.bytes.resize(sizeof number + more_bytes);
  std::memcpy(parcel.bytes.data(), &number, sizeof number);
  fill(parcel.bytes.data() + sizeof number, more_bytes, number);
  for (const std::size_t size : sizes) {
    ValueRef v(abi::value_bytes(size));
    fill(v.get()->data, size, number + parcel.values.size());
    // Every third one is a string.
    if ((number + parcel.values.size()) % 3 == 0) {
      v = ValueRef(abi::value_string(static_cast<const char*>(v.get()->data), size));
    }
    parcel.values.push_back(std::move(v));
  }
  return parcel;
}

std::uint64_t number_of(const Parcel& parcel) {
  std::uint64_t number = 0;
  expect(parcel.bytes.size() >= sizeof number, "a parcel came without its bytes");
  std::memcpy(&number, parcel.bytes.data(), sizeof number);
  return number;
}

// Verifier checks each parcel: next in its pair, and whole.
class Verifier {
 public:
  explicit Verifier(std::int32_t ranks) : next_(static_cast<std::size_t>(ranks)) {}

  void check(Rank from, const Parcel& parcel) {
    const std::uint64_t number = number_of(parcel);
    std::uint64_t& next = next_[static_cast<std::size_t>(index(from))];
    expect(number == next, "from rank " + std::to_string(index(from)) + ": expected parcel " + std::to_string(next) +
                               ", got " + std::to_string(number));
    ++next;
    ++total_;
    expect(is_filled(parcel.bytes.data() + 8, parcel.bytes.size() - 8, number), "bytes differ");
    for (std::size_t i = 0; i < parcel.values.size(); ++i) {
      const abi::Value* v = parcel.values[i].get();
      const bool text = (number + i) % 3 == 0;
      expect(v->type == (text ? abi::Type::string : abi::Type::bytes), "value has another type");
      expect(is_filled(v->data, v->size, number + i), "value differs");
      expect(!text || static_cast<const char*>(v->data)[v->size] == 0, "string is not terminated");
      value_bytes_ += v->size;
    }
  }
  std::uint64_t total() const { return total_; }
  std::uint64_t value_bytes() const { return value_bytes_; }

 private:
  std::vector<std::uint64_t> next_;
  std::uint64_t total_ = 0;
  std::uint64_t value_bytes_ = 0;
};

template <class Done>
void run_until(Transport& t, const Transport::Sink& sink, Done done) {
  const auto give_up = Clock::now() + 60s;
  while (!done()) {
    if (t.progress(sink)) continue;
    t.wait(Clock::now() + 1s);
    expect(Clock::now() < give_up, "nothing comes any more");
  }
}

void no_more(Rank, Parcel&&) { throw Failed("a parcel came that nobody sent"); }

// ---------------------------------------------------------------------------- scenarios

// Every rank sends small parcels to every rank (itself too); all come, in order, once.
void fifo(Transport& t, std::uint64_t) {
  constexpr std::uint64_t kEach = 2000;
  Verifier verifier(t.size());
  const Transport::Sink sink = [&](Rank from, Parcel&& p) { verifier.check(from, p); };
  for (std::uint64_t i = 0; i < kEach; ++i) {
    for (std::int32_t to = 0; to < t.size(); ++to) t.send(Rank{to}, make_parcel(i, i % 50, {}));
    if (i % 100 == 99) t.progress(sink);
  }
  run_until(t, sink, [&] { return verifier.total() == kEach * t.size(); });
  t.barrier(no_more);
}

// Values of all sizes, between all pairs at once.
void large_values(Transport& t, std::uint64_t) {
  const std::size_t sizes[] = {0, 1, 1024, 1025, 64 * 1024, 20'000'000, 4000, 0, 20};
  Verifier verifier(t.size());
  const Transport::Sink sink = [&](Rank from, Parcel&& p) { verifier.check(from, p); };
  for (std::uint64_t i = 0; i < 2; ++i) {
    for (std::int32_t to = 0; to < t.size(); ++to) {
      t.send(Rank{to}, make_parcel(3 * i, i * 100'000, sizes));
      t.send(Rank{to}, make_parcel(3 * i + 1, 0, {}));  // may not overtake
      t.send(Rank{to}, make_parcel(3 * i + 2, 16 * 1024 - 8, {}));
    }
  }
  run_until(t, sink, [&] { return verifier.total() == 6u * t.size(); });
  std::uint64_t sum = 0;
  for (const std::size_t size : sizes) sum += size;
  expect(verifier.value_bytes() == 2 * sum * t.size(), "values have other sizes");
  t.barrier(no_more);
}

// Parcels with so many values, or so much inside, that they span many envelopes.
void long_records(Transport& t, std::uint64_t) {
  Verifier verifier(t.size());
  const Transport::Sink sink = [&](Rank from, Parcel&& p) { verifier.check(from, p); };
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::vector<std::size_t> sizes(i * 200, i % 2 == 0 ? 3 : 900);
    for (std::int32_t to = 0; to < t.size(); ++to) {
      t.send(Rank{to}, make_parcel(i, 3000 * i, sizes));
    }
  }
  run_until(t, sink, [&] { return verifier.total() == 6u * t.size(); });
  t.barrier(no_more);
}

// Random traffic from three threads of each rank, with answers sent from inside the sink; the barrier
// delivers what is still under way.
void storm(Transport& t, std::uint64_t seed) {
  constexpr int kParcels = 300;
  constexpr std::uint64_t kQuestion = 1;
  // One lock makes numbering and sending one step, so that numbers of a pair are in order.
  std::mutex mutex;
  std::vector<std::uint64_t> next(static_cast<std::size_t>(t.size()));
  std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(index(t.rank())));
  const auto send = [&](Rank to, bool question) {
    const std::lock_guard lock(mutex);
    std::size_t sizes[3];
    for (std::size_t& s : sizes) s = random() % 10 == 0 ? random() % 300'000 : random() % 1500;
    const std::size_t bytes = random() % 20 == 0 ? random() % 60'000 : random() % 200;
    Parcel parcel =
        make_parcel(next[static_cast<std::size_t>(index(to))]++, bytes, std::span(sizes).first(random() % 4));
    // The verifier knows nothing of questions: they are marked by one more value.
    if (question) parcel.values.emplace_back(abi::value_bytes(kQuestion << 20));
    t.send(to, std::move(parcel));
  };
  Verifier verifier(t.size());
  std::uint64_t questions = 0;
  const Transport::Sink sink = [&](Rank from, Parcel&& p) {
    const bool question = !p.values.empty() && p.values.back().get()->size == kQuestion << 20;
    if (question) {
      p.values.pop_back();
      ++questions;
      send(from, false);
    }
    verifier.check(from, p);
  };
  std::atomic<int> running{3};
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) {
    threads.emplace_back([&, k] {
      std::mt19937_64 own(seed + static_cast<std::uint64_t>(k));
      for (int i = 0; i < kParcels; ++i) {
        send(Rank{static_cast<std::int32_t>(own() % static_cast<std::uint64_t>(t.size()))}, own() % 50 == 0);
      }
      --running;
      t.wake();
    });
  }
  run_until(t, sink, [&] { return running == 0; });
  for (std::thread& thread : threads) thread.join();
  t.barrier(sink);  // all questions are answered now, if not all answers received
  t.barrier(sink);
  // Tell everybody how many they should have; these are the last in their pairs.
  for (std::int32_t to = 0; to < t.size(); ++to) {
    Parcel last;
    last.bytes.resize(8);
    std::memcpy(last.bytes.data(), &next[static_cast<std::size_t>(to)], 8);
    t.send(Rank{to}, std::move(last));
  }
  std::uint64_t expected = 0;
  std::int32_t told = 0;
  run_until(
      t,
      [&](Rank, Parcel&& p) {
        expected += number_of(p);
        ++told;
      },
      [&] { return told == t.size(); });
  expect(verifier.total() == expected,
         "expected " + std::to_string(expected) + " parcels, got " + std::to_string(verifier.total()));
  t.barrier(no_more);
}

// Everything sent before a barrier is delivered by it.
void barrier_delivers(Transport& t, std::uint64_t seed) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(index(t.rank())));
  for (int round = 0; round < 20; ++round) {
    Verifier verifier(t.size());
    const Transport::Sink sink = [&](Rank from, Parcel&& p) { verifier.check(from, p); };
    const std::size_t size[] = {static_cast<std::size_t>(round % 5 == 0 ? 200'000 : 10)};
    for (std::uint64_t i = 0; i < 10; ++i) {
      for (std::int32_t to = 0; to < t.size(); ++to) t.send(Rank{to}, make_parcel(i, 3, size));
    }
    if (random() % 3 == 0) std::this_thread::sleep_for(1ms);
    t.barrier(sink);
    expect(verifier.total() == 10u * t.size(), "the barrier returned too early");
    t.barrier(no_more);
  }
}

// wake() ends a wait, whether it comes before or during it.
void wake_wakes(Transport& t, std::uint64_t) {
  t.progress(no_more);
  t.wake();
  auto begin = Clock::now();
  t.wait(begin + 20s);
  expect(Clock::now() - begin < 5s, "wake() before wait() was forgotten");
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> said{false};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 4));
      said = true;
      t.wake();
    });
    begin = Clock::now();
    while (!said) {
      t.progress(no_more);
      t.wait(begin + 20s);
    }
    expect(Clock::now() - begin < 5s, "wake() did not end wait()");
    other.join();
  }
  t.barrier(no_more);
}

// A send() by another thread gets a sleeping rank to push it out.
void send_wakes(Transport& t, std::uint64_t) {
  Verifier verifier(t.size());
  const Transport::Sink sink = [&](Rank from, Parcel&& p) { verifier.check(from, p); };
  const Rank next{(index(t.rank()) + 1) % t.size()};
  std::thread other([&] {
    for (std::uint64_t i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(1ms);
      t.send(next, make_parcel(i, 0, {}));
    }
  });
  const auto begin = Clock::now();
  while (verifier.total() < 20) {
    if (!t.progress(sink)) t.wait(begin + 30s);
  }
  expect(Clock::now() - begin < 10s, "send() did not end wait()");
  other.join();
  t.barrier(no_more);
}

// A token goes round; each rank sleeps until it comes, which takes far less than any timed wait.
void arrival_wakes(Transport& t, std::uint64_t) {
  constexpr std::uint64_t kRounds = 100;
  const Rank next{(index(t.rank()) + 1) % t.size()};
  std::uint64_t seen = 0;
  const Transport::Sink sink = [&](Rank, Parcel&& p) {
    ++seen;
    if (index(t.rank()) != 0 || seen < kRounds) t.send(next, std::move(p));
  };
  const auto begin = Clock::now();
  if (index(t.rank()) == 0) t.send(next, make_parcel(0, 0, {}));
  while (seen < kRounds) {
    if (!t.progress(sink)) t.wait(begin + 50s);
    expect(Clock::now() < begin + 20s, "arrivals do not end wait()");
  }
  t.barrier(no_more);
}

constexpr Scenario kScenarios[] = {
    {"fifo", fifo},
    {"large_values", large_values},
    {"long_records", long_records},
    {"storm", storm},
    {"barrier_delivers", barrier_delivers},
    {"wake_wakes", wake_wakes},
    {"send_wakes", send_wakes},
    {"arrival_wakes", arrival_wakes},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace tessera::runtime
