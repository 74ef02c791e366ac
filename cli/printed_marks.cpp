#include "cli/printed_marks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/transport/printed.hpp"

namespace tessera::cli {
namespace {

namespace marks = runtime::text;

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

PrintedMarks::PrintedMarks()
    : file_(memfd_create(marks::kPrintedFile, MFD_CLOEXEC)),
      filter_{[this](std::string_view piece) { return pass(piece); }, [this] { return rest(); },
              [this] { written(); }} {
  if (file_ >= 0) setenv(marks::kPrinted, fmt::format("/proc/{}/fd/{}", getpid(), file_).c_str(), 1);
}

PrintedMarks::~PrintedMarks() {
  unsetenv(marks::kPrinted);
  if (file_ >= 0) close(file_);
}

bool PrintedMarks::take_mark(std::string_view mark) {
  int rank = 0;
  unsigned long long number = 0;
  const std::string numbers(mark.substr(std::string_view(marks::kMarkBegin).size()));
  if (std::sscanf(numbers.c_str(), "%d:%llu", &rank, &number) != 2 || rank < 0) return false;
  passed_.emplace_back(rank, number);
  return true;
}

std::string PrintedMarks::pass(std::string_view piece) {
  held_ += piece;
  std::string shown;
  for (;;) {
    const std::size_t at = begin_of_mark(held_);
    shown.append(held_, 0, at);
    held_.erase(0, at);
    const std::size_t end = held_.find(marks::kMarkEnd);
    if (end == held_.npos && held_.size() <= marks::kLongestMark) return shown;
    if (end <= marks::kLongestMark && take_mark(std::string_view(held_).substr(0, end))) {
      held_.erase(0, end + 1);
    } else {  // a program prints something alike
      shown += held_.front();
      held_.erase(0, 1);
    }
  }
}

std::string PrintedMarks::rest() { return std::exchange(held_, {}); }

void PrintedMarks::written() {
  for (const auto& [rank, number] : passed_) (void)!pwrite(file_, &number, sizeof number, marks::place_of_mark(rank));
  passed_.clear();
}

}  // namespace tessera::cli
