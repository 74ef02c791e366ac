// TraceLines: a trace line by line and word by word, with what is to be said of a wrong one.
#pragma once

#include <algorithm>
#include <charconv>
#include <istream>
#include <string>
#include <string_view>

#include "balancer/simulator/trace.hpp"
#include "balancer/simulator/trace_sum.hpp"

namespace tessera::balancer::simulator {

class TraceLines {
 public:
  TraceLines(const std::string& path, std::istream& in) : path_(path), in_(in) {}

  [[noreturn]] void wrong(const std::string& what) const {
    throw TraceError(path_ + ":" + std::to_string(std::max(line_, 1)) + ": the trace " + what);
  }
  // The next line that says something.
  bool next() {
    if (line_ > 0) sum_.add(text_), sum_.add("\n");
    // The last line has the sum of those before it.
    for (; std::getline(in_, text_); sum_.add(text_), sum_.add("\n")) {
      ++line_;
      rest_ = text_;
      if (!rest_.empty() && rest_.back() == '\r') rest_.remove_suffix(1);
      if (!rest_.empty() && rest_.front() != '#') return true;
    }
    return false;
  }
  std::string_view word() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    const std::string_view w = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(w.size());
    return w;
  }
  std::uint64_t value(std::string_view w, const char* what) const {
    std::uint64_t x = 0;
    const char* end = w.data() + w.size();
    const auto [stop, error] = std::from_chars(w.data(), end, x);
    if (error != std::errc{} || stop != end || x > 1ull << 62) {
      wrong("says '" + std::string(w) + "' where " + what + " stands, a whole number; a fragment is " + kFields);
    }
    return x;
  }
  std::uint64_t number(const char* what) { return value(word(), what); }
  // Of a rank, say, which may be -1.
  std::int64_t signed_number(const char* what) { return signed_value(word(), what); }
  std::int64_t signed_value(std::string_view w, const char* what) const {
    std::int64_t x = 0;
    const char* end = w.data() + w.size();
    const auto [stop, error] = std::from_chars(w.data(), end, x);
    if (error != std::errc{} || stop != end) {
      wrong("says '" + std::string(w) + "' where " + what + " stands, a whole number");
    }
    return x;
  }
  // What is left of the line, without the blank before it.
  std::string rest() const { return std::string(rest_.empty() ? rest_ : rest_.substr(1)); }

 protected:
  static constexpr const char* kFields = "`f ID GROUP RANK PARENT WEIGHT_NS OUTPUT_BYTES [INPUT:BYTES ...] [series=N]`";
  const std::string& path_;
  std::istream& in_;
  std::string text_;
  std::string_view rest_;
  int line_ = 0;
  TraceSum sum_;  // of the lines before this one
};

// read_times reads a line that begins with this word, if it says something of times; false: it does not.
bool read_times(TraceLines&, std::string_view what, Times&);
inline constexpr const char* kTimesLines =
    ", run, from, rank, block, slot, source, |, t, moved, m, d, mem, note (docs/simulator.md)";

void write_times(std::ostream&, const Times&, const TracePieces&);

}  // namespace tessera::balancer::simulator
