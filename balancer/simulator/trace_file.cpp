// Reading traces: one line per fragment; numbers and words, separated by blanks.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "balancer/simulator/trace.hpp"
#include "balancer/simulator/trace_lines.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

class Parser : TraceLines {
 public:
  Parser(const std::string& path, std::istream& in) : TraceLines(path, in) {}

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
        // One that somebody has written may have no sum.
        if (const std::string_view sum = word(); !sum.empty() && sum != sum_.text()) {
          wrong("is damaged: it is not what its sum stands for. If you have changed it, take the sum away: `end " +
                std::to_string(trace_.work.fragments.size()) + "`");
        }
        ended = true;
      } else if (!read_times(*this, what, trace_.times)) {
        wrong("has a line that begins with '" + std::string(what) + "'; known are program, group, f, end" +
              kTimesLines);
      }
    }
    if (!ended) wrong("is cut off: its `end` line is missing");
    if (next()) wrong("has a line behind its end");
    link();
    return std::move(trace_);
  }

 private:
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
    link_times();
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

  // What times say of fragments and groups that are not there would be found by nobody later.
  void link_times() {
    Times& t = trace_.times;
    if (t.finished > 0 && t.from >= t.finished) wrong("is of the time from when its run had ended on");
    const auto known = [&](std::size_t& fragment) {
      const auto it = number_of_.find(fragment);
      if (it == number_of_.end())
        wrong("has times of fragment " + std::to_string(fragment) + ", which it does not have");
      fragment = it->second;
    };
    const auto ranks = static_cast<std::int32_t>(t.ranks.size());
    const auto known_rank = [&](std::int32_t rank) {
      if (rank < 0 || rank >= ranks) wrong("has times of rank " + std::to_string(rank) + ", of which it says nothing");
    };
    for (Bar& b : t.bars) {
      known(b.fragment);
      known_rank(b.rank);
      if (b.block >= t.blocks.size())
        wrong("has times of block " + std::to_string(b.block) + ", of which it says nothing");
      if (b.worker >= t.ranks[static_cast<std::size_t>(b.rank)].workers)
        wrong("has times of worker " + std::to_string(b.worker) + " of rank " + std::to_string(b.rank) +
              ", which has fewer");
      for (const Arrival& a : t.arrivals_of(b)) {
        if (a.input >= trace_.work.fragments[b.fragment].inputs.size())
          wrong("has times of inputs that no fragment has");
      }
    }
    const auto known_asker = [&](std::uint32_t& fragment) {
      if (fragment == Arrival::kNobody) return;
      std::size_t by = fragment;
      known(by);
      fragment = static_cast<std::uint32_t>(by);
    };
    for (Arrival& a : t.arrivals) known_asker(a.by);
    for (Moved& m : t.moves) known_asker(m.asked_by);
    for (Moved& m : t.moves) known(m.fragment), known_rank(index(m.from)), known_rank(index(m.to));
    for (const Sent& m : t.messages) known_rank(index(m.from)), known_rank(index(m.to));
    for (const Memory& m : t.memory) known_rank(index(m.rank));
    for (const Decided& d : t.decisions) {
      for (const GroupCount& g : d.fragments) {
        if (index(g.group) >= trace_.work.groups.size()) wrong("has a decision about a group that it does not have");
      }
    }
    for (const BlockText& b : t.blocks) {
      if (b.group >= trace_.work.groups.size()) wrong("has a block of a group that it does not have");
    }
  }

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
