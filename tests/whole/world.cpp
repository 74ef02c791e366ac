#include "world.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "message_text.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/ending.hpp"
#include "runtime/words/describe.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace tessera::whole {
namespace {

constexpr std::size_t kStack = 1 << 20;
constexpr std::int64_t kNever = INT64_MAX;
// What a look at the time takes, and at most a step from one wait to the next, ns.
constexpr std::int64_t kLook = 20;
constexpr std::uint64_t kLongestStep = 2000;
// One wait in so many ends for no reason.
constexpr std::uint64_t kSpurious = 50;

std::int64_t ns(World::Time t) { return t == World::Time::max() ? kNever : Span(t.time_since_epoch()).count(); }

class Stack {
 public:
  Stack() : memory_(mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, 4096, PROT_NONE);
  }
  ~Stack() { munmap(memory_, kStack); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* memory() const { return memory_; }

 private:
  void* memory_;
};

}  // namespace

struct World::Fiber {
  int number = 0;
  std::int32_t rank = 0;
  std::function<void()> body;
  std::unique_ptr<Stack> stack;
  ucontext_t context{};
  bool ended = false;
  bool waits = false;
  const void* what = nullptr;  // it waits for
  std::int64_t until = kNever;
  abi::Worker* worker = nullptr;  // runtime::thread_worker, while others run
  const Fiber* joins = nullptr;
  const char* does = "begins";
#ifdef __SANITIZE_THREAD__
  void* tsan = nullptr;
#endif
#ifdef __SANITIZE_ADDRESS__
  void* fake = nullptr;
  const void* bottom = nullptr;
  std::size_t size = 0;
#endif
};

World::World(Settings settings)
    : settings_(std::move(settings)), random_(settings_.seed), outside_(std::make_unique<Fiber>()) {
#ifdef __SANITIZE_THREAD__
  outside_->tsan = __tsan_get_current_fiber();
#endif
}

World::~World() = default;

namespace {
// Of the world that runs; a new fiber's first words can have no arguments but ints.
World* running = nullptr;
}  // namespace

End World::run(std::function<void()> body) {
  runtime::simulation = this;
  running = this;
  start(0, std::move(body));
  End end = End::done;
  while (!fibers_.front()->ended) {
    Fiber* next = pick();
    if (elapsed() > settings_.dies) {
      end = End::died;
      break;
    }
    if (next == nullptr || elapsed() > settings_.limit || ++steps_ > settings_.most_steps) {
      end = next == nullptr ? End::stuck : End::late;
      break;
    }
    now_ += static_cast<std::int64_t>(random_.below(kLongestStep));
    next->waits = false;
    current_ = next;
    runtime::thread_worker = next->worker;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&outside_->fake, next->stack->memory(), kStack);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(next->tsan, 0);
#endif
    swapcontext(&outside_->context, &next->context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(outside_->fake, nullptr, nullptr);
#endif
    next->worker = std::exchange(runtime::thread_worker, nullptr);
    current_ = nullptr;
  }
  runtime::simulation = nullptr;
  running = nullptr;
  return end;
}

// Whoever can go on; where nobody can, it becomes later.
World::Fiber* World::pick() {
  for (;;) {
    std::vector<Fiber*> can;
    std::int64_t next = kNever;
    for (const auto& f : fibers_) {
      if (f->ended) continue;
      std::int64_t from = f->waits ? f->until : now_;
      if (from == kNever) continue;
      if (from <= now_ && away(f->rank)) from = back(f->rank);
      if (from <= now_) {
        can.push_back(f.get());
      } else {
        next = std::min(next, from);
      }
    }
    if (!can.empty()) return can[random_.below(can.size())];
    if (next == kNever) return nullptr;
    now_ = next;
  }
}

bool World::away(std::int32_t rank) const {
  return std::any_of(settings_.absences.begin(), settings_.absences.end(),
                     [&](const Absence& a) { return a.rank == rank && a.from <= elapsed() && elapsed() < a.until; });
}

std::int64_t World::back(std::int32_t rank) const {
  std::int64_t at = now_;
  for (const Absence& a : settings_.absences) {
    if (a.rank != rank || a.from > elapsed()) continue;
    at = a.until == Span::max() ? kNever : std::max(at, kStart + a.until.count());
  }
  return at;
}

void World::begin(unsigned high, unsigned low) {
  auto* f = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32) | low);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &running->outside_->bottom, &running->outside_->size);
#endif
  f->body();
  f->body = nullptr;
  f->ended = true;
  running->notify(f, true);
  running->suspend();
}

void World::suspend() {
  Fiber* self = current_;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(self->ended ? nullptr : &self->fake, outside_->bottom, outside_->size);
#endif
#ifdef __SANITIZE_THREAD__
  __tsan_switch_to_fiber(outside_->tsan, 0);
#endif
  swapcontext(&self->context, &outside_->context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(self->fake, &outside_->bottom, &outside_->size);
#endif
}

World::Time World::now() { return Time(Span(now_ += kLook)); }

int World::start(std::int32_t rank, std::function<void()> body) {
  auto f = std::make_unique<Fiber>();
  f->number = static_cast<int>(fibers_.size());
  f->rank = rank == kSame ? current_->rank : rank;
  f->body = std::move(body);
  f->stack = std::make_unique<Stack>();
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = f->stack->memory();
  f->context.uc_stack.ss_size = kStack;
  f->context.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(f.get());
  makecontext(&f->context, reinterpret_cast<void (*)()>(&World::begin), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
#ifdef __SANITIZE_THREAD__
  f->tsan = __tsan_create_fiber(0);
#endif
  fibers_.push_back(std::move(f));
  return fibers_.back()->number;
}

void World::join(int thread) {
  Fiber* f = fibers_[static_cast<std::size_t>(thread)].get();
  Fiber* self = current_;
  self->joins = f;
  while (!f->ended) wait(f, Time::max());
  self->joins = nullptr;
}

void World::wait(const void* what, Time until) {
  Fiber* self = current_;
  self->waits = true;
  self->what = what;
  self->until = random_.below(kSpurious) == 0 ? now_ : ns(until);
  self->does = "waits";
  suspend();
}

void World::notify(const void* what, bool all) {
  std::vector<Fiber*> waiting;
  for (const auto& f : fibers_) {
    if (f->waits && f->what == what && !f->ended) waiting.push_back(f.get());
  }
  if (waiting.empty()) return;
  if (!all) waiting = {waiting[random_.below(waiting.size())]};
  for (Fiber* f : waiting) f->until = std::min(f->until, now_);
}

void World::runs(const abi::Cf* c) {
  // Each group has a time of its own, and each of its fragments some of that.
  const std::uint64_t most = static_cast<std::uint64_t>(settings_.longest.count());
  balancer::Random of_group(settings_.seed ^ (c->block->group * 0x9E3779B97F4A7C15u));
  std::int64_t takes = 0;
  if (c->block->kind == abi::Kind::atomic && most > 0) {
    const std::uint64_t about = std::max<std::uint64_t>(1, most >> of_group.below(12));
    takes = static_cast<std::int64_t>(about / 2 + random_.below(about));
  }
  event(static_cast<std::uint64_t>(takes) ^ c->id.lo);
  if (settings_.on_run) settings_.on_run(current_->rank, c);
  if (settings_.told) {
    const runtime::Node& node = runtime::thread_worker->node;
    note(fmt::format("rank {}.{} runs {}", current_->rank, runtime::thread_worker->number,
                     runtime::describe(node.facts.program, c)));
  }
  if (takes == 0) return;
  Fiber* self = current_;
  self->does = "runs a fragment";
  self->waits = true;
  self->what = nullptr;
  self->until = now_ + takes;
  suspend();
}

bool World::delivers(std::int32_t from, std::int32_t to, const runtime::Parcel& message) {
  // Not all bytes: an address is among those of some (`ack`).
  const auto tag = static_cast<unsigned>(message.bytes.front());
  event(tag * 131 + static_cast<unsigned>(from) * 17 + static_cast<unsigned>(to) + message.bytes.size() * 1000003);
  if (settings_.told)
    note(fmt::format("rank {} -> {}: {}", from, to, message_text(runtime::decode(runtime::Parcel(message)))));
  const bool arrives = !away(from) || back(from) != kNever;
  if (arrives && settings_.on_message) settings_.on_message(from, to, message);
  return arrives;
}

void World::event(std::uint64_t digest) {
  ++events_;
  const std::uint64_t words[] = {trace_, digest, static_cast<std::uint64_t>(now_)};
  trace_ = XXH3_64bits(words, sizeof words);
}

void World::note(const std::string& text) {
  if (settings_.told)
    transcript_.push_back(fmt::format("{:12.3f} us  {}", static_cast<double>(elapsed().count()) * 1e-3, text));
}

bool World::living_ended() const {
  const auto dead = [&](const Fiber& f) { return away(f.rank) && back(f.rank) == kNever; };
  return std::all_of(fibers_.begin(), fibers_.end(), [&](const auto& f) {
    return f->ended || dead(*f) || (f->joins != nullptr && !f->joins->ended && dead(*f->joins));
  });
}

std::string World::standing() const {
  std::string text = fmt::format("after {:.3f} ms and {} events, {} steps:\n",
                                 static_cast<double>(elapsed().count()) * 1e-6, events_, steps_);
  for (const auto& f : fibers_) {
    if (f->ended) continue;
    const std::string until =
        f->until == kNever ? "for good" : fmt::format("until {:.3f} ms", static_cast<double>(f->until - kStart) * 1e-6);
    text += fmt::format("  rank {}, thread {}: {} {}{}\n", f->rank, f->number, f->does, f->waits ? until : "now",
                        away(f->rank) ? " (away)" : "");
  }
  return text;
}

}  // namespace tessera::whole
