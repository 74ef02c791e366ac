// Transport moves parcels between ranks. Two implementations: MPI (mpi_*.cpp, the only files
// that include mpi.h) and in-process (inproc_transport.cpp), where N ranks are N objects of one
// process and deliveries can be delayed and reordered across pairs under a seed. A rank cannot tell
// which one it has.
//
// Contract: parcels from a to b arrive in the order sent, exactly once. `send` may be called by any
// thread and never blocks on the peer. `progress` is called by one thread at a time (the caller
// holds the rank's progress lock): it pushes out what was sent, takes in what has arrived and hands
// each parcel to the sink. `wait` blocks the calling thread without burning CPU until something may
// have arrived, `wake` was called, or `until` has passed; spurious returns are fine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/abi/tessera/abi.hpp"
#include "runtime/cores/allowance.hpp"
#include "runtime/threads/clock.hpp"

namespace tessera::runtime {

using balancer::Rank;

// ValueRef owns one reference of a value.
class ValueRef {
 public:
  ValueRef() = default;
  explicit ValueRef(abi::Value* take) : v_(take) {}
  ValueRef(ValueRef&& o) noexcept : v_(o.v_) { o.v_ = nullptr; }
  ValueRef(const ValueRef& o) : v_(abi::retain(o.v_)) {}
  ValueRef& operator=(ValueRef o) noexcept {
    std::swap(v_, o.v_);
    return *this;
  }
  ~ValueRef() { abi::release(v_); }
  abi::Value* get() const { return v_; }
  abi::Value* take() {
    abi::Value* v = v_;
    v_ = nullptr;
    return v;
  }
  explicit operator bool() const { return v_ != nullptr; }

 private:
  abi::Value* v_ = nullptr;
};

// Parcel: one serialised message (`bytes`, made by messages.hpp) and the opaque values that travel
// beside it, never copied through the archive. Every value is of Type::bytes or Type::string; the
// receiving transport allocates them (value_bytes or value_string by the type) and receives into
// the final buffer.
struct Parcel {
  std::vector<std::byte> bytes;
  std::vector<ValueRef> values;
};

struct OnHost {
  Rank rank{0};
  cores::Allowance allowed;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  virtual std::int32_t size() const = 0;
  // Ranks of this run on this host, in order, and this rank's number among them: for sharing the cores.
  virtual const std::vector<OnHost>& host() const = 0;
  virtual std::int32_t host_rank() const = 0;
  // A rank that is reached through memory, not over a network.
  virtual bool shares_memory(Rank) const = 0;
  std::int32_t host_size() const { return static_cast<std::int32_t>(host().size()); }

  virtual void send(Rank to, Parcel parcel) = 0;
  // What the calling thread sends while it holds the bell wakes nobody. True when it lets go: something was sent, and
  // it calls progress() or wake().
  virtual bool hold_bell(bool) { return false; }

  using Sink = std::function<void(Rank from, Parcel&&)>;
  // Returns true when it moved anything (in or out), so the caller may poll again before sleeping.
  virtual bool progress(const Sink& sink) = 0;
  // `idle`: the calling thread has nothing else to do, nor has any other of this rank. Then, when the
  // host has a core for each of its ranks, a short bounded poll may come before the sleep.
  virtual void wait(Clock::time_point until, bool idle = false) = 0;
  // A first look of a microsecond or two, before anything is prepared for waiting, where messages were moved just now.
  // True: there is something for progress. When `wait` may not poll, it does not look.
  virtual bool look() { return false; }
  virtual void wake() = 0;
  // Something has come from another host that progress has not taken in yet. By who calls progress.
  virtual bool unread() { return false; }

  // Blocks until every rank has called it, delivering to `sink` meanwhile. After it returns nothing
  // sent before any rank's call is still under way.
  virtual void barrier(const Sink& sink) = 0;
  // Ends the whole run at once, from any thread, also while other ranks hang in user code.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

// What is wrong is the same for each of the processes that were started together: one of them is to say it.
struct SameOnAllRanks : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- MPI. True when this process was started by mpirun or srun.
bool started_by_launcher();
// Initialises MPI; finalises it in the destructor. Throws std::runtime_error with a message for a
// person when MPI cannot start. With the communicator of a caller, by its number as Fortran has it, MPI is there before
// and stays, and so does where the process prints.
std::unique_ptr<Transport> make_mpi_transport(std::optional<std::int32_t> communicator = {});

// ---- in-process
struct InprocOptions {
  std::int32_t ranks = 1;
  std::uint64_t seed = 0;                  // 0: deliver at once, in order
  std::chrono::microseconds max_delay{0};  // with a seed: each parcel waits 0..max_delay
  // Emulated link, for benchmarks and planner tests: added to each delivery. 0: none.
  std::chrono::nanoseconds latency{0};
  double bandwidth = 0;  // bytes per second
};
// One transport per rank; they share the queues and may outlive each other. The exit of abort() ends
// the process.
std::vector<std::unique_ptr<Transport>> make_inproc_transports(const InprocOptions&);

}  // namespace tessera::runtime
