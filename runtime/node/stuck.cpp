#include "runtime/node/stuck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "runtime/fragment/input_slot.hpp"
#include "runtime/report/waits.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

constexpr std::size_t kMostRoots = 8;
constexpr std::size_t kMostOfCircle = 6;
// What all ranks may list together: half a gigabyte on rank 0.
constexpr std::size_t kMostWords = std::size_t{1} << 26;

// Numbers by their values: f(9) before f(10).
bool comes_before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](const std::string& s, std::size_t at) {
    const auto from = s.begin() + static_cast<std::ptrdiff_t>(at);
    return std::find_if_not(from, s.end(), digit) - from;
  };
  std::size_t at = 0;  // the same up to here in both
  while (at < std::min(a.size(), b.size())) {
    const auto m = number(a, at), n = number(b, at);
    if (m > 0 && n > 0 && m != n) return m < n;
    const auto length = static_cast<std::size_t>(std::max<std::ptrdiff_t>(std::min(m, n), 1));
    const int order = a.compare(at, length, b, at, length);
    if (order != 0) return order < 0;
    at += length;
  }
  return a.size() < b.size();
}

// As they are written, and made.
bool earlier(const abi::Cf* a, const abi::Cf* b) {
  if (a->block != b->block) return a->block->index < b->block->index;
  for (unsigned i = 0; i < a->block->var_count; ++i) {
    const abi::VarInfo& v = a->block->vars[i];
    if (v.kind != 'i') continue;
    const std::int64_t x = abi::frame_int(a, v.word), y = abi::frame_int(b, v.word);
    if (x != y) return x < y;
  }
  return a->id.hi != b->id.hi ? a->id.hi < b->id.hi : a->id.lo < b->id.lo;
}

std::string behind_text(std::int64_t others) {
  return others <= 0 ? "" : fmt::format("; {} more wait{} behind it", others, others == 1 ? "s" : "");
}

bool as_luna = false;

}  // namespace

void report_as_luna() { as_luna = true; }

WaitingHere::WaitingHere(const abi::Program& program, std::int32_t ranks, DataFragments& data, Scopes& scopes)
    : program_(program), ranks_(ranks), scopes_(scopes) {
  for (Shard& shard : data.table().shards()) {
    const std::lock_guard hold(shard.mutex);
    shard.for_each([&](DfEntry& e) {
      for (std::uint64_t link = e.waiters; link != 0;) {
        const Waiter w = waiter_of(link);
        link = slot_word(w.cf, w.slot);
        links_.push_back({w.cf, w.slot});
      }
    });
  }
  std::sort(links_.begin(), links_.end(),
            [](const Link& a, const Link& b) { return a.cf == b.cf ? a.slot < b.slot : earlier(a.cf, b.cf); });
  for (std::size_t k = 0; k < links_.size(); ++k) {
    if (k == 0 || links_[k].cf != links_[k - 1].cf) first_.push_back(k);
  }
}

Waiting WaitingHere::list() const {
  Waiting m;
  m.count = static_cast<std::int64_t>(first_.size());
  const std::size_t most = kMostWords / static_cast<std::size_t>(ranks_);
  for (std::size_t f = 0; f < first_.size() && m.words.size() < most; ++f) {
    const std::size_t end = f + 1 < first_.size() ? first_[f + 1] : links_.size();
    std::vector<unsigned> slots;
    for (std::size_t k = first_[f]; k < end; ++k) slots.push_back(links_[k].slot);
    waits_of(program_, links_[first_[f]].cf, slots).write(m.words);
    ++m.listed;
  }
  scopes_.for_each_home([&](const ScopeRecord& scope) {
    for (const AtEnd& at_end : scope.at_end) {
      if (at_end.does == AtEnd::Does::assigns) m.ends.push_back(at_end.name.id.lo);
    }
  });
  return m;
}

Waiting WaitingHere::describe(const AskWaiting& asked) const {
  Waiting m;
  for (std::size_t k = 0; k + 1 < asked.describe.size(); k += 2) {
    const std::size_t f = asked.describe[k];
    abi::Cf* c = links_[first_[f]].cf;
    unsigned slot = links_[first_[f]].slot;
    const std::size_t end = f + 1 < first_.size() ? first_[f + 1] : links_.size();
    for (std::size_t l = first_[f]; l < end; ++l) {
      if (name_of_input(c, links_[l].slot) == asked.describe[k + 1]) slot = links_[l].slot;
    }
    const char* producers = c->block->slots[slot].producers;
    m.lines.push_back(fmt::format("  {}\n      waits for `{}` ({})", runtime::describe(program_, c), slot_text(c, slot),
                                  producers == nullptr ? "nothing assigns it" : producers));
  }
  return m;
}

void StuckReport::listed(Rank from, const Waiting& m) {
  count_ += m.count;
  unlisted_ += m.count - m.listed;
  graph_.add(balancer::index(from), m.words);
  for (const std::uint64_t name : m.ends) graph_.add_end(name);
}

std::map<Rank, AskWaiting> StuckReport::questions() {
  found_ = graph_.find(kMostRoots);
  if (found_.circle.size() > kMostOfCircle) found_.circle.resize(kMostOfCircle);
  const auto ask = [&](const WaitGraph::Place& p) {
    std::vector<std::uint64_t>& words = asked_[Rank{p.rank}].describe;
    words.insert(words.end(), {p.fragment, p.name});
  };
  for (const WaitGraph::Root& r : found_.roots) std::for_each(r.first.begin(), r.first.end(), ask);
  std::for_each(found_.circle.begin(), found_.circle.end(), ask);
  return asked_;
}

void StuckReport::described(Rank from, const Waiting& m) {
  const std::vector<std::uint64_t>& words = asked_[from].describe;
  for (std::size_t k = 0; k < m.lines.size() && 2 * k + 1 < words.size(); ++k) {
    lines_[{balancer::index(from), {words[2 * k], words[2 * k + 1]}}] = m.lines[k];
  }
}

const std::string& StuckReport::line(const WaitGraph::Place& p) const {
  return lines_.at({p.rank, {p.fragment, p.name}});
}

std::string StuckReport::text() const {
  std::string text = fmt::format(
      "{}: error: the program cannot finish: {} fragment{} wait{} for data that nothing will "
      "produce [T401]\n",
      program_.name, count_, count_ == 1 ? "" : "s", count_ == 1 ? "s" : "");
  if (as_luna) text += fmt::format("  System is idle, but unfinished CFs: {}\n", count_);
  // Names that other runs of a block have declared read the same.
  struct Alike {
    std::int64_t names = 0, waiting = 0;
  };
  std::map<std::string, Alike, decltype(&comes_before)> roots(&comes_before);
  for (const WaitGraph::Root& r : found_.roots) {
    std::string first;
    for (const WaitGraph::Place& p : r.first) {
      if (first.empty() || comes_before(line(p), first)) first = line(p);
    }
    Alike& a = roots[first];
    a.names += 1, a.waiting += r.waiting;
  }
  for (const auto& [first, a] : roots) {
    text += first + ", which nothing will assign";
    if (a.names > 1)
      text += fmt::format("; nor {} more like it, of other runs of the block that declares it", a.names - 1);
    text += behind_text(a.waiting - a.names) + "\n";
  }
  if (found_.more > 0)
    text += fmt::format("  ... and {} more data fragment{} that nothing will assign\n", found_.more,
                        found_.more == 1 ? "" : "s");
  if (!found_.circle.empty()) {
    text +=
        "  These wait for each other, each for what the next one would assign (or may, once it runs), the last one for "
        "the first:\n";
    for (const WaitGraph::Place& p : found_.circle) text += line(p) + "\n";
    const std::int64_t others = found_.behind - static_cast<std::int64_t>(found_.circle.size());
    if (others > 0) text += fmt::format("  ... and {} more in this circle, or behind it\n", others);
  }
  if (unlisted_ > 0) text += fmt::format("  ({} of the fragments were too many to be looked at)\n", unlisted_);
  return text;
}

}  // namespace tessera::runtime
