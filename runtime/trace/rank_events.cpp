#include "runtime/trace/rank_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/memory/resident.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/trace/trace_buffer.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kMemoryEvery = std::chrono::milliseconds(20);
constexpr std::size_t kLeastGift = std::size_t{1} << 20;

std::int64_t clock_ns(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

std::uint64_t head(EventWord w, Rank from, std::uint64_t more = 0) {
  return static_cast<std::uint64_t>(balancer::index(from)) << kEventShift | more << 8 | static_cast<std::uint64_t>(w);
}

}  // namespace

RankEvents::RankEvents(Communicator& comm, const Held& held, bool leads, bool same_host,
                       std::shared_ptr<RecordRoom> room, std::size_t pool)
    : comm_(comm),
      held_(held),
      leads_(leads),
      began_ticks_(ticks()),
      began_ns_(clock_ns(Clock::now())),
      same_host_(same_host),
      sync_([this](std::int64_t here) { comm_.send(Rank{0}, ClockAsk{here}); }),
      room_(room),
      pool_(pool),
      writer_(std::move(room)) {}

std::uint64_t* RankEvents::room(std::size_t words) {
  if (chunk_ == nullptr || chunk_->room - chunk_->used < words) chunk_ = &writer_.next(words);
  return chunk_->words.get() + std::exchange(chunk_->used, chunk_->used + words);
}

void RankEvents::put(std::initializer_list<std::uint64_t> words) {
  std::copy(words.begin(), words.end(), room(words.size()));
}

void RankEvents::came(Rank from, const Message& m, std::size_t bytes) {
  const std::uint64_t now = ticks();
  const auto value = [&](const abi::Name& name, const Passenger& p, bool along = false) {
    if (p.value) put({head(EventWord::value, from, along ? 1 : 0), now, trace_key(name.id)});
  };
  std::uint64_t fragments = 0;
  if (const auto* give = std::get_if<Give>(&m)) value(give->name, give->value);
  if (const auto* publish = std::get_if<Publish>(&m)) value(publish->name, publish->value);
  if (const auto* entrust = std::get_if<Entrust>(&m)) value(entrust->name, entrust->value);
  if (const auto* keep = std::get_if<Keep>(&m)) value(keep->name, keep->value);
  if (const auto* ship = std::get_if<Ship>(&m)) {
    for (const PackedInput& i : ship->inputs) value(i.name, i.value, true);
    fragments = ship->fragments.size();
  }
  put({head(EventWord::message, from, m.index()), now, bytes, fragments});
}

void RankEvents::arrived(const abi::Cf& c, Rank from, bool by_policy) {
  const std::uint64_t policy = by_policy ? 1 : 0;
  if (c.block->kind == abi::Kind::range) {
    put({head(EventWord::part, from, policy), ticks(), trace_key(c), static_cast<std::uint64_t>(abi::frame_int(&c, 0)),
         static_cast<std::uint64_t>(abi::frame_int(&c, 1))});
  } else {
    put({head(EventWord::arrived, from, policy), ticks(), trace_key(c)});
  }
}

void RankEvents::asked(const abi::Id& value, const abi::Cf* by, bool request, std::uint64_t when) {
  put({head(EventWord::asked, Rank{0}, request ? 1 : 0), when, trace_key(value), by == nullptr ? 0 : trace_key(*by)});
}

void RankEvents::decided(const balancer::Decide& d) {
  std::string text = fmt::format("{} {} {} {}", balancer::index(d.from), balancer::index(d.to), d.load_from, d.load_to);
  for (const balancer::GroupCount& g : d.fragments) text += fmt::format(" {} {}", balancer::index(g.group), g.count);
  text += " : " + d.why;
  const std::uint64_t first = text.size() << kEventShift | static_cast<std::uint64_t>(EventWord::decision);
  std::uint64_t* const at = room(event_words(first));
  at[0] = first, at[1] = ticks();
  std::memcpy(at + 2, text.data(), text.size());
}

void RankEvents::turn(Clock::time_point now) {
  if (!leads_) sync_.turn(now);
  look_for_room();
  if (now < next_) return;
  next_ = now + kMemoryEvery;
  put({static_cast<std::uint64_t>(EventWord::memory), ticks(), static_cast<std::uint64_t>(resident_bytes()),
       static_cast<std::uint64_t>(held_.now() + held_.copies())});
}

void RankEvents::on(Rank from, const ClockAsk& m) { comm_.send(from, ClockAnswer{m.here, clock_ns(Clock::now())}); }
void RankEvents::on(Rank, const ClockAnswer& m) { sync_.answered(m.here, m.there, Clock::now()); }

// Who asks first does not get all of it.
std::size_t RankEvents::take_from_pool(std::size_t wanted) {
  const std::size_t most = pool_ > kLeastGift ? pool_ / 2 : pool_;
  const std::size_t given = std::min(wanted, most);
  pool_ -= given;
  return given;
}

void RankEvents::look_for_room() {
  if (asks_for_room_) return;
  const std::size_t wanted = room_->wants();
  if (wanted == 0) return;
  asks_for_room_ = true;
  const AskRoom ask{static_cast<std::int64_t>(wanted)};
  leads_ ? on(Rank{0}, GiveRoom{static_cast<std::int64_t>(take_from_pool(wanted))}) : comm_.send(Rank{0}, ask);
}

void RankEvents::on(Rank from, const AskRoom& m) {
  comm_.send(from, GiveRoom{static_cast<std::int64_t>(take_from_pool(static_cast<std::size_t>(m.bytes)))});
}

void RankEvents::on(Rank, const GiveRoom& m) {
  asks_for_room_ = m.bytes == 0;
  room_->get(static_cast<std::size_t>(m.bytes));
}

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

std::vector<TracePart> RankEvents::take(const Scale& s) {
  put({static_cast<std::uint64_t>(EventWord::clock) | (same_host_ ? 1 << 8 : 0), 0,
       static_cast<std::uint64_t>(clock_offset_), static_cast<std::uint64_t>(clock_error_)});
  chunk_ = nullptr;
  std::vector<TracePart> parts;
  for (auto& words : writer_.take()) parts.push_back({-1, false, s.ns_per_tick, s.ticks, s.ns, std::move(words)});
  return parts;
}

}  // namespace tessera::runtime
