// PrintedMarks takes the marks (runtime/transport/printed.hpp) out of what a command prints, and tells the processes
// that have put them there when all in front of them is written.
//
// Example: PrintedMarks marks; run_foreground(command, {.output = &marks.filter()});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process.hpp"

namespace tessera::cli {

class PrintedMarks {
 public:
  PrintedMarks();  // commands that are started from now on put marks
  ~PrintedMarks();
  PrintedMarks(const PrintedMarks&) = delete;
  PrintedMarks& operator=(const PrintedMarks&) = delete;
  const Filter& filter() const { return filter_; }

  // What is to be shown of a piece; the start of a mark waits for its end.
  std::string pass(std::string_view piece);
  std::string rest();
  // All that was passed is written.
  void written();

 private:
  bool take_mark(std::string_view mark);  // false: it is none
  int file_;
  std::string held_;
  std::vector<std::pair<std::int32_t, std::uint64_t>> passed_;  // marks: rank and number
  Filter filter_;
};

}  // namespace tessera::cli
