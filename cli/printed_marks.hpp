// PrintedMarks takes the marks (runtime/journal/captured.hpp) out of what a command prints, and notes in the journal's
// folder how much is written.
//
// Example: PrintedMarks marks("J"); run_foreground(command, {.output = &marks.filter()});
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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

  // What is to be shown: what stands before a mark. Else who ends within a line would spoil the first one of the next
  // run.
  std::string pass(std::string_view piece);
  // ... and when the command has ended. Of one that has not come to its end, half a line without a mark was on the way,
  // and where a signal has ended it whole ones, too: they are printed again. Where half a line is shown (of a question,
  // say) it is ended.
  std::string rest(int exit_code);
  // All that was passed is written.
  void written();

 private:
  bool take_mark(std::string_view mark, std::string& shown);  // false: it is none
  bool take_piece(std::size_t size, std::uint64_t sum, std::string& shown);
  struct Stream {
    std::uint64_t upto;
    bool whole;  // nothing of it was lost on the way: else it is not noted any more
  };
  runtime::journal::PrintedFile file_;
  std::map<std::uint64_t, Stream> streams_;
  std::string held_, line_;                                      // perhaps of a mark, and what came since the last one
  std::string others_;                                           // of pieces of which the rest has not come
  bool in_line_ = false;                                         // what was shown ends within one
  std::vector<std::pair<std::uint64_t, std::uint64_t>> passed_;  // marks: stream and how much of it
  Filter filter_;
};

}  // namespace tessera::cli
