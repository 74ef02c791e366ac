// PolicyLog: everything one rank's policy was told and answered, exactly, as JSON lines; and the
// replay, which tells the same to a fresh policy object and compares its answers. A bug that a
// cluster shows once is a file that shows it each time. docs/policy-log.md describes the file.
//
// Written by the thread that drives the policy, at most 100 ms behind it: a rank that is killed
// leaves all but its very end.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

#include "balancer/policy.hpp"

namespace tessera::runtime {

class PolicyLog {
 public:
  // Creates `file` and writes its header. A file that can't be written shows in close().
  PolicyLog(const std::string& file, const std::string& program, std::string_view policy, const balancer::Setup&);

  // One event, when it was told, and the actions it was answered with.
  void step(balancer::Time now, const balancer::Event&, const balancer::Actions&);
  // Writes the last line, which says that nothing is missing. Returns why the file could not be written, or nothing.
  std::string close();

  // `DIRECTORY/rank-3.policy.jsonl`
  static std::string file_of(const std::string& directory, balancer::Rank);

 private:
  void put(const std::string& line);
  void flush();

  std::ofstream out_;
  std::int64_t steps_ = 0;
  balancer::Time flushed_ = 0;
  std::string wrong_;  // the first reason
};

// What is wrong with a log, for a person: no file, not a log, another version, an unknown policy.
struct PolicyLogError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Replay {
  std::string policy;
  balancer::Rank rank{0};
  std::int64_t steps = 0;    // compared, and equal unless there is a difference
  std::int64_t actions = 0;  // of those
  bool complete = false;     // the log has its last line
  std::string difference;    // empty: none; else where and what, several lines
};

// replay tells the events of a log to a new policy object, up to the first difference. Throws
// PolicyLogError.
Replay replay(const std::string& file);

}  // namespace tessera::runtime
