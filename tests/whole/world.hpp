// World: whole ranks in one thread, on a time of its own, under a seed. The threads of the ranks are fibers here; each
// of them runs until it waits, or is about to run a fragment's code, and then the seed says who goes on. A fragment's
// code takes no time itself: it begins when the time that the seed gives it is over. When nobody can go on, the time
// moves to where somebody can. So one seed is one run: the same events in the same order, whatever else the machine
// does.
//
// A rank may pause (nothing of it runs, for a while) or crash (nothing of it ever runs again, and what is sent to it or
// under way from it is lost).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "balancer/random.hpp"
#include "runtime/threads/simulation.hpp"

namespace tessera::whole {

using Span = std::chrono::nanoseconds;

struct Absence {
  std::int32_t rank = 0;
  Span from{0};
  Span until = Span::max();  // max: it has crashed
};

struct Settings {
  std::uint64_t seed = 1;
  std::size_t cores = 1;                  // of each rank
  Span longest{0};                        // that a fragment's code takes; most take much less
  Span limit = std::chrono::seconds(20);  // longer than this no run lasts
  Span dies = Span::max();                // all ranks at once: nothing of them runs any more
  std::size_t most_steps = 2'000'000;     // from one wait to the next
  std::vector<Absence> absences;
  bool told = false;  // keep the transcript
  // Who looks on: what is about to run, and what is delivered.
  std::function<void(std::int32_t rank, const abi::Cf*)> on_run;
  std::function<void(std::int32_t from, std::int32_t to, const runtime::Parcel&)> on_message;
};

enum class End : std::uint8_t {
  done,   // the body has come back
  stuck,  // nobody can ever go on
  late,   // ... or not before the limit
  died,   // as the settings say
};

class World final : public runtime::Simulation {
 public:
  explicit World(Settings settings);
  ~World() override;

  // Runs the body as the first thread of rank 0, with whatever it starts. Once.
  End run(std::function<void()> body);

  std::uint64_t trace() const { return trace_; }  // a digest of all events and their times
  std::size_t events() const { return events_; }
  Span elapsed() const { return Span(now_ - kStart); }
  const std::vector<std::string>& transcript() const { return transcript_; }
  // Whether all but what has crashed came to its end, or waits for the threads of that.
  bool living_ended() const;
  // Who waits, for a person.
  std::string standing() const;
  // What else a test wants to be in trace and transcript.
  void note(const std::string& text);

  Time now() override;
  int start(std::int32_t rank, std::function<void()> body) override;
  void join(int thread) override;
  void wait(const void* what, Time until) override;
  void notify(const void* what, bool all) override;
  void runs(const abi::Cf*) override;
  bool delivers(std::int32_t from, std::int32_t to, const runtime::Parcel& message) override;
  std::size_t cores() const override { return settings_.cores; }

 private:
  struct Fiber;
  static void begin(unsigned high, unsigned low);
  Fiber* pick();
  bool away(std::int32_t rank) const;
  std::int64_t back(std::int32_t rank) const;  // when a rank that is away is back
  void suspend();
  void event(std::uint64_t digest);

  const Settings settings_;
  balancer::Random random_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
  std::unique_ptr<Fiber> outside_;  // who has called run
  // ns. Not from 0: what was never done was long ago.
  static constexpr std::int64_t kStart = 1'000'000'000'000'000;
  std::int64_t now_ = kStart;
  std::uint64_t trace_ = 0;
  std::size_t events_ = 0;
  std::size_t steps_ = 0;
  std::vector<std::string> transcript_;
};

}  // namespace tessera::whole
