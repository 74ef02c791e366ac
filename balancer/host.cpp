#include "balancer/host.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace tessera::balancer {

Host::Host(std::unique_ptr<Policy> policy, Rank self, std::size_t groups, Time first_report, HostedRank& rank)
    : policy_(std::move(policy)),
      rank_(rank),
      self_(self),
      last_report_(first_report - kReportInterval),
      told_(groups) {
  for (std::size_t g = 0; g < groups; ++g) told_[g] = {Group{static_cast<std::uint32_t>(g)}, 0, 0};
}

void Host::tell(Event event) {
  if (std::holds_alternative<Arrived>(event) || std::holds_alternative<Shipped>(event)) moved_ = true;
  caused_.push_back(std::move(event));
  if (telling_) return;
  telling_ = true;
  std::vector<Event> events;
  Actions actions;
  while (!caused_.empty()) {
    events.clear();
    events.swap(caused_);
    for (const Event& e : events) {
      actions.clear();
      const Time at = rank_.now();
      policy_->step(at, e, actions);
      rank_.answered(at, e, actions);
      for (const Action& a : actions) carry_out(a);
    }
  }
  telling_ = false;
}

void Host::carry_out(const Action& action) {
  if (const auto* send = std::get_if<Send>(&action)) {
    send->to == self_ ? tell(Received{self_, send->message}) : rank_.send(send->to, send->message);
  } else if (const auto* ship = std::get_if<Ship>(&action)) {
    tell(rank_.ship(*ship));
  } else if (const auto* set = std::get_if<SetTimer>(&action)) {
    rank_.timer_set(timers_.set(set->timer, set->at));
  } else if (const auto* cancel = std::get_if<CancelTimer>(&action)) {
    timers_.cancel(cancel->timer);
  } else if (const auto* settle = std::get_if<SettleSeries>(&action)) {
    rank_.settle(*settle);
  } else if (const auto* decide = std::get_if<Decide>(&action)) {
    rank_.decide(*decide);
  }
}

Time Host::report_due(bool urgent) const {
  const Time due = last_report_ + (urgent ? kUrgentInterval : kReportInterval);
  return begins_by_ ? std::max(due, *begins_by_) : due;
}

bool Host::time_to_report(Time now, bool urgent) {
  if (now < last_report_ + (urgent ? kUrgentInterval : kReportInterval)) return false;
  if (!told_idle_ || !rank_.beginning()) {
    begins_by_.reset();
    return true;
  }
  if (!begins_by_) begins_by_ = now + kUrgentInterval;
  return now >= *begins_by_;
}

void Host::report(Time now) {
  last_report_ = now;
  // Before the load: else who has begun the last that was ready would for a moment be idle with nothing.
  const bool went_busy = told_idle_ && !rank_.idle();
  if (went_busy) {
    told_idle_ = false;
    tell(WentBusy{});
  }
  if (report_load(went_busy) && !told_idle_) {
    told_idle_ = true;
    tell(WentIdle{});
  }
}

bool Host::report_load(bool went_busy) {
  SeriesRan series;
  rank_.look(series.ran);
  if (!series.ran.empty()) tell(std::move(series));
  LoadChanged event;
  rank_.look(event.ready, event.finished);
  // Asked now: who gives all away in answer to this goes idle with the report that says so.
  const bool idle = rank_.idle();
  std::erase_if(event.ready,
                [this](const GroupLoad& load) { return std::exchange(told_[index(load.group)], load) == load; });
  if (event.ready.empty() && event.finished.empty() && !moved_ && !went_busy) return idle;
  moved_ = false;
  tell(std::move(event));
  return idle;
}

void Host::fire_until(Time now) {
  for (auto due = timers_.next(); due && due->at <= now; due = timers_.next()) {
    timers_.take(*due);
    tell(TimerFired{due->number});
  }
}

}  // namespace tessera::balancer
