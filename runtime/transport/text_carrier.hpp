// TextCarrier takes what this process prints to rank 0's process, on another host, which prints it.
//
// mpirun reads what the ranks of each host print in pieces that end anywhere, and writes the pieces of several hosts
// one after the other: lines get cut. So one process prints for all. Here a thread of the carrier reads stdout through
// a pipe and sends whole lines (a line without an end after a moment, too) over a connection of its own. Not by
// messages of the transport: who drives that may be the one that crashes, or wait for the place in the pipe that only
// its own work would make. What was printed before a process ends is printed, also in a crash (bring_out_text). Where
// the connection ends, it prints where the process would have.
//
// Example: TextCarrier carrier(address_from_rank_0);  // throws std::runtime_error: rank 0 is not reached
#pragma once

#include <string>
#include <thread>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/text_frames.hpp"

namespace tessera::runtime::text {

class TextCarrier {
 public:
  explicit TextCarrier(const TextAddress& to);
  TextCarrier(const TextCarrier&) = delete;
  // Returns when all is printed. What is printed later goes where it would have.
  ~TextCarrier();

 private:
  void run();
  void read_pipe(bool all);
  void pass_lines(bool all);
  void tell(Kind kind);
  void heed();
  void disconnect();

  Orders orders_{Stage::carried};
  int connection_;    // -1: it ended
  int before_ = -1;   // where this process printed
  int pipe_ = -1;     // what it prints now
  int written_ = -1;  // the other end, so that there is one whatever kernels close
  std::string held_;  // read, and not passed on
  bool asked_ = false;
  std::thread thread_;
};

}  // namespace tessera::runtime::text
