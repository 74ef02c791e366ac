// Inbox: messages that a thread of its own reads, so that a long check can see what came meanwhile.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "cli/lsp/framing.hpp"

namespace tessera::cli::lsp {

using Json = nlohmann::json;

struct Incoming {
  Json message;  // discarded when the bytes are no JSON
  bool cancelled = false;
  bool end = false;  // nothing will come any more
};

// One thread reads, one takes.
class Inbox {
 public:
  explicit Inbox(int fd);
  ~Inbox();

  // take returns the oldest message; nothing when there is none and `wait` is false.
  std::optional<Incoming> take(bool wait);
  // edits_waiting: a document has changed again; what is computed now is already old.
  bool edits_waiting();

 private:
  void run();

  FrameReader reader_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Incoming> queue_;
  std::thread thread_;
};

}  // namespace tessera::cli::lsp
