// A whole run that is recorded, and what was seen of it from outside: which code ran on which rank, and which messages
// were delivered. The trace has to say the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "runtime/abi/tessera/abi.hpp"
#include "world.hpp"

namespace tessera::differential {

class Recorded {
 public:
  // Before the run.
  void watch(whole::Settings&);
  // After it: what is untrue in the trace; nothing: all of it is true. `summary`: of the same run. `moves`: it counts
  // all that moved.
  std::string untrue(const abi::Program&, const std::filesystem::path& trace, const std::filesystem::path& summary,
                     bool moves) const;

 private:
  using Rank = std::int32_t;
  struct Sum {
    std::int64_t messages = 0, bytes = 0;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  std::map<std::pair<std::uint32_t, Rank>, std::int64_t> ran_;  // by block; of what is no loop
  std::map<std::tuple<Rank, Rank, std::string>, Sum> delivered_;
  // Of these: to a rank that has been told to stop, whose record may be closed.
  std::map<std::tuple<Rank, Rank, std::string>, Sum> late_;
  std::set<Rank> stopped_;
};

}  // namespace tessera::differential
