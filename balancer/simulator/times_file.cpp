// The lines of a trace that tell times (docs/simulator.md), both ways.
#include <algorithm>
#include <charconv>
#include <concepts>
#include <ostream>

#include "balancer/simulator/trace_lines.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::int32_t kMostWorkers = 1 << 16, kMostIndices = 1 << 10;
// Of sums of times nobody wants to think: none is longer than a hundred days.
constexpr Time kLongest = Time{1} << 53;
Time as_time(const TraceLines& in, std::string_view w) {
  const Time t = in.signed_value(w, "a time");
  if (t > kLongest || t < -kLongest) in.wrong("says '" + std::string(w) + "' where a time stands, in ns");
  return t;
}
Time time_of(TraceLines& in) { return as_time(in, in.word()); }
// A number that is no larger than that.
std::int32_t small(TraceLines& in, const char* what, std::int32_t most = INT32_MAX) {
  const std::string_view w = in.word();
  const std::int64_t n = in.signed_value(w, what);
  if (n > most || n < -1) in.wrong("says '" + std::string(w) + "' where " + what + " stands");
  return static_cast<std::int32_t>(n);
}
std::uint32_t count(TraceLines& in, const char* what, std::int32_t most = INT32_MAX) {
  return static_cast<std::uint32_t>(std::max(0, small(in, what, most)));
}
Rank rank_of(TraceLines& in) { return Rank{small(in, "a rank")}; }

// Words of the line up to `:`; what follows is text.
template <class Take>
std::string text_after(TraceLines& in, Take take) {
  for (std::string_view w = in.word(); w != ":"; w = in.word()) {
    if (w.empty()) in.wrong("has a line without its text, ` : TEXT`");
    take(w);
  }
  return in.rest();
}

std::pair<std::string_view, std::string_view> pair_of(TraceLines& in, std::string_view w) {
  const std::size_t colon = w.find(':');
  if (colon == std::string_view::npos) in.wrong("says '" + std::string(w) + "' where NUMBER:NUMBER stands");
  return {w.substr(0, colon), w.substr(colon + 1)};
}

void read_block(TraceLines& in, Times& t) {
  if (in.number("the number of the block") != t.blocks.size()) in.wrong("has blocks out of order: they count from 0");
  BlockText b;
  b.group = count(in, "a group");
  b.kernel = in.word() == "kernel";
  b.line = count(in, "a line");
  b.text = text_after(in, [&](std::string_view w) { b.names.emplace_back(w); });
  const std::size_t at = b.text.find(" in ");  // of what file: names of files may have blanks, statements anything
  if (at != std::string::npos) {
    const std::size_t size = in.value(std::string_view(b.text).substr(0, at), "the length of a file's name");
    b.file = b.text.substr(at + 4, size);
    b.text = b.text.substr(std::min(b.text.size(), at + 4 + size + 1));
  }
  t.blocks.push_back(std::move(b));
}

void read_slot(TraceLines& in, Times& t) {
  if (t.blocks.empty()) in.wrong("has a slot before any block");
  BlockText::Slot s;
  s.output = in.word() == "out";
  s.indices = count(in, "a count of indices", kMostIndices);
  s.base = in.rest();
  t.blocks.back().slots.push_back(std::move(s));
}

void read_bar(TraceLines& in, Times& t) {
  Bar b;
  b.fragment = in.number("a fragment");
  b.rank = small(in, "a rank");
  b.worker = std::max(0, small(in, "a worker"));
  b.start = time_of(in);
  b.length = time_of(in);
  if (b.length < 0) in.wrong("says that a fragment ran for less than nothing");
  b.block = count(in, "a block");
  b.first_number = t.numbers.size();
  b.first_arrival = t.arrivals.size();
  for (std::string_view w = in.word(); !w.empty(); w = in.word()) {
    if (w.front() == '@') {
      const auto [input, times] = pair_of(in, w.substr(1));
      const std::size_t colon = times.find(':'), last = times.find(':', colon + 1);
      Arrival a{static_cast<std::uint32_t>(in.value(input, "an input")), as_time(in, times.substr(0, colon))};
      if (colon != std::string_view::npos) {
        a.asked = as_time(in, times.substr(colon + 1, last - colon - 1));
        if (last != std::string_view::npos && last > colon)
          a.by = static_cast<std::uint32_t>(in.value(times.substr(last + 1), "a fragment"));
      }
      t.arrivals.push_back(a);
    } else {
      t.numbers.push_back(in.signed_value(w, "a number"));
    }
  }
  b.numbers = static_cast<std::uint32_t>(t.numbers.size() - b.first_number);
  b.arrivals = static_cast<std::uint32_t>(t.arrivals.size() - b.first_arrival);
  t.bars.push_back(b);
}

void read_decision(TraceLines& in, Times& t) {
  Decided d{time_of(in), rank_of(in), rank_of(in), rank_of(in), time_of(in), time_of(in), {}, {}};
  d.why = text_after(in, [&](std::string_view w) {
    const auto [group, count] = pair_of(in, w);
    d.fragments.push_back(
        {Group{static_cast<std::uint32_t>(in.value(group, "a group"))}, in.signed_value(count, "a count")});
  });
  t.decisions.push_back(std::move(d));
}

void read_rank(TraceLines& in, Times& t) {
  if (in.number("the number of the rank") != t.ranks.size()) in.wrong("has ranks out of order: they count from 0");
  RankInfo r;
  r.workers = std::max(0, small(in, "a count of workers", kMostWorkers));
  r.same_host = in.word() == "same-host";
  r.offset = time_of(in);
  r.error = time_of(in);
  r.host = in.rest();
  t.ranks.push_back(std::move(r));
}

}  // namespace

bool read_times(TraceLines& in, std::string_view what, Times& t) {
  if (what == "t") {
    read_bar(in, t);
  } else if (what == "m") {
    Sent m{time_of(in), rank_of(in), rank_of(in), {}, 0, 0};
    m.kind = in.word();
    m.bytes = in.signed_number("bytes");
    m.fragments = in.signed_number("a count");
    t.messages.push_back(std::move(m));
  } else if (what == "mem") {
    t.memory.push_back({time_of(in), rank_of(in), in.signed_number("bytes"), in.signed_number("bytes")});
  } else if (what == "d") {
    read_decision(in, t);
  } else if (what == "moved") {
    Moved m{in.number("a fragment"), time_of(in), rank_of(in), rank_of(in), false};
    m.by_policy = in.word() == "policy";
    if (const std::string_view since = in.word(); !since.empty()) m.since = as_time(in, since);
    if (const std::string_view last = in.word(); !last.empty())
      m.last = static_cast<std::int32_t>(in.value(last, "an input"));
    if (const std::string_view asked = in.word(); !asked.empty()) m.asked = as_time(in, asked);
    if (const std::string_view by = in.word(); !by.empty())
      m.asked_by = static_cast<std::uint32_t>(in.value(by, "a fragment"));
    t.moves.push_back(m);
  } else if (what == "run") {
    t.finished = time_of(in);
    t.simulated = in.word() == "simulated";
    t.balancer = in.rest();
  } else if (what == "from") {
    t.from = time_of(in);
    if (t.from < 0) in.wrong("says that it begins before the run");
  } else if (what == "rank") {
    read_rank(in, t);
  } else if (what == "block") {
    read_block(in, t);
  } else if (what == "slot") {
    read_slot(in, t);
  } else if (what == "source") {
    t.sources.push_back({in.rest(), {}});
  } else if (what == "|") {
    if (t.sources.empty()) in.wrong("has a line of source before any `source`");
    t.sources.back().lines.push_back(in.rest());
  } else if (what == "unattached") {
    t.unattached = in.signed_number("a count");
  } else if (what == "note") {
    t.notes.push_back(in.rest());
  } else {
    return false;
  }
  return true;
}

namespace {

// A line, made in place: there may be millions.
class Line {
 public:
  explicit Line(std::ostream& out) : out_(out) {}
  Line& begin(const char* what) {
    text_ = what;
    return *this;
  }
  template <std::integral N>
  Line& put(N n, const char* before = " ") {
    char digits[24];
    text_ += before;
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
    return *this;
  }
  Line& put(Rank r) { return put(index(r)); }
  Line& put(std::string_view word) {
    text_ += ' ';
    text_ += word;
    return *this;
  }
  // A text is one line.
  void end(std::string_view text = {}) {
    for (const char c : text) text_ += c == '\n' || c == '\r' ? ' ' : c;
    text_ += '\n';
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  }

 private:
  std::ostream& out_;
  std::string text_;
};

void write_program(Line& line, const Times& t) {
  for (std::size_t r = 0; r < t.ranks.size(); ++r) {
    const RankInfo& x = t.ranks[r];
    line.begin("rank").put(r).put(x.workers).put(x.same_host ? "same-host" : "other-host").put(x.offset).put(x.error);
    line.end(" " + x.host);
  }
  for (std::size_t b = 0; b < t.blocks.size(); ++b) {
    const BlockText& x = t.blocks[b];
    line.begin("block").put(b).put(x.group).put(x.kernel ? "kernel" : "-").put(x.line);
    for (const std::string& name : x.names) line.put(name);
    line.put(":").put(x.file.size());
    line.end(" in " + x.file + " " + x.text);
    for (const BlockText::Slot& s : x.slots) {
      line.begin("slot").put(s.output ? "out" : "in").put(s.indices).end(" " + s.base);
    }
  }
  for (const SourceText& s : t.sources) {
    line.begin("source").end(" " + s.name);
    for (const std::string& text : s.lines) line.begin("|").end(" " + text);
  }
}

}  // namespace

void write_times(std::ostream& out, const Times& t, const TracePieces& pieces) {
  Line line(out);
  line.begin("run").put(t.finished).put(t.simulated ? "simulated" : "live").end(" " + t.balancer);
  if (t.from > 0) line.begin("from").put(t.from).end();
  if (t.unattached != 0) line.begin("unattached").put(t.unattached).end();
  for (const std::string& note : t.notes) line.begin("note").end(" " + note);
  write_program(line, t);
  pieces.bars([&](const Bar& b, std::span<const std::int64_t> numbers, std::span<const Arrival> arrivals) {
    line.begin("t").put(b.fragment).put(b.rank).put(b.worker).put(b.start).put(b.length).put(b.block);
    for (const std::int64_t n : numbers) line.put(n);
    for (const Arrival& a : arrivals) {
      line.put(a.input, " @").put(a.at, ":");
      if (a.asked < 0) continue;
      line.put(a.asked, ":");
      if (a.by != Arrival::kNobody) line.put(a.by, ":");
    }
    line.end();
  });
  for (const Moved& m : t.moves) {
    line.begin("moved").put(m.fragment).put(m.at).put(m.from).put(m.to).put(m.by_policy ? "policy" : "placed");
    if (m.since >= 0) line.put(m.since);
    if (m.since >= 0 && m.last >= 0) {
      line.put(m.last);
      if (m.asked >= 0) line.put(m.asked);
      if (m.asked >= 0 && m.asked_by != Arrival::kNobody) line.put(m.asked_by);
    }
    line.end();
  }
  for (const Sent& m : t.messages) {
    line.begin("m").put(m.at).put(m.from).put(m.to).put(m.kind).put(m.bytes).put(m.fragments).end();
  }
  for (const Decided& d : t.decisions) {
    line.begin("d").put(d.at).put(d.rank).put(d.from).put(d.to).put(d.load_from).put(d.load_to);
    for (const GroupCount& g : d.fragments) line.put(index(g.group)).put(g.count, ":");
    line.put(":").end(" " + d.why);
  }
  for (const Memory& m : t.memory) line.begin("mem").put(m.at).put(m.rank).put(m.process).put(m.data).end();
}

}  // namespace tessera::balancer::simulator
