// Simulation: whole ranks in one thread, on a time of its own, for tests (tests/whole/world.hpp). Where one is set, the
// runtime asks it for what its threads do with each other and with the clock: to begin, to wait, to wake, to look at
// the time. Without one, these are the system's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace tessera::abi {
struct Cf;
}

namespace tessera::runtime {

struct Parcel;

class Simulation {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~Simulation() = default;

  virtual Time now() = 0;
  // A thread begins. `rank`: whose it is; kSame: of whoever starts it. Returns its number.
  static constexpr std::int32_t kSame = -1;
  virtual int start(std::int32_t rank, std::function<void()> body) = 0;
  virtual void join(int thread) = 0;
  // Until somebody notifies of `what`, or the time has come; may return for no reason.
  virtual void wait(const void* what, Time until) = 0;
  virtual void notify(const void* what, bool all) = 0;

  // This thread is about to run the fragment's code, and has nothing locked.
  virtual void runs(const abi::Cf*) = 0;
  // A message is handed to the rank; false: it is lost, for one of the two is dead.
  virtual bool delivers(std::int32_t from, std::int32_t to, const Parcel& message) = 0;
  // Of each rank.
  virtual std::size_t cores() const = 0;
};

// Set before the first rank begins, and until the last one has ended.
inline Simulation* simulation = nullptr;

}  // namespace tessera::runtime
