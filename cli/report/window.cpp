// A part of a recorded run, as if no more had been kept of it.
#include <fmt/format.h>

#include <algorithm>

#include "balancer/units.hpp"
#include "cli/failure.hpp"
#include "cli/report/run_record.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using balancer::duration_text;

bool is_within(const sim::Bar& b, Time from, Time to) {
  return b.start < to && b.start + std::max<Time>(1, b.length) > from;
}

class Cropper {
 public:
  Cropper(const sim::Trace& whole, Time from, Time to) : whole_(whole), from_(from), to_(to) {}

  sim::Trace crop() {
    number();
    part_.program = whole_.program, part_.hash = whole_.hash;
    part_.work.groups = whole_.work.groups, part_.work.stacks = whole_.work.stacks;
    for (std::size_t f = 0; f < now_.size(); ++f) {
      if (now_[f] != kNobody) fragment(f);
    }
    times();
    births();
    return std::move(part_);
  }

 private:
  bool within(const sim::Bar& b) const { return is_within(b, from_, to_); }

  // Those that ran within, and the ends of others that some of these wait for.
  void number() {
    const auto& fragments = whole_.work.fragments;
    std::vector<bool> kept(fragments.size()), ran(fragments.size()), read(fragments.size());
    for (const sim::Bar& b : whole_.times.bars)
      ran[b.fragment] = true, kept[b.fragment] = kept[b.fragment] || within(b);
    for (std::size_t f = 0; f < fragments.size(); ++f) {
      for (const sim::Input& i : fragments[f].inputs) read[i.fragment] = read[i.fragment] || kept[f];
    }
    const auto is_kept = [&](const sim::Input& i) { return kept[i.fragment]; };
    for (std::size_t f = 0; f < fragments.size(); ++f) {
      const auto& in = fragments[f].inputs;
      if (!ran[f] && read[f] && std::any_of(in.begin(), in.end(), is_kept)) kept[f] = true;
    }
    now_.assign(fragments.size(), kNobody);
    std::size_t count = 0;
    for (std::size_t f = 0; f < fragments.size(); ++f) {
      if (kept[f]) now_[f] = count++;
    }
  }

  void fragment(std::size_t f) {
    sim::Fragment x = whole_.work.fragments[f];
    std::erase_if(x.children, [&](std::size_t& c) { return (c = now_[c]) == kNobody; });
    x.inputs.clear();
    for (const sim::Input& i : whole_.work.fragments[f].inputs) {
      if (now_[i.fragment] == kNobody) {
        x.bytes += i.bytes;
      } else {
        x.inputs.push_back({now_[i.fragment], i.bytes});
      }
    }
    part_.work.fragments.push_back(std::move(x));
  }

  std::uint32_t now_of(std::uint32_t fragment) const {
    const std::size_t now = fragment == sim::Arrival::kNobody ? kNobody : now_[fragment];
    return now == kNobody ? sim::Arrival::kNobody : static_cast<std::uint32_t>(now);
  }
  // The number of that input in the part; -1: it is not in it.
  std::int32_t input_now(std::size_t fragment, std::int32_t input) const {
    const auto& in = whole_.work.fragments[fragment].inputs;
    const auto gone = [&](const sim::Input& i) { return now_[i.fragment] == kNobody; };
    if (input < 0 || static_cast<std::size_t>(input) >= in.size() || gone(in[static_cast<std::size_t>(input)]))
      return -1;
    return input - static_cast<std::int32_t>(std::count_if(in.begin(), in.begin() + input, gone));
  }
  void times() {
    sim::Times& t = part_.times = whole_.times;
    t.from = from_, t.finished = to_;
    t.bars.clear(), t.arrivals.clear();
    std::vector<Time> length(part_.work.fragments.size());
    for (sim::Bar b : whole_.times.bars) {
      if (!within(b)) continue;
      const std::size_t was = b.fragment;
      const auto arrivals = whole_.times.arrivals_of(b);
      const Time end = std::min(to_, b.start + b.length);
      b.fragment = now_[was], b.start = std::max(from_, b.start), b.length = std::max<Time>(0, end - b.start);
      length[b.fragment] += b.length;
      b.first_arrival = t.arrivals.size();
      for (const sim::Arrival& a : arrivals) {
        const std::int32_t input = input_now(was, static_cast<std::int32_t>(a.input));
        if (input >= 0) t.arrivals.push_back({static_cast<std::uint32_t>(input), a.at, a.asked, now_of(a.by)});
      }
      b.arrivals = static_cast<std::uint32_t>(t.arrivals.size() - b.first_arrival);
      t.bars.push_back(b);
    }
    for (std::size_t f = 0; f < length.size(); ++f) {
      part_.work.fragments[f].weight = std::min(part_.work.fragments[f].weight, length[f]);
    }
    const auto outside = [&](const auto& x) { return x.at < from_ || x.at >= to_; };
    std::erase_if(t.messages, outside), std::erase_if(t.decisions, outside), std::erase_if(t.memory, outside);
    std::erase_if(t.moves, [&](sim::Moved& m) {
      m.last = input_now(m.fragment, m.last);
      m.asked_by = now_of(m.asked_by);
      return outside(m) || (m.fragment = now_[m.fragment]) == kNobody;
    });
    t.notes.push_back(fmt::format("this is the part from {} to {} of {}", duration_text(from_), duration_text(to_),
                                  duration_text(whole_.times.finished)));
  }

  void births() {
    std::vector<bool> born(part_.work.fragments.size());
    for (const sim::Fragment& f : part_.work.fragments) {
      for (const std::size_t c : f.children) born[c] = true;
    }
    std::vector<std::int32_t> rank(born.size(), 0);
    for (const sim::Bar& b : part_.times.bars) rank[b.fragment] = b.rank;
    for (std::size_t f = 0; f < born.size(); ++f) {
      if (!born[f]) part_.work.births.push_back({0, balancer::Rank{rank[f]}, f});
    }
  }

  const sim::Trace& whole_;
  const Time from_, to_;
  sim::Trace part_;
  std::vector<std::size_t> now_;  // numbers of fragments; kNobody: not in the part
};

Time time_of(const std::string& text, const char* option, Time otherwise) {
  if (text.empty()) return otherwise;
  const auto t = balancer::parse_duration(text);
  if (!t) throw usage_error(fmt::format("{}: '{}' is no time; times are like 1.5ms, 2s", option, text));
  return *t;
}

}  // namespace

void know_as(const RunRecord& whole, RunRecord& part) {
  const Time from = part.from(), to = part.finished();
  std::vector<std::size_t> was, now(whole.times().bars.size(), kNobody);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (is_within(whole.times().bars[i], from, to)) now[i] = was.size(), was.push_back(i);
  }
  for (std::size_t i = 0; i < was.size() && i < part.ready.size(); ++i) {
    const Ready& w = whole.ready[was[i]];
    const Time start = part.times().bars[i].start;
    const auto in_part = [&](std::size_t bar) { return bar == kNobody ? kNobody : now[bar]; };
    part.ready[i] = {std::clamp(w.at, from, start),   w.why,  in_part(w.by),
                     std::clamp(w.made, from, start), w.from, in_part(w.maker)};
  }
}

void add_part(CLI::App& sub, Part& part) {
  sub.add_option("--from", part.from, "only what ran from then on, since the start of the run: 1.5ms, 2s")
      ->option_text("TIME");
  sub.add_option("--to", part.to, "only what ran before then")->option_text("TIME");
}

sim::Trace part_of(const sim::Trace& whole, const Part& part, const std::string& name) {
  const sim::Times& t = whole.times;
  const Time from = std::max(t.from, time_of(part.from, "--from", t.from));
  const Time to = std::min(t.finished, time_of(part.to, "--to", t.finished));
  sim::Trace cropped;
  if (from < to) cropped = Cropper(whole, from, to).crop();
  if (cropped.times.bars.empty()) {
    throw usage_error(fmt::format("{}: nothing ran from {} to {}; this record is of {} to {}", name,
                                  part.from.empty() ? duration_text(t.from) : part.from,
                                  part.to.empty() ? duration_text(t.finished) : part.to, duration_text(t.from),
                                  duration_text(t.finished)));
  }
  return cropped;
}

}  // namespace tessera::cli
