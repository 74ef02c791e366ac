// Reading traces: one line per fragment; numbers and words, separated by blanks.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "balancer/simulator/trace.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);
constexpr const char* kFields = "`f ID GROUP RANK PARENT WEIGHT_NS OUTPUT_BYTES [INPUT:BYTES ...] [series=N]`";

class Parser {
 public:
  Parser(const std::string& path, std::ifstream& in) : path_(path), in_(in) {}

  Trace parse() {
    if (!next() || word() != "tessera-trace") wrong("is no trace: it begins with `tessera-trace 1`");
    const std::string_view version = word();
    if (version != std::to_string(kTraceVersion)) {
      wrong("has version '" + std::string(version) + "' of the format; this tessera reads " +
            std::to_string(kTraceVersion) + ": record it again");
    }
    bool ended = false;
    while (!ended && next()) {
      const std::string_view what = word();
      if (what == "f") {
        fragment();
      } else if (what == "group") {
        group();
      } else if (what == "program") {
        trace_.hash = word();
        if (trace_.hash == "-") trace_.hash.clear();
        trace_.program = rest_.empty() ? rest_ : rest_.substr(1);
      } else if (what == "end") {
        if (number("the count of fragments") != trace_.work.fragments.size()) {
          wrong("has another number of fragments than its end says");
        }
        ended = true;
      } else {
        wrong("has a line that begins with '" + std::string(what) + "'; known are program, group, f, end");
      }
    }
    if (!ended) wrong("is cut off: its `end` line is missing");
    link();
    return std::move(trace_);
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    throw TraceError(path_ + ":" + std::to_string(std::max(line_, 1)) + ": the trace " + what);
  }
  // The next line that says something.
  bool next() {
    while (std::getline(in_, text_)) {
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
    if (w.empty() || std::from_chars(w.data(), end, x).ptr != end || x > 1ull << 62) {
      wrong("says '" + std::string(w) + "' where " + what + " stands, a whole number; a fragment is " + kFields);
    }
    return x;
  }
  std::uint64_t number(const char* what) { return value(word(), what); }

  void group() {
    if (number("the number of the group") != trace_.work.groups.size()) {
      wrong("has groups out of order: they count from 0");
    }
    if (trace_.work.groups.size() == UINT16_MAX) wrong("has too many groups");
    GroupInfo g;
    const Group self{static_cast<std::uint32_t>(trace_.work.groups.size())};
    for (;;) {
      const std::string_view flag = word();
      if (flag == "stealable") {
        g.stealable = true;
      } else if (flag == "range") {
        g.range = true;
      } else if (flag == "bulk") {
        g.bulk = true;
      } else if (flag == "stack") {
        trace_.work.stacks.push_back(self);
      } else if (flag.rfind("body=", 0) == 0) {
        g.body.push_back(Group{static_cast<std::uint32_t>(value(flag.substr(5), "a group"))});
      } else if (flag == ":") {
        break;
      } else {
        wrong("says '" + std::string(flag) +
              "' of a group; a group is `group N [stealable] [range] [bulk] [stack] [body=N ...] : LABEL`");
      }
    }
    if (!rest_.empty()) g.label = rest_.substr(1);
    trace_.work.groups.push_back(std::move(g));
  }

  void fragment() {
    Fragment f{.group = Group{0}, .weight = 0};
    const std::uint64_t id = number("the id");
    if (!number_of_.emplace(id, trace_.work.fragments.size()).second) {
      wrong("has fragment " + std::to_string(id) + " twice");
    }
    const std::uint64_t group = number("the group");
    if (group >= trace_.work.groups.size()) {
      wrong("has no group " + std::to_string(group) + " before this line");
    }
    f.group = Group{static_cast<std::uint32_t>(group)};
    if (const std::string_view rank = word(); rank != "-") {
      const std::uint64_t r = value(rank, "the rank (or -)");
      if (r >= 1 << 20) wrong("names rank " + std::to_string(r));
      f.home = Rank{static_cast<std::int32_t>(r)};
    }
    const std::string_view parent = word();
    parents_.push_back(parent == "-" ? kNoParent : value(parent, "the parent (or -)"));
    f.weight = static_cast<Time>(number("the weight"));
    f.output = static_cast<std::int64_t>(number("the output"));
    for (std::string_view w = word(); !w.empty(); w = word()) {
      if (w.rfind("series=", 0) == 0) {
        const std::uint64_t number = value(w.substr(7), "a series");
        // Numbered anew, from 1 on: whoever reads them counts by them.
        if (number > 0)
          f.series = series_.try_emplace(number, static_cast<std::uint32_t>(series_.size() + 1)).first->second;
        continue;
      }
      const std::size_t colon = w.find(':');
      if (colon == std::string_view::npos) value("", "an input, INPUT:BYTES,");
      const auto bytes = static_cast<std::int64_t>(value(w.substr(colon + 1), "bytes"));
      if (w.substr(0, colon) == "-") {
        f.bytes += bytes;
      } else {
        f.inputs.push_back({value(w.substr(0, colon), "an input"), bytes});
      }
    }
    lines_.push_back(line_);
    trace_.work.fragments.push_back(std::move(f));
  }

  std::size_t find(std::uint64_t id, std::size_t by, const char* as) {
    const auto it = number_of_.find(id);
    if (it == number_of_.end()) {
      line_ = lines_[by];
      wrong("has no fragment " + std::to_string(id) + ", which is " + as + " of this one");
    }
    return it->second;
  }
  // From ids to places in the list.
  void link() {
    Workload& w = trace_.work;
    for (std::size_t i = 0; i < w.fragments.size(); ++i) {
      for (Input& input : w.fragments[i].inputs) {
        input.fragment = find(input.fragment, i, "an input");
      }
      if (parents_[i] == kNoParent) {
        const Rank home = w.fragments[i].home;
        w.births.push_back({0, index(home) < 0 ? Rank{0} : home, i});
      } else {
        w.fragments[find(parents_[i], i, "the parent")].children.push_back(i);
      }
    }
    for (const GroupInfo& g : w.groups) {
      for (const Group b : g.body) {
        if (index(b) >= w.groups.size()) wrong("names a group in a body that it does not have");
      }
    }
    try {
      w.critical_path();
    } catch (const std::invalid_argument& e) {
      wrong(std::string("is impossible: ") + e.what());
    }
  }

  const std::string& path_;
  std::ifstream& in_;
  std::string text_;
  std::string_view rest_;
  int line_ = 0;
  Trace trace_;
  std::unordered_map<std::uint64_t, std::size_t> number_of_;
  std::unordered_map<std::uint64_t, std::uint32_t> series_;
  std::vector<std::uint64_t> parents_;
  std::vector<int> lines_;
};

}  // namespace

Trace read_trace(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw TraceError("no such trace: " + path);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw TraceError("trace " + path + " cannot be read: " + std::strerror(errno));
  return Parser(path, in).parse();
}

}  // namespace tessera::balancer::simulator
