// What a run in a simulation has printed, as whoever passes it on sees it: in order, each line with the stream that it
// is of. He may be killed: then some of it never comes, and of what came not all is noted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/journal/captured.hpp"

namespace tessera::differential {

class ToldText {
 public:
  void clear();
  void print(const char* line);
  // Without what is printed again.
  std::vector<std::string> lines() const;
  // Has journals of a simulation print to this.
  void capture();
  // What the user has got of it goes to two files: what this run has printed, and what it has printed again. How much
  // of it that was is noted in the journal. `killed`: whoever passes it on was, at a moment that this number says; 0:
  // he was not.
  void pass_on(const std::filesystem::path& lines, const std::filesystem::path& again,
               const std::filesystem::path& journal, std::uint64_t killed) const;

 private:
  friend class SimulatedText;
  struct Line {
    std::string text;
    std::uint64_t stream = 0, upto = 0;  // 0: of a kernel that has not come to its end
    bool again = false;
  };
  mutable std::mutex mutex_;
  std::vector<Line> all_;
  std::size_t owned_ = 0;  // so many are known to be somebody's
};

}  // namespace tessera::differential
