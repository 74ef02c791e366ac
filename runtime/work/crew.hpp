// Crew: the workers of a rank, who of them is idle, and what is to be seen of all of them together.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/work/company.hpp"
#include "runtime/work/growing.hpp"
#include "runtime/work/sleepers.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime {

class Crew {
 public:
  // `plenty`: as Worker has it.
  Crew(Node&, const RunFacts&, const Held&, std::int32_t threads, std::uint32_t groups, std::int64_t plenty);
  Crew(const Crew&) = delete;

  std::size_t size() const { return workers.size(); }
  // True when nothing here can run, and nothing is being run.
  bool idle();
  // With so many waiting: what may be made by who is held. What is due waited for what others were ahead of: without it
  // these would wait for ever. But it may be far ahead itself.
  static Making in_any_case(std::int64_t waiting) { return waiting < 2 * most_ahead ? Making::due : Making::subs; }
  // True when nothing here goes on by itself, though there are loops to make more by (Lead); about.
  bool rests();
  void call();  // nothing in the whole run does: who rests may make more; communication thread
  std::uint32_t calls() const { return calls_.load(std::memory_order_relaxed); }
  bool all_idle() const;                    // though there may be something for them
  bool others_let_go(const Worker&) const;  // about: somebody else runs what does not add to what piles up
  static void set_lets_go(Worker& w, bool does) { __atomic_store_n(&w.lets_go, does, __ATOMIC_RELAXED); }
  bool nothing_queued() const;  // about
  Worker& any_worker();         // for work that comes from outside
  std::vector<Cf*> take_all();  // what is to run, when nothing runs any more
  // What is known of a group's fragments that have run here.
  GroupStats::Snapshot stats(std::uint32_t group) const;
  std::int64_t ready() const;

  // ---- fragments that wait for inputs
  WaitCounts::Seen look(const Worker& w) const { return waiting_.look(w.waits, w.wakes); }
  // Communication thread; about.
  std::int64_t waiting_now() const { return look(*outside).waiting; }
  // What this rank would not make now is no work for others either: it would be sent to and fro, and no wave would find
  // the run quiet.
  Making offered() const { return waiting_now() < most_ahead ? Making::movable : Making::subs; }
  // Of so many the ones that loops wait for, or will: not those that were made beside what is held.
  std::int64_t waiting_ahead(std::int64_t waiting);
  void made_beside(std::int64_t n) { beside_.fetch_add(n, std::memory_order_relaxed); }
  // What it has counted of them.
  static void publish(Worker& w) {
    w.waits.publish();
    w.wakes.publish();
  }

  // ---- how many of them work
  // First worker, every now and then: it goes on to another fragment.
  void keep_company();
  // First worker: it has nothing to run.
  void call_others();
  // Another one: not while somebody has nothing to run.
  bool stays_away(const Worker& w, std::uint64_t now) const {
    return !sleepers.any() && company.stays_away(w.number, now);
  }
  // ... looks whether it is `to_stay` each millisecond, or when it is called.
  template <class F>
  void stay_away(F to_stay);
  // All but one stay away now.
  bool one_works() const { return away_.load(std::memory_order_relaxed) + 1 == static_cast<std::int32_t>(size()); }

  Growing growing;
  Company company;
  alignas(kLine) Sleepers sleepers;
  alignas(kLine) std::vector<std::unique_ptr<Worker>> workers;
  std::unique_ptr<Worker> outside;  // the communication thread's

 private:
  bool quiet(Making);

  std::atomic<std::int32_t> away_{0};
  std::mutex mutex_;  // of who stays away
  std::condition_variable called_;
  std::atomic<std::uint32_t> next_worker_{0};
  std::atomic<std::uint32_t> calls_{0};
  WaitCounts waiting_;
  // Written only while somebody is held (Lead).
  alignas(kLine) std::atomic<std::int64_t> beside_{
      0};  // fragments that wait and were made by who may make no loops that stay; rather more
};

template <class F>
void Crew::stay_away(F to_stay) {
  away_.fetch_add(1, std::memory_order_relaxed);
  for (std::unique_lock hold(mutex_); to_stay();) called_.wait_for(hold, std::chrono::milliseconds(1));
  away_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tessera::runtime
