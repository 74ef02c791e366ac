#include "runtime/balance/policy_host.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/record/policy_log.hpp"
#include "runtime/trace/rank_events.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {

// The calls of kernels within a range, but those that `body` has.
static std::vector<balancer::Group> below(const abi::Program& program, const abi::Block& range,
                                          const std::vector<balancer::Group>& body) {
  constexpr std::size_t kMost = 64;  // weights are sums of these
  std::vector<balancer::Group> all;
  for (const std::uint32_t* w = range.within; w != nullptr && *w != ~0u; w += 2) {
    for (std::uint32_t i = w[0]; i < w[1] && all.size() < kMost; ++i) {
      const balancer::Group g{i};
      if (program.blocks[i]->group != i || !calls_kernel(program, i)) continue;
      if (std::find(body.begin(), body.end(), g) == body.end()) all.push_back(g);
    }
  }
  return all;
}

std::vector<balancer::GroupInfo> group_infos(const abi::Program& program) {
  std::vector<balancer::GroupInfo> infos(program.block_count);
  for (std::uint32_t i = 0; i < program.block_count; ++i) {
    const abi::Block& b = *program.blocks[i];
    if (b.group != b.index) continue;
    balancer::GroupInfo& g = infos[i];
    g.label = fmt::format("{} at {}", b.label, place(program, b.pos));
    g.stealable = (b.flags & abi::kStealable) != 0;
    g.range = b.kind == abi::Kind::range;
    for (const std::uint32_t* p = b.body_groups; g.range && p != nullptr && *p != ~0u; ++p) {
      g.body.push_back(balancer::Group{*p});
    }
    if (g.range) g.below = below(program, b, g.body);
    g.bulk = (b.flags & abi::kBulk) != 0 || (!g.range && !calls_kernel(program, i));
  }
  return infos;
}

PolicyHost::PolicyHost(const Parts& parts, const balancer::Setup& setup)
    : of_(parts),
      start_(Clock::now()),
      host_(parts.facts.policy.make(setup), parts.facts.self, parts.facts.program.block_count,
            balancer::kReportInterval, *this),
      ready_(parts.facts.program.block_count),
      bytes_(parts.facts.program.block_count),
      last_done_(parts.facts.program.block_count) {
  const std::string& directory = parts.facts.options.record_policy;
  if (directory.empty()) return;
  std::error_code ignored;  // then opening the file fails as well
  std::filesystem::create_directory(directory, ignored);
  log_ = std::make_unique<PolicyLog>(PolicyLog::file_of(directory, parts.facts.self), parts.facts.program.name,
                                     parts.facts.policy.name, setup);
}

PolicyHost::~PolicyHost() = default;

std::string PolicyHost::close() {
  const std::string wrong = log_ == nullptr ? "" : log_->close();
  if (wrong.empty()) return {};
  return "--record-policy: can't write " + PolicyLog::file_of(of_.facts.options.record_policy, of_.facts.self) + ": " +
         wrong;
}

void PolicyHost::changed() {
  if (dirty_.load(std::memory_order_relaxed) || dirty_.exchange(true)) return;
  of_.transport.wake();
}
void PolicyHost::urgent() {
  if (urgent_.load(std::memory_order_relaxed) || urgent_.exchange(true)) return;
  dirty_.store(true);
  of_.transport.wake();
}

void PolicyHost::answered(balancer::Time at, const balancer::Event& event, const balancer::Actions& actions) {
  if (log_ != nullptr) log_->step(at, event, actions);
}

void PolicyHost::send(balancer::Rank to, const balancer::Message& message) {
  of_.comm.send(to, PolicyMessage{message});
}

balancer::Shipped PolicyHost::ship(const balancer::Ship& ship) {
  balancer::Shipped done{ship.ticket, ship.to, {}, 0};
  // A rank that has left meanwhile gets nothing.
  if (ship.to != of_.facts.self && of_.members.takes_part(ship.to)) {
    done.fragments = of_.ship(ship.to, ship.fragments, ship.ticket, done.bytes);
    // As in look, or the policy would take what is yet to travel for a saving.
    for (const balancer::GroupCount& f : done.fragments) {
      done.bytes += f.count * stats(balancer::index(f.group)).mean_bytes_out();
    }
  }
  dirty_.store(true);
  return done;
}

void PolicyHost::decide(const balancer::Decide& decide) {
  ++decisions_[decide.why];
  if (of_.events != nullptr) of_.events->decided(decide);
  std::string what;
  for (const balancer::GroupCount& f : decide.fragments) {
    what += fmt::format(", {} of {}", f.count, of_.facts.program.blocks[balancer::index(f.group)]->label);
  }
  spdlog::debug("rank {}: {} ({} -> {}{})", balancer::index(of_.facts.self), decide.why, balancer::index(decide.from),
                balancer::index(decide.to), what);
}

GroupStats::Snapshot PolicyHost::stats(std::uint32_t group) const { return of_.crew.stats(group); }

bool PolicyHost::idle() const { return of_.crew.idle(); }
bool PolicyHost::beginning() const { return of_.crew.all_idle() && !of_.crew.idle(); }

void PolicyHost::look(std::vector<balancer::GroupLoad>& ready, std::vector<balancer::GroupDone>& finished) {
  std::fill(ready_.begin(), ready_.end(), 0);
  std::fill(bytes_.begin(), bytes_.end(), 0);
  const Making offered = of_.crew.offered();
  for (auto& w : of_.crew.workers) w->queue.count(ready_, bytes_, offered);
  const double ns = ns_per_tick();
  for (std::uint32_t g = 0; g < ready_.size(); ++g) {
    // One reading for both: with what has finished the policy hears of what that has produced, also where as many
    // are ready as before.
    const GroupStats::Snapshot s = stats(g);
    ready.push_back({balancer::Group{g}, ready_[g], bytes_[g] + ready_[g] * s.mean_bytes_out()});
    if (!calls_kernel(of_.facts.program, g)) continue;
    const Done now{static_cast<std::int64_t>(s.known), s.sum * ns, s.squares * ns * ns};
    Done& last = last_done_[g];
    if (now.count > last.count) {
      // What is known of those before may have become less (GroupStats).
      finished.push_back({balancer::Group{g}, now.count - last.count,
                          static_cast<balancer::Time>(std::max(now.weight - last.weight, 0.0)),
                          std::max(now.squares - last.squares, 0.0), (now.count - last.count) * s.mean_bytes_out()});
      last = now;
    }
  }
}

void PolicyHost::look(std::vector<balancer::SeriesWork>& ran) {
  for (auto& w : of_.crew.workers) {
    if (w->series != nullptr) w->series->take(ran);
  }
}

void PolicyHost::settle(const balancer::SettleSeries& settle) {
  for (const balancer::SeriesPlace& p : settle.places) of_.settle(p.series, p.to);
}

void PolicyHost::pump(Clock::time_point at) {
  const balancer::Time now = (at - start_).count();
  if (dirty_.load() && host_.time_to_report(now, urgent_.load())) {
    dirty_.store(false);
    urgent_.store(false);
    if (of_.crew.size() > 0) host_.report(now);
  }
  host_.fire_until(now);
}

Clock::time_point PolicyHost::next(Clock::time_point now) const {
  Clock::time_point at = now + std::chrono::hours(1);
  const auto no_later_than = [&](balancer::Time t) { at = std::min(at, start_ + std::chrono::nanoseconds(t)); };
  if (dirty_.load()) no_later_than(host_.report_due(urgent_.load()));
  if (const auto timer = host_.timers().next()) no_later_than(timer->at);
  return at;
}

void PolicyHost::on(Rank from, PolicyMessage&& m) { host_.tell(balancer::Received{from, std::move(m.message)}); }
void PolicyHost::arrived(Rank from, std::vector<balancer::GroupCount> fragments, std::uint64_t ticket) {
  host_.tell(balancer::Arrived{from, std::move(fragments), ticket});
  dirty_.store(true);
}
void PolicyHost::member(Rank rank, bool joins) {
  if (joins) {
    host_.tell(balancer::RankJoined{rank});
  } else {
    host_.tell(balancer::RankLeaving{rank});
  }
  dirty_.store(true);
}
void PolicyHost::outside_load(double tasks) {
  spdlog::debug("rank {}: {:.1f} tasks of others compete", balancer::index(of_.facts.self), tasks);
  host_.tell(balancer::OutsideLoad{tasks});
}
void PolicyHost::measured(Rank peer, balancer::Time latency, double bandwidth) {
  host_.tell(balancer::LinkMeasured{peer, latency, bandwidth});
}

}  // namespace tessera::runtime
