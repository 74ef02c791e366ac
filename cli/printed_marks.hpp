// PrintedMarks takes the marks (runtime/journal/captured.hpp) out of what a command prints, and notes in the journal's
// folder how much is written.
//
// Example: PrintedMarks marks("J"); run_foreground(command, {.output = &marks.filter()});
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process.hpp"
#include "runtime/journal/printed.hpp"

namespace tessera::cli {

class PrintedMarks {
 public:
  explicit PrintedMarks(const std::filesystem::path& journal);  // commands that are started from now on put marks
  ~PrintedMarks();
  PrintedMarks(const PrintedMarks&) = delete;
  PrintedMarks& operator=(const PrintedMarks&) = delete;
  const Filter& filter() const { return filter_; }

  // What is to be shown of a piece: whole lines, and what stands before a mark. Else one who goes on with half a line
  // would spoil the first one of the next run.
  std::string pass(std::string_view piece);
  std::string rest();
  // All that was passed is written.
  void written();

 private:
  bool take_mark(std::string_view mark);  // false: it is none
  runtime::journal::PrintedFile file_;
  std::string held_, line_;                                      // perhaps of a mark, and of a line
  std::vector<std::pair<std::uint64_t, std::uint64_t>> passed_;  // marks: stream and how much of it
  Filter filter_;
};

}  // namespace tessera::cli
