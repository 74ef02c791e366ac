// SocketWatch: rings a doorbell when another host has sent something, or takes more of what we send.
//
// MPI has no call that sleeps until a message comes, so ranks on other hosts had to be polled. Over TCP the kernel
// knows: a thread of this class waits for MPI's sockets (epoll), and reads and writes nothing. It finds them among the
// open files of the process; what else is watched by that (another library's socket) rings for nothing now and then.
// Where MPI uses something else than TCP, nothing is watched, and watches() says so.
//
// The thread wakes only when somebody sleeps: arm() before sleeping, once for each sleep. Invariant: what came after
// the last look at MPI before arm() rings. Edges are kept by the kernel while nobody waits for them, so nothing is lost
// between the look and arm(); and what is left unread rings once, not for ever. A socket that was full rings when it
// has room, for MPI has kept what did not fit.
//
// Example: SocketWatch watch(bell); ...; const auto seen = bell.count(); progress(); watch.arm(); bell.sleep(seen,
// until);
#pragma once

#include <atomic>
#include <thread>

#include "runtime/transport/doorbell.hpp"

namespace tessera::runtime {

class SocketWatch {
 public:
  // Throws std::system_error when the system has no room for it.
  explicit SocketWatch(Doorbell& bell);
  SocketWatch(const SocketWatch&) = delete;
  ~SocketWatch();

  void arm();
  // find looks for sockets that are not watched yet: connections are made when there is something to send. One thread
  // at a time.
  void find();
  // Some socket is watched that is connected to another one.
  bool watches() const { return watches_.load(std::memory_order_relaxed); }

 private:
  struct File {
    explicit File(int made);
    File(const File&) = delete;
    ~File();
    int fd;
  };
  void run();

  Doorbell& bell_;
  File readable_;  // epoll of the sockets, for what they have to read; edges
  File writable_;  // ... for room to write
  File either_;    // epoll of both: what the thread waits for
  File stop_;
  std::atomic<bool> watches_{false};  // set by who calls find()
  std::thread thread_;
};

}  // namespace tessera::runtime
