#include "cli/printed_marks.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/journal/captured.hpp"
#include "runtime/run.hpp"

namespace tessera::cli {
namespace {

namespace marks = runtime::journal;

// More without a mark is by somebody who puts none: a piece is a line of a megabyte, or one of a few.
constexpr std::size_t kMostHeld = std::size_t{4} << 20;

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
      filter_{[this](std::string_view piece) { return pass(piece); }, [this](int code) { return rest(code); },
              [this] { written(); }} {
  setenv(marks::kMarks, "1", 1);
}

PrintedMarks::~PrintedMarks() { unsetenv(marks::kMarks); }

// A piece whose mark has come stands at the end. What is in front of it, parts of others' pieces, stays until their
// marks come; unless it is whole lines by somebody who puts none.
bool PrintedMarks::take_piece(std::size_t size, std::uint64_t sum, std::string& shown) {
  std::string all = std::exchange(others_, {});
  const std::size_t came = all.size();
  all += std::exchange(line_, {});
  const std::size_t before = size <= all.size() ? all.size() - size : 0;
  const std::string_view piece = std::string_view(all).substr(before);
  if (piece.size() != size || XXH3_64bits(piece.data(), size) != sum) {
    others_ = std::move(all);
    return false;
  }
  if (came == 0 && before > 0 && all[before - 1] == '\n') {
    shown += all;
  } else {
    shown += piece;
    others_ = all.substr(0, before);
  }
  return true;
}

bool PrintedMarks::take_mark(std::string_view mark, std::string& shown) {
  unsigned long long stream = 0, upto = 0, size = 0, sum = 0;
  const std::string numbers(mark.substr(std::string_view(marks::kMarkBegin).size()));
  if (std::sscanf(numbers.c_str(), "%llx:%llx:%llx:%llx", &stream, &upto, &size, &sum) != 4) return false;
  Stream& s = streams_.try_emplace(stream, Stream{upto - size, true}).first->second;
  const bool whole = take_piece(size, sum, shown);
  s.whole = s.whole && whole && s.upto == upto - size;
  s.upto = upto;
  if (s.whole) passed_.emplace_back(stream, upto);
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
    if (end <= marks::kLongestMark && take_mark(std::string_view(held_).substr(0, end), shown)) {
      held_.erase(0, end + 1);
    } else {  // a program prints something alike
      line_ += held_.front();
      held_.erase(0, 1);
    }
  }
  if (others_.size() + line_.size() > kMostHeld) shown += std::exchange(others_, {}) + std::exchange(line_, {});
  if (!shown.empty()) in_line_ = shown.back() != '\n';
  return shown;
}

std::string PrintedMarks::rest(int exit_code) {
  const std::string others = std::exchange(others_, {}), left = std::exchange(line_, {}) + std::exchange(held_, {});
  if (exit_code == 0) return others + left;
  // Where a signal has ended it, what was on the way may have holes.
  const bool by_signal = exit_code == runtime::kExitContinue || exit_code > 128;
  const std::string lines = others.empty() && !by_signal ? left.substr(0, left.rfind('\n') + 1) : "";
  return (std::exchange(in_line_, false) ? "\n" : "") + lines;
}

void PrintedMarks::written() {
  for (const auto& [stream, upto] : passed_) file_.note(stream, upto);
  passed_.clear();
}

}  // namespace tessera::cli
