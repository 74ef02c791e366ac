// TextCollector prints what ranks of other hosts print, in rank 0's process: see text_carrier.hpp.
//
// Example: TextCollector all;  // throws std::runtime_error: no connections here
//          give_all(all.address()); wait_until_all_are_connected(); all.close_door();
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/text_frames.hpp"

namespace tessera::runtime::text {

class TextCollector {
 public:
  TextCollector();
  TextCollector(const TextCollector&) = delete;
  // After all carriers are gone.
  ~TextCollector();
  const TextAddress& address() const { return address_; }
  // Nobody else will come.
  void close_door();

 private:
  struct Carrier;
  struct Round {        // of a flush
    Carrier* asked_by;  // null: this process
    int missing;        // carriers that have not drained
  };
  struct Carrier {
    int connection;      // -1: it has ended
    bool known = false;  // it has shown the key
    std::string came{};
    std::deque<std::shared_ptr<Round>> drains{};  // asked for, in order
  };
  void run();
  void let_in();
  bool take(Carrier& c);
  void flush(Carrier* asked_by);
  void drained(Round& round);
  void leave(Carrier& c);

  Orders orders_{Stage::carried};
  TextAddress address_;
  int door_;  // listens
  int out_ = -1;
  std::vector<std::unique_ptr<Carrier>> carriers_;
  std::thread thread_;
};

}  // namespace tessera::runtime::text
