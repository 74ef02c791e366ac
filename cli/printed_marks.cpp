#include "cli/printed_marks.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/journal/captured.hpp"

namespace tessera::cli {
namespace {

namespace marks = runtime::journal;

// Where in `all` a mark begins, or may: its start is the end of it.
std::size_t begin_of_mark(std::string_view all) {
  const std::string_view begin = marks::kMarkBegin;
  const std::size_t whole = all.find(begin);
  if (whole != all.npos) return whole;
  for (std::size_t n = std::min(begin.size() - 1, all.size()); n > 0; --n) {
    if (all.ends_with(begin.substr(0, n))) return all.size() - n;
  }
  return all.size();
}

}  // namespace

PrintedMarks::PrintedMarks(const std::filesystem::path& journal)
    : file_(journal),
      filter_{[this](std::string_view piece) { return pass(piece); }, [this] { return rest(); },
              [this] { written(); }} {
  setenv(marks::kMarks, "1", 1);
}

PrintedMarks::~PrintedMarks() { unsetenv(marks::kMarks); }

bool PrintedMarks::take_mark(std::string_view mark) {
  unsigned long long stream = 0, upto = 0;
  const std::string numbers(mark.substr(std::string_view(marks::kMarkBegin).size()));
  if (std::sscanf(numbers.c_str(), "%llx:%llx", &stream, &upto) != 2) return false;
  passed_.emplace_back(stream, upto);
  return true;
}

std::string PrintedMarks::pass(std::string_view piece) {
  held_ += piece;
  std::string shown;
  for (;;) {
    const std::size_t at = begin_of_mark(held_);
    line_.append(held_, 0, at);
    held_.erase(0, at);
    const std::size_t end = held_.find(marks::kMarkEnd);
    if (end == held_.npos && held_.size() <= marks::kLongestMark) break;
    if (end <= marks::kLongestMark && take_mark(std::string_view(held_).substr(0, end))) {
      held_.erase(0, end + 1);
      shown += std::exchange(line_, {});
    } else {  // a program prints something alike
      line_ += held_.front();
      held_.erase(0, 1);
    }
  }
  const std::size_t lines = line_.rfind('\n') + 1;
  shown.append(line_, 0, lines);
  line_.erase(0, lines);
  return shown;
}

std::string PrintedMarks::rest() { return std::exchange(line_, {}) + std::exchange(held_, {}); }

void PrintedMarks::written() {
  for (const auto& [stream, upto] : passed_) file_.note(stream, upto);
  passed_.clear();
}

}  // namespace tessera::cli
