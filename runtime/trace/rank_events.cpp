#include "runtime/trace/rank_events.hpp"

#include <fmt/format.h>

#include "runtime/memory/resident.hpp"
#include "runtime/trace/trace_buffer.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kMemoryEvery = std::chrono::milliseconds(20);

std::int64_t clock_ns(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace

RankEvents::RankEvents(Communicator& comm, const Held& held, bool leads, bool same_host, std::size_t limit)
    : comm_(comm),
      held_(held),
      leads_(leads),
      most_(limit),
      began_ticks_(ticks()),
      began_ns_(clock_ns(Clock::now())),
      same_host_(same_host),
      sync_([this](std::int64_t here) { comm_.send(Rank{0}, ClockAsk{here}); }) {}

void RankEvents::put(EventWord w, std::uint64_t more, std::uint64_t at, std::uint64_t a, std::uint64_t b) {
  make_room(0);
  words_.insert(words_.end(), {more | static_cast<std::uint64_t>(w), at, a, b});
}

// For a record with so many bytes of text. Where there is none the oldest quarter goes.
void RankEvents::make_room(std::size_t bytes) {
  if ((words_.size() + kEventWords) * sizeof(std::uint64_t) + text_bytes_ + bytes <= most_ || words_.empty()) return;
  const std::size_t gone = (words_.size() / kEventWords + 3) / 4 * kEventWords;
  const auto is_decision = [&](std::size_t i) {
    return (words_[i] & 0xff) == static_cast<std::uint64_t>(EventWord::decision);
  };
  std::size_t texts = 0;
  for (std::size_t i = 0; i < gone; i += kEventWords) texts += is_decision(i) ? 1 : 0;
  for (std::size_t i = gone; i < words_.size(); i += kEventWords) words_[i + 2] -= is_decision(i) ? texts : 0;
  for (std::size_t t = 0; t < texts; ++t) text_bytes_ -= texts_[t].size() + sizeof(std::string);
  texts_.erase(texts_.begin(), texts_.begin() + static_cast<std::ptrdiff_t>(texts));
  words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(gone));
  since_ = words_.empty() ? ticks() : words_[1];
}

void RankEvents::came(Rank from, const Message& m, std::size_t bytes) {
  const std::uint64_t now = ticks();
  const auto who = static_cast<std::uint64_t>(balancer::index(from)) << kEventShift;
  const auto value = [&](const abi::Name& name, const Passenger& p) {
    if (p.value) put(EventWord::value, who, now, trace_key(name.id), 0);
  };
  std::uint64_t fragments = 0;
  if (const auto* give = std::get_if<Give>(&m)) value(give->name, give->value);
  if (const auto* publish = std::get_if<Publish>(&m)) value(publish->name, publish->value);
  if (const auto* entrust = std::get_if<Entrust>(&m)) value(entrust->name, entrust->value);
  if (const auto* keep = std::get_if<Keep>(&m)) value(keep->name, keep->value);
  if (const auto* ship = std::get_if<Ship>(&m)) {
    for (const PackedInput& i : ship->inputs) value(i.name, i.value);
    fragments = ship->fragments.size();
  }
  put(EventWord::message, who | m.index() << 8, now, bytes, fragments);
}

void RankEvents::arrived(const abi::Cf& c, Rank from, bool by_policy) {
  if (c.block->kind == abi::Kind::range) return;  // where its iterations ran tells
  const auto who = static_cast<std::uint64_t>(balancer::index(from)) << kEventShift;
  put(EventWord::arrived, who | (by_policy ? 1 << 8 : 0), ticks(), trace_key(c), 0);
}

void RankEvents::decided(const balancer::Decide& d) {
  std::string text = fmt::format("{} {} {} {}", balancer::index(d.from), balancer::index(d.to), d.load_from, d.load_to);
  for (const balancer::GroupCount& g : d.fragments) text += fmt::format(" {} {}", balancer::index(g.group), g.count);
  text += " : " + d.why;
  make_room(text.size() + sizeof(std::string));
  put(EventWord::decision, 0, ticks(), texts_.size(), 0);
  text_bytes_ += text.size() + sizeof(std::string);
  texts_.push_back(std::move(text));
}

void RankEvents::turn(Clock::time_point now) {
  if (!leads_) sync_.turn(now);
  if (now < next_) return;
  next_ = now + kMemoryEvery;
  put(EventWord::memory, 0, ticks(), static_cast<std::uint64_t>(resident_bytes()),
      static_cast<std::uint64_t>(held_.now()));
}

void RankEvents::on(Rank from, const ClockAsk& m) { comm_.send(from, ClockAnswer{m.here, clock_ns(Clock::now())}); }
void RankEvents::on(Rank, const ClockAnswer& m) { sync_.answered(m.here, m.there, Clock::now()); }

RankEvents::Scale RankEvents::scale() {
  const std::uint64_t now_ticks = ticks();
  const std::int64_t now = clock_ns(Clock::now());
  Scale s{began_ticks_, began_ns_, 1};
  if (now_ticks > began_ticks_) {
    s.ns_per_tick = static_cast<double>(now - began_ns_) / static_cast<double>(now_ticks - began_ticks_);
  }
  const ClockFit fit = fit_clock(sync_.readings(), began_ns_, now);
  clock_offset_ = fit.there(began_ns_) - began_ns_;
  clock_error_ = fit.error;
  if (same_host_) return s;
  s.ns = fit.there(began_ns_);
  s.ns_per_tick *= 1 + fit.drift;
  return s;
}

TracePart RankEvents::take(const Scale& s) {
  put(EventWord::clock, same_host_ ? 1 << 8 : 0, 0, static_cast<std::uint64_t>(clock_offset_),
      static_cast<std::uint64_t>(clock_error_));
  return {.worker = -1,
          .ns_per_tick = s.ns_per_tick,
          .base_ticks = s.ticks,
          .base_ns = s.ns,
          .words = std::exchange(words_, {}),
          .texts = std::exchange(texts_, {})};
}

}  // namespace tessera::runtime
