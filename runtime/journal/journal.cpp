#include "runtime/journal/journal.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <utility>

#include "runtime/journal/folder.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime::journal {
namespace {

// What is written waits for the disk in files of about this size: one that is lost takes no more along.
constexpr std::uint64_t kFileSize = std::uint64_t{256} << 20;
constexpr auto kPoll = std::chrono::milliseconds(1);  // in a simulation
constexpr auto kLookEvery = std::chrono::seconds(5);  // else: what is to be written becomes less as well

Clock::duration in_seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

// Where nobody tells what of it is out: who passes it on has it by then.
constexpr auto kPassedOn = std::chrono::milliseconds(20);
// A process that is to end, beside one that passes nothing on any more.
constexpr auto kToPassOn = std::chrono::milliseconds(200);

// Of this process.
std::mutex running_mutex;
std::vector<Journal*> running;

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

std::span<const std::byte> payload_of(const abi::Value* v) {
  if (v->type == abi::Type::integer) return std::as_bytes(std::span(&v->i, 1));
  if (v->type == abi::Type::longint) return std::as_bytes(std::span(&v->l, 1));
  if (v->type == abi::Type::real) return std::as_bytes(std::span(&v->r, 1));
  return {static_cast<const std::byte*>(v->data), v->size};
}

double processor_seconds() { return 1e-9 * static_cast<double>(thread_cpu_ns()); }

}  // namespace

Journal::Journal(Settings settings, std::shared_ptr<const Known> known, std::size_t workers)
    : settings_(std::move(settings)), known_(std::move(known)) {
  for (std::size_t k = 0; k < workers; ++k) pages_.push_back(std::make_unique<Page>(*this));
}

Journal::~Journal() {
  const std::lock_guard hold(running_mutex);
  std::erase(running, this);
}

void Journal::start() {
  {
    const std::lock_guard hold(running_mutex);
    capture();
    running.push_back(this);
  }
  print_again();
  began_ = swept_ = Clock::now();
  thread_ = Thread([this] { write_loop(); });
}

// One stream has what all ranks of this process print.
void Journal::capture() {
  if (simulation != nullptr) {
    if (capture_simulated) captured_ = capture_simulated(settings_.stream);
    return;
  }
  if (!settings_.marked) return;
  for (const Journal* other : running) captured_ = other->captured_;
  if (captured_ == nullptr) captured_ = capture_stdout(settings_.stream);
}

void Journal::print_again() {
  if (known_ == nullptr || settings_.header.rank != 0) return;
  PrintedFile file(settings_.folder);
  for (const PrintedText::Again& a : known_->printed.again()) {
    if (captured_ != nullptr) {
      captured_->print_again(a.stream, a.upto, a.text);
      continue;
    }
    std::fwrite(a.text.data(), 1, a.text.size(), stdout);
    flush_output();
    if (started_by_launcher()) sleep_for(kPassedOn);
    file.note(a.stream, a.upto);
  }
}

void Journal::write_all() {
  const std::lock_guard hold(running_mutex);
  for (Journal* j : running) j->stop(true);
}

void Journal::stop(bool last_sweep) {
  const std::lock_guard alone(ending_);
  {
    const std::lock_guard hold(mutex_);
    last_sweep_.store(last_sweep);
    stopping_.store(true);
  }
  changed_.notify_all();
  wrote_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (captured_ != nullptr) {
    captured_->end(last_sweep ? kToPassOn : kToPassOn.max());
  } else if (!last_sweep && started_by_launcher() && simulation == nullptr) {
    flush_output();
    sleep_for(kPassedOn);  // the next run begins anew
  }
}

void Journal::write_now() {
  if (simulation != nullptr) return hurry();
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++asked_;
  changed_.notify_all();
  wrote_.wait(lock, [&] { return answered_ >= mine || stopping_.load() || !on(); });
}

void Journal::hurry() {
  if (hurried_.exchange(true, std::memory_order_relaxed) || simulation != nullptr) return;
  changed_.notify_all();  // missed when it comes at the wrong moment: then with the next value, or in its time
}

// What the next sweep would have to write at most.
Pace::Amount Journal::amount() {
  Pace::Amount all;
  const Gate::Closed closed;
  for (const auto& page : pages_) {
    const Pace::Amount more = page->amount();
    all.bytes += more.bytes;
    all.values += more.values;
  }
  return all;
}

double Journal::seconds_to_wait() {
  if (settings_.interval > 0) return settings_.interval - seconds_since(swept_);
  return pace_.interval(amount(), seconds_since(began_)) - seconds_since(swept_);
}

bool Journal::wait() {
  for (;;) {
    const double left = seconds_to_wait();
    if (stopping_.load() || hurried_.load() || left <= 0) break;
    const auto hurries = [this] { return stopping_.load() || hurried_.load() || asked_ > answered_; };
    const auto pause = std::min<Clock::duration>(in_seconds(left), simulation != nullptr ? kPoll : kLookEvery);
    if (simulation != nullptr) {
      sleep_for(pause);
      continue;
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, pause, hurries)) break;
  }
  hurried_.store(false);
  return !stopping_.load();
}

void Journal::write_loop() {
  give_back_at_exit();  // it lets go of values
  for (bool more = true; more && on();) {
    more = wait();
    if (!more && !last_sweep_.load()) return;
    std::uint64_t asked = 0;
    {
      const std::lock_guard hold(mutex_);
      asked = asked_;
    }
    const double from = processor_seconds();
    const Pace::Amount amount = sweep();
    if (simulation == nullptr) pace_.took(amount, processor_seconds() - from);
    swept_ = Clock::now();
    {
      const std::lock_guard hold(mutex_);
      answered_ = asked;
    }
    wrote_.notify_all();
  }
}

// In a simulation: for a moment, which is long enough for several fragments now and then.
void Journal::let_others_run() const {
  if (simulation != nullptr) simulation->wait(this, Clock::now() + std::chrono::microseconds(1 << sweeps_ % 8));
}

// While the gate is closed all pages are taken: in one moment, as others see it. A value that is gone has been read by
// fragments that were on the pages by then (a fragment lets go of its inputs after that), so these are in this sweep or
// in earlier ones; each other value that those on the pages have given is in it. What those have assigned that have not
// returned may have been read by some that are taken; these may be in an earlier sweep than who assigned it, which may
// be lost: so it is written in any case. While it is written all go on; and who lets go of a value leaves it.
Pace::Amount Journal::sweep() {
  let_others_run();
  std::vector<Page::Taken> all;
  all.reserve(pages_.size());
  {
    const Gate::Closed closed;
    for (const auto& page : pages_) all.push_back(page->take());
    taken_.fetch_add(1, std::memory_order_relaxed);
  }
  let_others_run();
  Pace::Amount amount;
  std::size_t other = 0;
  for (const Page::Taken& t : all) {
    amount.values += t.slots.size();
    for (const Slot* s : t.slots) amount.bytes += sizeof(Slot) + s->value.load(std::memory_order_relaxed)->size;
    for (const auto& r : t.rows) amount.bytes += r.size();
    amount.bytes += t.ranges.bytes() + t.gone.size() * sizeof(Id);
    other += t.rows.size() + t.gone.size() + (t.ranges.empty() ? 0 : 1);
  }
  if (amount.values + other > 0 || (captured_ != nullptr && captured_->size() > kPageFull)) write(all);
  let_others_run();
  const Gate::Closed closed;
  for (std::size_t k = 0; k < all.size(); ++k) on() ? pages_[k]->written(all[k]) : pages_[k]->stop();
  return amount;
}

void Journal::write(const Page::Taken& t) {
  RowWriter rows(*file_);
  for (const Slot* s : t.slots) {
    const abi::Value* const v = s->value.load(std::memory_order_relaxed);
    rows.put(ValueOf{s->name, s->maker, v->type, payload_of(v), 0});
  }
  for (const Range& r : t.ranges.ranges()) rows.put(r);
  constexpr std::size_t kAtOnce = 1024;
  const std::span<const Id> singles = t.ranges.singles();
  for (std::size_t k = 0; k < singles.size(); k += kAtOnce)
    rows.put(Ran{singles.subspan(k, std::min(kAtOnce, singles.size() - k))});
  for (const Id& id : t.gone) rows.put(Gone{id});
  rows.flush();
  for (const auto& r : t.rows) file_->records(r);
}

// What is noted as done does not run again. So what it has printed stands before it, or is with the user.
void Journal::write_text() {
  if (captured_ == nullptr) {
    flush_lines();
    if (started_by_launcher() && simulation == nullptr) sleep_for(kPassedOn);
    return;
  }
  const Captured::Part part = captured_->take();
  RowWriter rows(*file_);
  const std::string_view text = part.text;
  for (std::size_t at = 0; at < text.size(); at += kFrame)
    rows.put(Text{captured_->stream, part.from + at, text.substr(at, kFrame)});
  rows.flush();
  const std::uint64_t upto = part.all ? part.from + text.size() : UINT64_MAX;
  if (upto > 0) file_->needs({{captured_->stream, upto}});
}

// What balances the run that goes on from here.
void Journal::write_learned() {
  RowWriter rows(*file_);
  if (const Learned learned = settings_.learned ? settings_.learned() : Learned{}; !learned.empty()) rows.put(learned);
  if (SeriesPlaces now = settings_.places ? settings_.places() : places_; now != places_) {
    places_ = std::move(now);
    rows.put(places_);
  }
  if (HostLinks now = settings_.links ? settings_.links() : links_; now != links_) {
    links_ = std::move(now);
    rows.put(links_);
  }
  rows.flush();
}

void Journal::write(const std::vector<Page::Taken>& all) try {
  if (file_ == nullptr || file_->size() > kFileSize) {
    file_ = std::make_unique<File>(
        file_name(settings_.folder, settings_.header.attempt, settings_.header.rank, files_++), settings_.header);
  }
  file_->begin_sweep(++sweeps_);
  write_text();
  bool whole = true;
  for (const Page::Taken& t : all) {
    write(t);
    whole = whole && !t.lost;
  }
  write_learned();
  if (whole) file_->end_sweep();
  simulation == nullptr ? file_->sync() : file_->flush();
} catch (const std::exception& e) {
  on_.store(false);
  if (captured_ != nullptr) captured_->let_go();
  if (!settings_.quiet) {
    std::fprintf(stderr,
                 "tessera: warning: the journal can't be written: %s; the run goes on without it, and what is written "
                 "counts\n",
                 e.what());
  }
}

}  // namespace tessera::runtime::journal
