// A connection to the control socket of a run of this user on this host (runtime/control/control_point.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tessera::cli {

// Connection sends one line and reads lines until the other side ends it. While it is `patient`, it waits for them
// however long they take.
class Connection {
 public:
  Connection(const std::filesystem::path& socket_file, bool patient);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();
  bool ok() const { return ok_; }
  // Something is there, but did not answer in time.
  bool late() const { return late_; }
  void say(const std::string& line);
  // The next line; nothing at the end.
  std::optional<std::string> hear();

 private:
  int socket_ = -1;
  bool ok_ = false;
  bool late_ = false;
  std::string heard_;
};

struct LiveRun {
  std::int32_t pid = 0;  // of rank 0
  std::filesystem::path socket;
  std::string about;
};
inline constexpr const char* kSilentRun = "does not answer: is it stopped?";

// A process that starts runs, and what it is to run has not begun.
bool is_about_to_begin(std::int32_t pid);
// choose_run finds the run that `among` is, or has started; without it the only one there is. A usage error when there
// is none or several.
LiveRun choose_run(std::optional<std::int32_t> among);

}  // namespace tessera::cli
