// Runs a command as a child and tells all that a test wants to know of it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tessera::tests {

struct Outcome {
  int exit_code = -1;      // 128 + signal when a signal ended it
  bool timed_out = false;  // it was killed after the time limit; err tells where its threads stood
  std::string out;         // stdout
  std::string err;         // stderr
  // Processes started by the command, directly or not, that were still there two seconds after it
  // ended: "pid name". They are killed.
  std::vector<std::string> survivors;
};

// run_child runs `command` (found in PATH), with no stdin, until it ends or `limit` has passed.
Outcome run_child(const std::vector<std::string>& command, std::chrono::seconds limit);

// The command as a person would type it, for messages.
std::string shown(const std::vector<std::string>& command);

}  // namespace tessera::tests
