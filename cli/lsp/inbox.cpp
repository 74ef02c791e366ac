#include "cli/lsp/inbox.hpp"

#include <algorithm>

namespace tessera::cli::lsp {
namespace {

bool has_method(const Json& message, const char* method) {
  return message.is_object() && message.contains("method") && message["method"] == method;
}

}  // namespace

Inbox::Inbox(int fd) : reader_(fd), thread_([this] { run(); }) {}

// The reader may wait for input for ever; a server that ends early lets it go with the process.
Inbox::~Inbox() { thread_.detach(); }

void Inbox::run() {
  while (true) {
    const std::optional<std::string> bytes = reader_.next();
    Incoming incoming;
    if (bytes) {
      incoming.message = Json::parse(*bytes, nullptr, false);
    } else {
      incoming.end = true;
    }
    const std::lock_guard lock(mutex_);
    if (has_method(incoming.message, "$/cancelRequest")) {
      const Json params = incoming.message.value("params", Json::object());
      for (Incoming& waiting : queue_) {
        if (params.is_object() && params.contains("id") && waiting.message.is_object() &&
            waiting.message.contains("id") && waiting.message["id"] == params["id"]) {
          waiting.cancelled = true;
        }
      }
      continue;
    }
    queue_.push_back(std::move(incoming));
    filled_.notify_one();
    if (!bytes) return;
  }
}

std::optional<Incoming> Inbox::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) filled_.wait(lock, [this] { return !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  Incoming first = std::move(queue_.front());
  queue_.pop_front();
  return first;
}

bool Inbox::edits_waiting() {
  const std::lock_guard lock(mutex_);
  return std::any_of(queue_.begin(), queue_.end(),
                     [](const Incoming& i) { return has_method(i.message, "textDocument/didChange"); });
}

}  // namespace tessera::cli::lsp
