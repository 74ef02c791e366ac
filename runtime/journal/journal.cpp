#include "runtime/journal/journal.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <utility>

#include "runtime/journal/folder.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/printed.hpp"

namespace tessera::runtime::journal {
namespace {

// A page with values of so many bytes is written at once; one with more takes no further ones.
constexpr std::uint64_t kPageFull = std::uint64_t{32} << 20, kPageMost = std::uint64_t{256} << 20;
// What is written waits for the disk in files of about this size: one that is lost takes no more along.
constexpr std::uint64_t kFileSize = std::uint64_t{256} << 20;
constexpr auto kPoll = std::chrono::milliseconds(1);  // in a simulation
constexpr auto kLook = std::chrono::seconds(5);       // else: what is to be written becomes less as well

Clock::duration in_seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

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

void release_all(std::vector<Pending>& list) {
  for (const Pending& p : list) abi::release(p.value);
  list.clear();
}

// Everybody who has read it has written that down, and nobody else will.
bool unneeded(const Pending& p) {
  return p.uses != Pending::Uses::kept && __atomic_load_n(&p.value->refs, __ATOMIC_ACQUIRE) == 1 &&
         !has_travelled(p.value) && (p.uses == Pending::Uses::known || reads_of(p.value) < kReadsUnknown);
}

std::uint64_t bytes_of(const Pending& p) { return p.value->size + sizeof p; }

// Releases those. What is known of their readers only now goes to `read`.
void drop_unneeded(std::vector<Pending>& list, std::vector<std::byte>& read) {
  std::erase_if(list, [&read](const Pending& p) {
    if (!unneeded(p)) return false;
    if (p.uses == Pending::Uses::counted) append(read, Read{p.id, static_cast<std::int64_t>(reads_of(p.value))});
    abi::release(p.value);
    return true;
  });
}

double processor_seconds() { return 1e-9 * static_cast<double>(thread_cpu_ns()); }

}  // namespace

Page::~Page() {
  forget(0);
  release_all(small_.all);
  release_all(large_.all);
}

void Page::add_rows(std::size_t more) {
  if (rows_.size() + more <= kFrame || rows_.empty()) return;
  full_.push_back(std::move(rows_));
  rows_ = {};
  rows_.reserve(kFrame);
}

// Looking costs little for each value, since it is done again only when there are so many more.
void Page::add(Pending p) {
  const bool large = p.value->size >= kLarge;
  Pile& pile = large ? large_ : small_;
  if (large && pile.all.size() >= look_at_large_) {
    look(pile);
    look_at_large_ = pile.all.size() + 1 + pile.all.size() / 32;
  } else if (!large && (pile.all.size() >= look_at_ || pile.bytes >= look_bytes_)) {
    look(pile);
    look_at_ = std::max(kFewPending, 2 * pile.all.size());
    look_bytes_ = pile.bytes + std::max(kFewBytes, pile.bytes / 8);
  }
  if (small_.idle + large_.idle > kPageMost) return abi::release(p.value);
  pile.bytes += bytes_of(p);
  pile.all.push_back(p);
}

void Page::look(Pile& pile) {
  std::vector<std::byte> read;
  drop_unneeded(pile.all, read);
  if (!read.empty()) {
    add_rows(read.size());
    rows_.insert(rows_.end(), read.begin(), read.end());
  }
  pile.bytes = pile.idle = 0;
  for (const Pending& p : pile.all) {
    pile.bytes += bytes_of(p);
    if (__atomic_load_n(&p.value->refs, __ATOMIC_RELAXED) == 1) pile.idle += bytes_of(p);
  }
  if (small_.idle + large_.idle > kPageFull) journal_.hurry();
}

void Page::give(const Output& output, abi::Value* v) {
  outputs_.push_back(output);
  values_.push_back(abi::retain(v));
}

void Page::forget(std::size_t from) {
  for (std::size_t k = from; k < values_.size(); ++k) abi::release(values_[k]);
  outputs_.resize(from);
  values_.resize(from);
}

void Page::done(const Id& key, const InputNames& reads, std::size_t from) {
  if (!journal_.on()) return forget(from);
  reads_.clear();
  for (unsigned k = 0; k < reads.size(); ++k) {
    if (abi::is_needed(reads[k])) reads_.push_back(reads[k].id);
  }
  const Done d{key, reads_, std::span<const Output>(outputs_).subspan(from)};
  const std::lock_guard hold(mutex_);
  add_rows(sizeof(Id) * (d.reads.size() + 2 * d.outputs.size() + 2));
  append(rows_, d);
  for (std::size_t k = 0; k < d.outputs.size(); ++k) {
    add({d.outputs[k].id, values_[from + k], d.outputs[k].uses < 0 ? Pending::Uses::counted : Pending::Uses::known});
  }
  outputs_.resize(from);
  values_.resize(from);
}

void Page::keep(const Id& id, abi::Value* v) {
  Id& recent = recent_[id.lo % kRecent];
  if (!journal_.on() || recent == id) return;
  if (journal_.known() != nullptr && journal_.known()->has(id)) return;
  recent = id;
  const std::lock_guard hold(mutex_);
  add({id, abi::retain(v)});
}

void Page::write_now() { journal_.write_now(); }

void Page::took_back(const TakenBack& t) {
  if (!journal_.on()) return;
  const std::lock_guard hold(mutex_);
  add_rows(sizeof t);
  append(rows_, t);
}

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
    running.push_back(this);
  }
  began_ = swept_ = Clock::now();
  thread_ = Thread([this] { write_loop(); });
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
  for (const auto& page : pages_) {
    const std::lock_guard hold(page->mutex_);
    all.bytes += page->small_.bytes + page->large_.bytes + page->full_.size() * kFrame + page->rows_.size();
    all.values += page->small_.all.size() + page->large_.all.size();
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
    const auto pause = std::min<Clock::duration>(in_seconds(left), simulation != nullptr ? kPoll : kLook);
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

// In this order. A value that nobody holds when it is looked at has been read by fragments whose records are on the
// pages by then (a fragment lets go of its inputs after that), so these are written with this sweep. Fragments that
// have run meanwhile, and whose records are written as well, have their values on the pages again, before them.
Pace::Amount Journal::sweep() {
  std::vector<Pending> values, late;
  std::vector<std::vector<std::byte>> rows;
  const auto take = [&](std::vector<Pending>& to) {
    for (const auto& page : pages_) {
      Page::Pile small, large;
      {
        const std::lock_guard hold(page->mutex_);
        std::swap(small, page->small_);
        std::swap(large, page->large_);
        page->look_at_ = Page::kFewPending;
        page->look_bytes_ = Page::kFewBytes;
        page->look_at_large_ = 1;
      }
      to.insert(to.end(), small.all.begin(), small.all.end());
      to.insert(to.end(), large.all.begin(), large.all.end());
    }
  };
  take(values);
  std::vector<std::byte> read;
  drop_unneeded(values, read);
  if (!read.empty()) rows.push_back(std::move(read));
  for (const auto& page : pages_) {
    const std::lock_guard hold(page->mutex_);
    std::move(page->full_.begin(), page->full_.end(), std::back_inserter(rows));
    page->full_.clear();
    if (!page->rows_.empty()) rows.push_back(std::exchange(page->rows_, {}));
  }
  take(late);
  values.insert(values.end(), late.begin(), late.end());
  Pace::Amount amount;
  amount.values = values.size();
  for (const Pending& p : values) amount.bytes += bytes_of(p);
  for (const auto& r : rows) amount.bytes += r.size();
  if (!rows.empty() || !values.empty()) write(rows, values);
  release_all(values);
  return amount;
}

void Journal::write(std::vector<std::vector<std::byte>>& rows, std::vector<Pending>& values) try {
  if (file_ == nullptr || file_->size() > kFileSize) {
    file_ = std::make_unique<File>(
        file_name(settings_.folder, settings_.header.attempt, settings_.header.rank, files_++), settings_.header);
  }
  // What is noted as done must have printed what it prints: it does not run again.
  simulation == nullptr ? text::await_printed(stopping_.load()) : void(flush_output());
  std::vector<std::byte> small;
  const auto flush = [&] {
    if (!small.empty()) file_->records(small);
    small.clear();
  };
  for (const Pending& p : values) {
    const ValueOf v{p.id, p.value->type, payload_of(p.value), 0};
    if (v.bytes.size() > kSmallValue) {
      file_->value(v);
      continue;
    }
    append(small, v);
    if (small.size() > kFrame) flush();
  }
  flush();
  for (const auto& r : rows) file_->records(r);
  if (settings_.learned) {
    if (const Learned learned = settings_.learned(); !learned.empty()) append(small, learned);
    flush();
  }
  if (simulation == nullptr) file_->sync();
} catch (const std::exception& e) {
  on_.store(false);
  if (!settings_.quiet) {
    std::fprintf(stderr,
                 "tessera: warning: the journal can't be written: %s; the run goes on without it, and what is written "
                 "counts\n",
                 e.what());
  }
}

}  // namespace tessera::runtime::journal
