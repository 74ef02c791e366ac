// SocketWatch: sleep for a doorbell, until another host has sent something, or takes more of what we send.
//
// MPI has no call that sleeps until a message comes, so ranks on other hosts had to be polled. Over TCP the kernel
// knows: who sleeps here waits for MPI's sockets (epoll) and for the bell, and reads and writes nothing. The sockets
// are found among the open files of the process; what else is watched by that (another library's socket) wakes for
// nothing now and then. Where MPI uses something else than TCP, nothing is watched, and watches() says so.
//
// Invariant: what came after the last take() ends the sleep. Edges are kept by the kernel, as is a byte by which the
// bell was rung, until they are taken; so nothing is lost between the look at MPI and the sleep, and what is left
// unread ends one sleep, not all. A socket that was full ends it when it has room, for MPI has kept what did not fit.
// Several threads may sleep: each wakes, since the one that takes is the one that looks at MPI next.
//
// Example: SocketWatch watch(bell); ...; const auto seen = bell.count(); watch.take(); progress(); watch.sleep(seen,
// until);
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/transport/doorbell.hpp"

namespace tessera::runtime {

class SocketWatch {
 public:
  // Throws std::system_error when the system has no room for it.
  explicit SocketWatch(Doorbell& bell);

  // As Doorbell::sleep. False: time has ended it, or nothing has.
  bool sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until);
  // take forgets what has ended a sleep, before MPI is looked at. True: something had. It and find: one thread at a
  // time.
  bool take();
  // find looks for sockets that are not watched yet: connections are made when there is something to send.
  void find();
  // Another host has called since the last find(): MPI has taken the connection when it was looked at.
  bool called() const { return called_; }
  // Something has come that nobody has read yet, as find() knew the sockets: what MPI has not found may be there. By
  // who calls find().
  bool unread() const;
  // Some socket is watched that is connected to another one.
  bool watches() const { return watches_.load(std::memory_order_relaxed); }

 private:
  struct File {
    explicit File(int made);
    File(const File&) = delete;
    ~File();
    int fd;
  };

  Doorbell& bell_;
  File readable_;                 // epoll of the sockets, for what they have to read; edges
  File writable_;                 // ... for room to write
  File rung_;                     // has a byte of each ring
  std::atomic<unsigned> due_{0};  // which of these have ended a sleep and are not taken yet: a bit of each
  bool called_ = false;
  std::vector<int> sockets_;          // connected ones
  std::atomic<bool> watches_{false};  // set by who calls find()
};

}  // namespace tessera::runtime
