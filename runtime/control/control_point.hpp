// ControlPoint: where `tessera drain`, `join`, `status` and `top` reach a run: a socket that rank 0 listens
// on, named after its process, in a folder of the user's own. One request a connection, one line:
//
//   -> drain 3            <- ok rank 3 leaves, spare rank 5 joins
//                         <- ok rank 3 has left: 120 fragments and ...
//   -> join 5             <- no there is no rank 5: this run has ranks 0 to 3
//   -> about              <- ok prog.fa on 4 ranks
//   -> status             <- ok {"format":"tessera-status-1", ...}
//   -> waits              <- the same, with what waits for what
//
// A thread of its own sleeps on the socket; requests are carried out by the communication thread. A
// socket that cannot be made costs the run nothing but these commands.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::runtime {

// control_folder is where the sockets are: $XDG_RUNTIME_DIR/tessera, else /tmp/tessera-UID; each is
// named by its process id.
std::string control_folder();

// remove_left_over_sockets removes those of processes that were killed.
void remove_left_over_sockets();

class ControlPoint {
 public:
  enum class Verb : std::uint8_t { drain, join, status, waits };
  struct Request {
    balancer::Rank rank{0};
    Verb verb = Verb::drain;
    int connection = -1;
  };

  // `about` says what runs, for people; `wake` is called when take() has something.
  ControlPoint(std::string about, void (*wake)(void*), void* whom);
  ~ControlPoint();

  // Communication thread: what was asked since the last call. Cheap when nothing was.
  std::vector<Request> take();
  // Any thread: a line of the answer; `last` ends the connection. It is sent by the thread of the socket: who asked may
  // be slow to read.
  void answer(int connection, bool accepted, const std::string& text, bool last);

 private:
  void listen_loop();
  void serve(int connection);
  void send_all();

  const std::string about_;
  void (*const wake_)(void*);
  void* const whom_;
  std::string path_;
  int socket_ = -1;
  int wakes_ = -1;  // an eventfd
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::mutex mutex_;
  std::vector<Request> requests_;
  std::vector<int> open_;  // connections that wait for their last line
  struct Line {
    int connection;
    std::string text;
    bool last;
  };
  std::vector<Line> lines_;  // to be sent
  std::atomic<bool> any_{false};
};

}  // namespace tessera::runtime
