// How much the values of each name hold, by samples: of all bytes that fragments assign, about one value for each
// kEvery, and all that are larger. A sampled value is marked (Value::pool) and counted until it is freed, so that all
// others cost nothing but counting their bytes down. What comes from other ranks is counted where it was made.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/memory/value.hpp"

namespace tessera::runtime {

// What the values of one name held, about, when those of all names held most.
struct HeldBytes {
  std::string name;
  std::int64_t bytes = 0;
};

// Do values pile up? They have grown; or loops take turns, so that who reads them is made.
enum class Pile : std::uint8_t { no, grown, turns };

// Of one rank. Values may outlive it.
class Held : public std::enable_shared_from_this<Held> {
 public:
  static constexpr std::int64_t kEvery = 256 << 10;
  static constexpr std::size_t kMost = 8;
  // So much more is much more; of more than eight times that, an eighth is. Twice as much each time that it has not
  // helped to say so: values that are there for long are no pile.
  static constexpr std::int64_t kGrows = 2 << 20;
  static constexpr std::int64_t kMostInVain = 64;

  static std::int64_t bytes_of(const abi::Value* v) { return static_cast<std::int64_t>(v->size) + kBesideValue; }
  explicit Held(std::uint32_t groups) : of_groups_(groups) {}
  // A fragment of the name has been given a value that is to be a sample, unless it is one, by one of the group.
  void sample(const std::string& name, std::uint32_t group, abi::Value*);
  // The names that held most when all together did, with copies; the largest first.
  std::vector<HeldBytes> most() const;
  // Copies of other ranks' values, large ones, hold so many bytes more here; or fewer.
  void copied(std::int64_t bytes);
  std::int64_t copies() const { return copies_.load(std::memory_order_relaxed); }
  static constexpr std::string_view kCopies = "copies of other ranks' values";
  // Of all names, just now.
  std::int64_t now() const { return now_.load(std::memory_order_relaxed); }
  // Of all that have ever been made.
  std::int64_t made() const { return made_.load(std::memory_order_relaxed); }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(of_groups_.size()); }
  // Of those that fragments of the group have made.
  std::int64_t of_group(std::uint32_t group) const { return of_groups_[group].load(std::memory_order_relaxed); }
  // Do they hold much more than at the last such answer, or than they have held at least since then? Once; then loops
  // take turns, until that is `in_vain`.
  bool grows() {
    Pile grown = Pile::grown;
    return pile() == grown && pile_.compare_exchange_strong(grown, Pile::turns, std::memory_order_relaxed);
  }
  Pile pile() const { return pile_.load(std::memory_order_relaxed); }
  bool in_vain() {
    Pile turns = Pile::turns;
    return pile_.compare_exchange_strong(turns, Pile::no, std::memory_order_relaxed);
  }

 private:
  friend void no_longer_held(const abi::Value*);
  void add(const std::string& name, std::uint32_t group, std::int64_t bytes);
  void note_peak();
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> names_, at_peak_;
  std::int64_t copies_at_peak_ = 0;
  std::vector<std::atomic<std::int64_t>> of_groups_;        // written under the lock
  std::atomic<std::int64_t> now_{0}, made_{0}, copies_{0};  // likewise
  std::int64_t grown_at_ = kGrows, told_at_ = 0;
  std::int64_t in_vain_ = 1;
  std::atomic<Pile> pile_{Pile::no};
  // With copies, when at_peak_ was taken; by steps, so that names are not copied each time.
  std::int64_t peak_ = 0;
};

// Of large values that have come from another rank: how many bytes have gone again. Values may outlive it.
class HeldFrom : public std::enable_shared_from_this<HeldFrom> {
 public:
  explicit HeldFrom(std::shared_ptr<Held> here) : here_(std::move(here)) {}
  // It has come. If ranks share it, it is its maker's.
  void sample(abi::Value*);
  std::int64_t gone() const { return gone_.load(std::memory_order_relaxed); }

 private:
  friend void no_longer_held(const abi::Value*);
  void goes(std::int64_t bytes) { gone_.fetch_add(bytes, std::memory_order_relaxed); }
  const std::shared_ptr<Held> here_;
  std::atomic<std::int64_t> gone_{0};
};

// A worker's way to the next sample.
class HeldCountdown {
 public:
  // True: this one is a sample, and again() is to be called.
  bool next(const abi::Value* v) { return (left_ -= Held::bytes_of(v)) < 0; }
  void again();
  // often is for small programs of tests: some of their values are to be samples, too. Nobody adds up what they hold.
  void often() { left_ = every_ = kOften; }

 private:
  static constexpr std::int64_t kOften = 500;
  std::int64_t every_ = Held::kEvery;
  std::int64_t left_ = Held::kEvery;
  std::uint64_t random_ = 0x9E3779B97F4A7C15u;
};

// A sampled value is freed.
void no_longer_held(const abi::Value*);

}  // namespace tessera::runtime
