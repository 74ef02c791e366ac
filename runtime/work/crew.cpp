#include "runtime/work/crew.hpp"

#include <algorithm>
#include <utility>

#include "runtime/start/facts.hpp"
#include "runtime/threads/ticks.hpp"

namespace tessera::runtime {

constinit thread_local Worker* thread_worker = nullptr;

Crew::Crew(Node& node, const RunFacts& facts, const Held& held, std::int32_t threads, std::uint32_t groups,
           std::int64_t plenty)
    : growing(held, threads == 1 && facts.ranks == 1), company(threads) {
  growing.join(facts.program);
  for (std::int32_t i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<Worker>(node, facts, i, groups, plenty));
    if (simulation != nullptr) workers.back()->held.often();
    growing.join(workers.back()->stats);
    workers.back()->queue.set_growing(growing);
    sleepers.announce();  // until its thread has started
  }
  outside = std::make_unique<Worker>(node, facts, -1, 0, 0);
  const auto step = WaitCounts::step(workers.size());
  for (auto& w : workers) waiting_.join(w->waits, w->wakes, step);
  waiting_.join(outside->waits, outside->wakes, step);
}

bool Crew::idle() { return quiet(Making::all); }
bool Crew::rests() { return quiet(in_any_case(waiting_now())); }

// Nothing is being run, and the queues have nothing that may be made.
bool Crew::quiet(Making making) {
  // Called by the communication thread, which is also the only one besides the workers that brings
  // work: if nobody woke between the two readings and the queues were empty, nothing runs.
  const std::uint64_t before = sleepers.transitions();
  if (!all_idle()) return false;
  for (auto& w : workers) {
    if (w->queue.has(making)) return false;
  }
  return sleepers.transitions() == before;
}

void Crew::call() {
  calls_.fetch_add(1, std::memory_order_relaxed);
  sleepers.wake_all();
}

bool Crew::others_let_go(const Worker& w) const {
  return std::any_of(workers.begin(), workers.end(), [&](const auto& other) {
    return other.get() != &w && __atomic_load_n(&other->lets_go, __ATOMIC_RELAXED);
  });
}

bool Crew::all_idle() const { return sleepers.count() == static_cast<std::int32_t>(workers.size()); }

bool Crew::nothing_queued() const {
  return std::all_of(workers.begin(), workers.end(), [](const auto& w) { return w->queue.looks_empty(); });
}

Worker& Crew::any_worker() {
  const std::uint32_t n = next_worker_.fetch_add(1, std::memory_order_relaxed);
  return *workers[n % workers.size()];
}

std::vector<Cf*> Crew::take_all() {
  std::vector<Cf*> all;
  for (auto& w : workers) {
    if (w->chained != nullptr) all.push_back(std::exchange(w->chained, nullptr));
    for (Cf* c : w->queue.take_all()) all.push_back(c);
  }
  return all;
}

void Crew::keep_company() {
  const std::uint64_t now = ticks();
  company.goes_on(now);
  if (!company.looks(now)) return;
  GroupStats::Run all;
  for (const auto& w : workers) {
    const GroupStats::Run run = w->stats.run();
    all.fragments += run.fragments;
    all.ticks += run.ticks;
  }
  if (company.look(now, all.fragments, all.ticks)) call_others();
}

void Crew::call_others() {
  const std::lock_guard hold(mutex_);
  called_.notify_all();
}

GroupStats::Snapshot Crew::stats(std::uint32_t group) const {
  GroupStats::Snapshot sum;
  for (const auto& w : workers) sum += w->stats.read(group);
  return sum;
}

std::int64_t Crew::ready() const {
  std::int64_t n = 0;
  for (const auto& w : workers) n += w->queue.atomics();
  return n;
}

std::int64_t Crew::waiting_ahead(std::int64_t waiting) {
  std::int64_t beside = beside_.load(std::memory_order_relaxed);
  if (beside > waiting) beside_.store(beside = waiting, std::memory_order_relaxed);
  return waiting - beside;
}

}  // namespace tessera::runtime
