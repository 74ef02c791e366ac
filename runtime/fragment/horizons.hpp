// Horizons: those of one rank of several. Each rank has a horizon for what is held there of a name; that of the name's
// home has the values, too. What is held elsewhere the home learns by a cut through all ranks (protocol/sweeping.hpp,
// node/sweeping.hpp); nobody is asked about names that are this rank's own, as no fragment that may read them has left.
// A handle is the home's rank (16 bits) and a number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_set>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/fragment/horizon.hpp"
#include "runtime/memory/lock.hpp"

namespace tessera::runtime {

class Horizons {
 public:
  using Boxes = std::map<std::int64_t, std::vector<Horizon::Box>>;  // by handle
  struct Dead {
    std::int64_t handle;
    abi::Id id;
  };

  // `want`: asks for a sweep of names that are this rank's own, or of shared ones; any thread.
  enum class Whose : std::uint8_t { own, shared };
  Horizons(std::int32_t self, std::function<void(Whose)> want) : self_(self), want_(std::move(want)) {}
  ~Horizons();
  Horizons(const Horizons&) = delete;
  Horizons& operator=(const Horizons&) = delete;

  static std::int32_t home_of(std::int64_t handle) { return static_cast<std::int32_t>(handle >> 48); }

  Horizon* open(Horizon* next);  // of a name at home here
  // Has a name ever been at home here?
  bool has_any() const { return opened_.load(std::memory_order_relaxed) != 0; }
  void close(std::int64_t handle);
  void forget(const Horizon&);  // its scope has ended
  void hold(HeldHull*, const abi::Hull&);
  // Of a name at home here, as long as somebody holds that of `until`, of the same scope; 0: as long as it lives.
  void stay(const abi::Hull&, std::int64_t until);
  // There is a value, where its scope lives, unless that has ended. A sweep is asked for when there are twice as many
  // as the last one left.
  void note(std::int64_t handle, std::size_t part, const Horizon::Value&);

  // A fragment that may read this is to leave this rank, and is held yet, or who has made it is.
  void share(const abi::Hulls&);

  // A sweep. Each rank, before it cuts: what is held here of names of these homes. Of the names at home here all that
  // are shared are in it, each with what is held of the values that there are now: others are not found dead.
  Boxes write_down(const std::vector<std::int32_t>& homes);
  // The same of the names that are this rank's own; and what has been shared since goes.
  Boxes write_down_own();
  void leave_own(Boxes&);
  // The home: what lies in none of these boxes, nor is held here now. Of horizons that are mentioned.
  // They stay noted: whose scope ends finds them still.
  std::vector<Dead> find_dead(const Boxes&);
  // These are gone, and the sweep is over.
  void remove(const std::vector<Dead>& gone, Whose);

  // A fragment left for another rank, and this input did not go along: it is there, or the fragment has waited for it.
  // Or one came across the cut. Between the cut here and the end of the sweep nobody else may have heard of it.
  void rely(const abi::Id&);
  bool relied(const abi::Id&);
  void relies(bool on);  // from now on that is remembered, or not; forgets what was

 private:
  // What has been noted and not been found dead, about.
  struct Noted {
    std::atomic<std::size_t> values{0}, bytes{0};
    std::atomic<std::size_t> most{0}, most_bytes{0};  // with so many a sweep is asked for; 0: not set yet
    std::atomic<bool> asked{false};                   // since the last sweep
    std::size_t looks = 0;                            // of the last sweep
  };

  Horizon& at(std::int64_t handle);
  Noted& noted(const Horizon& h) { return noted_[h.is_own() ? 0 : 1]; }
  static bool is_left(Horizon&, const std::vector<Horizon::Box>& told);

  const std::int32_t self_;
  const std::function<void(Whose)> want_;
  SpinMutex mutex_;
  std::map<std::int64_t, Horizon*> all_;
  std::atomic<std::int64_t> opened_{0};
  std::size_t look_at_ = 64;  // with so many, those of other homes are looked through for such as nobody holds any more

  Noted noted_[2];  // by Whose

  SpinMutex relied_mutex_;
  bool remembers_ = false;
  std::unordered_set<std::uint64_t> relied_;  // the low halves of ids: one more that stays does no harm
};

}  // namespace tessera::runtime
