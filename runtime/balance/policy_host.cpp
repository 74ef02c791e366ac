#include "runtime/balance/policy_host.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <utility>

#include "balancer/rhythm.hpp"
#include "runtime/node/node.hpp"
#include "runtime/record/policy_log.hpp"
#include "runtime/report/describe.hpp"

namespace tessera::runtime {
namespace {

constexpr std::chrono::nanoseconds kPumpInterval{balancer::kPumpInterval};
constexpr std::chrono::nanoseconds kUrgentInterval{balancer::kUrgentInterval};

}  // namespace

std::vector<balancer::GroupInfo> group_infos(const abi::Program& program) {
  std::vector<balancer::GroupInfo> infos(program.block_count);
  for (std::uint32_t i = 0; i < program.block_count; ++i) {
    const abi::Block& b = *program.blocks[i];
    if (b.group != b.index) continue;
    balancer::GroupInfo& g = infos[i];
    g.label = fmt::format("{} at {}", b.label, place(program, b.pos));
    g.stealable = (b.flags & abi::kStealable) != 0;
    g.range = b.kind == abi::Kind::range;
    for (const std::uint32_t* p = b.body_groups; p != nullptr && *p != ~0u; ++p) {
      g.body.push_back(balancer::Group{*p});
    }
    g.bulk = (b.flags & abi::kBulk) != 0 || (!g.range && !calls_kernel(program, i));
  }
  return infos;
}

PolicyHost::PolicyHost(Node& node, const balancer::PolicyInfo& info, balancer::Setup setup)
    : node_(node),
      policy_(info.make(setup)),
      start_(Clock::now()),
      last_pump_(start_),
      ready_(node.program.block_count),
      bytes_(node.program.block_count),
      last_ready_(node.program.block_count),
      last_bytes_(node.program.block_count),
      last_done_(node.program.block_count) {
  const std::string& directory = node.options.record_policy;
  if (directory.empty()) return;
  std::error_code ignored;  // then opening the file fails as well
  std::filesystem::create_directory(directory, ignored);
  log_ = std::make_unique<PolicyLog>(PolicyLog::file_of(directory, node.self()), node.program.name,
                                     info.name, setup);
}

PolicyHost::~PolicyHost() = default;

std::string PolicyHost::close() {
  const std::string wrong = log_ == nullptr ? "" : log_->close();
  if (wrong.empty()) return {};
  return "--record-policy: can't write " + PolicyLog::file_of(node_.options.record_policy, node_.self()) + ": " + wrong;
}

void PolicyHost::changed() {
  if (dirty_.load(std::memory_order_relaxed) || dirty_.exchange(true)) return;
  node_.wake_communication();
}
void PolicyHost::urgent() {
  if (urgent_.load(std::memory_order_relaxed) || urgent_.exchange(true)) return;
  dirty_.store(true);
  node_.wake_communication();
}

void PolicyHost::tell(const balancer::Event& event) {
  // An action may cause an event (Shipped) in the middle of a step: told after it.
  queue_.push_back(event);
  if (telling_) return;
  telling_ = true;
  while (!queue_.empty()) {
    std::vector<balancer::Event> events;
    events.swap(queue_);
    for (const balancer::Event& e : events) {
      balancer::Actions actions;
      const balancer::Time now = (Clock::now() - start_).count();
      policy_->step(now, e, actions);
      if (log_ != nullptr) log_->step(now, e, actions);
      for (const balancer::Action& a : actions) carry_out(a);
    }
  }
  telling_ = false;
}

void PolicyHost::carry_out(const balancer::Action& action) {
  if (const auto* send = std::get_if<balancer::Send>(&action)) {
    if (send->to == node_.self()) {
      tell(balancer::Received{node_.self(), send->message});
    } else {
      node_.comm.send(send->to, PolicyMessage{send->message});
    }
  } else if (const auto* ship = std::get_if<balancer::Ship>(&action)) {
    balancer::Shipped done{ship->ticket, ship->to, {}, 0};
    // A rank that has left meanwhile gets nothing.
    if (ship->to != node_.self() && node_.members.takes_part(ship->to)) {
      done.fragments = node_.ship(ship->to, ship->fragments, ship->ticket, done.bytes);
      // As in report_load, or the policy would take what is yet to travel for a saving.
      for (const balancer::GroupCount& f : done.fragments) {
        done.bytes += f.count * stats(balancer::index(f.group)).mean_bytes_out();
      }
    }
    moved_ = true;
    dirty_.store(true);
    tell(done);
  } else if (const auto* set = std::get_if<balancer::SetTimer>(&action)) {
    timers_[set->timer] = set->at;
  } else if (const auto* cancel = std::get_if<balancer::CancelTimer>(&action)) {
    timers_.erase(cancel->timer);
  } else if (const auto* decide = std::get_if<balancer::Decide>(&action)) {
    ++decisions_[decide->why];
    std::string what;
    for (const balancer::GroupCount& f : decide->fragments) {
      what +=
          fmt::format(", {} of {}", f.count, node_.program.blocks[balancer::index(f.group)]->label);
    }
    spdlog::debug("rank {}: {} ({} -> {}{})", balancer::index(node_.self()), decide->why,
                  balancer::index(decide->from), balancer::index(decide->to), what);
  }
}

GroupStats::Snapshot PolicyHost::stats(std::uint32_t group) const {
  GroupStats::Snapshot sum;
  for (const auto& w : node_.workers) sum += w->stats.read(group);
  return sum;
}

void PolicyHost::report_load(bool went_busy) {
  balancer::LoadChanged event;
  std::fill(ready_.begin(), ready_.end(), 0);
  std::fill(bytes_.begin(), bytes_.end(), 0);
  for (auto& w : node_.workers) w->queue.count(ready_, bytes_, false);
  const double ns = ns_per_tick();
  for (std::uint32_t g = 0; g < ready_.size(); ++g) {
    // One reading for both: with what has finished the policy hears of what that has produced, also where as many
    // are ready as before.
    const GroupStats::Snapshot s = stats(g);
    bytes_[g] += ready_[g] * s.mean_bytes_out();
    if (ready_[g] != last_ready_[g] || bytes_[g] != last_bytes_[g]) {
      event.ready.push_back({balancer::Group{g}, ready_[g], bytes_[g]});
      last_ready_[g] = ready_[g];
      last_bytes_[g] = bytes_[g];
    }
    if (!calls_kernel(node_.program, g)) continue;
    // Sampled groups: what was not measured weighs like what was.
    const Done now{static_cast<std::int64_t>(s.samples), s.sum * ns, s.squares * ns * ns};
    Done& last = last_done_[g];
    if (now.count > last.count) {
      event.finished.push_back({balancer::Group{g}, now.count - last.count,
                                static_cast<balancer::Time>(now.weight - last.weight),
                                now.squares - last.squares,
                                (now.count - last.count) * s.mean_bytes_out()});
      last = now;
    }
  }
  if (event.ready.empty() && event.finished.empty() && !moved_ && !went_busy) return;
  moved_ = false;
  tell(event);
}

// What came to a rank where nothing ran is told when it has begun: policies would take it for something that waits, offer it to
// others, and not ask for more.
bool PolicyHost::about_to_begin(Clock::time_point now) {
  const bool begins = idle_ && node_.all_workers_idle() && !node_.idle();
  if (!begins) {
    begins_by_.reset();
  } else if (!begins_by_) {
    begins_by_ = now + kUrgentInterval;
  }
  return begins && now < *begins_by_;
}

void PolicyHost::pump(Clock::time_point now) {
  const bool due =
      dirty_.load() && now - last_pump_ >= (urgent_.load() ? kUrgentInterval : kPumpInterval);
  if (due && !about_to_begin(now)) {
    dirty_.store(false);
    urgent_.store(false);
    last_pump_ = now;
    if (node_.executes()) {
      // Before the load: else who has begun the last that was ready would for a moment be idle with nothing.
      const bool went_busy = idle_ && !node_.idle();
      if (went_busy) {
        idle_ = false;
        tell(balancer::WentBusy{});
      }
      report_load(went_busy);
      if (!idle_ && node_.idle()) {
        idle_ = true;
        tell(balancer::WentIdle{});
      }
    }
  }
  const balancer::Time t = (now - start_).count();
  while (!timers_.empty()) {
    auto first = timers_.begin();
    for (auto at = timers_.begin(); at != timers_.end(); ++at) {
      if (at->second < first->second) first = at;
    }
    if (first->second > t) break;
    const std::uint32_t timer = first->first;
    timers_.erase(first);
    tell(balancer::TimerFired{timer});
  }
}

Clock::time_point PolicyHost::next(Clock::time_point now) const {
  Clock::time_point at = now + std::chrono::hours(1);
  if (dirty_.load()) {
    const auto due = last_pump_ + (urgent_.load() ? kUrgentInterval : kPumpInterval);
    at = std::min(at, begins_by_ ? std::max(due, *begins_by_) : due);
  }
  for (const auto& [timer, when] : timers_) {
    at = std::min(at, start_ + std::chrono::nanoseconds(when));
  }
  return at;
}

void PolicyHost::on(Rank from, PolicyMessage&& m) {
  tell(balancer::Received{from, std::move(m.message)});
}
void PolicyHost::arrived(Rank from, std::vector<balancer::GroupCount> fragments,
                         std::uint64_t ticket) {
  tell(balancer::Arrived{from, std::move(fragments), ticket});
  moved_ = true;
  dirty_.store(true);
}
void PolicyHost::member(Rank rank, bool joins) {
  if (joins) {
    tell(balancer::RankJoined{rank});
  } else {
    tell(balancer::RankLeaving{rank});
  }
  dirty_.store(true);
}
void PolicyHost::outside_load(double tasks) {
  spdlog::debug("rank {}: {:.1f} tasks of others compete", balancer::index(node_.self()), tasks);
  tell(balancer::OutsideLoad{tasks});
}
void PolicyHost::measured(Rank peer, balancer::Time latency, double bandwidth) {
  tell(balancer::LinkMeasured{peer, latency, bandwidth});
}

}  // namespace tessera::runtime
