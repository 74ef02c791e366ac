#include "runtime/journal/journal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

#include "runtime/journal/folder.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime::journal {
namespace {

// A page with values of so many bytes is written at once; one with more takes no further ones.
constexpr std::uint64_t kPageFull = std::uint64_t{32} << 20, kPageMost = std::uint64_t{256} << 20;
// What is written waits for the disk in files of about this size: one that is lost takes no more along.
constexpr std::uint64_t kFileSize = std::uint64_t{256} << 20;
// Without an interval given: by Young's formula, from what a sweep costs and a failure a day.
constexpr double kBetweenFailures = 86400, kShortest = 1, kLongest = 60;
constexpr auto kPoll = std::chrono::milliseconds(1);  // in a simulation

Clock::duration in_seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

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
  return !p.certain && __atomic_load_n(&p.value->refs, __ATOMIC_ACQUIRE) == 1 && !has_travelled(p.value);
}

}  // namespace

Page::~Page() { release_all(pending_); }

void Page::add_rows(std::size_t more) {
  if (rows_.size() + more <= kFrame || rows_.empty()) return;
  full_.push_back(std::move(rows_));
  rows_ = {};
  rows_.reserve(kFrame);
}

void Page::add(Pending p) {
  if (bytes_ > kPageMost) return abi::release(p.value);
  bytes_ += p.value->size + sizeof p;
  pending_.push_back(p);
  if (bytes_ > kPageFull) journal_.hurry();
}

void Page::done(const Done& d, std::vector<Pending>& values) {
  if (!journal_.on()) return release_all(values);
  const std::lock_guard hold(mutex_);
  add_rows(sizeof(Id) * (d.reads.size() + 2 * d.outputs.size() + 2));
  append(rows_, d);
  for (const Pending& p : values) add(p);
  values.clear();
}

void Page::keep(const Id& id, abi::Value* v) {
  Id& recent = recent_[id.lo % kRecent];
  if (!journal_.on() || recent == id) return;
  if (journal_.known() != nullptr && journal_.known()->has(id)) return;
  recent = id;
  const std::lock_guard hold(mutex_);
  add({id, abi::retain(v), true});
}

void Page::took_back(const TakenBack& t) {
  if (!journal_.on()) return;
  const std::lock_guard hold(mutex_);
  add_rows(sizeof t);
  append(rows_, t);
}

Journal::Journal(Settings settings, std::shared_ptr<const Known> known, std::size_t workers)
    : settings_(std::move(settings)), known_(std::move(known)) {
  for (std::size_t k = 0; k < workers; ++k) pages_.push_back(std::make_unique<Page>(*this));
  pause_ = in_seconds(settings_.interval > 0 ? settings_.interval : kShortest);
}

Journal::~Journal() = default;

void Journal::start() {
  thread_ = Thread([this] { write_loop(); });
}

void Journal::stop() {
  {
    const std::lock_guard hold(mutex_);
    stopping_.store(true);
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Journal::hurry() {
  if (hurried_.exchange(true, std::memory_order_relaxed) || simulation != nullptr) return;
  changed_.notify_all();  // missed when it comes at the wrong moment: then with the next value, or in its time
}

bool Journal::wait() {
  if (simulation != nullptr) {
    for (const auto until = Clock::now() + pause_; !stopping_.load() && !hurried_.load() && Clock::now() < until;)
      sleep_for(std::min<Clock::duration>(kPoll, until - Clock::now()));
  } else {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, pause_, [this] { return stopping_.load() || hurried_.load(); });
  }
  hurried_.store(false);
  return !stopping_.load();
}

void Journal::write_loop() {
  for (bool more = true; more && on();) {
    more = wait();
    const auto from = Clock::now();
    sweep();
    if (settings_.interval > 0) continue;
    const double cost = std::chrono::duration<double>(Clock::now() - from).count();
    pause_ = in_seconds(std::clamp(std::sqrt(2 * cost * kBetweenFailures), kShortest, kLongest));
  }
}

// In this order. A value that nobody holds when it is looked at has been read by fragments whose records are on the
// pages by then (a fragment lets go of its inputs after that), so these are written with this sweep. Fragments that
// have run meanwhile, and whose records are written as well, have their values on the pages again, before them.
void Journal::sweep() {
  std::vector<Pending> values, late;
  std::vector<std::vector<std::byte>> rows;
  const auto take = [&](std::vector<Pending>& to) {
    for (const auto& page : pages_) {
      std::vector<Pending> list;
      {
        const std::lock_guard hold(page->mutex_);
        list.swap(page->pending_);
        page->bytes_ = 0;
      }
      to.insert(to.end(), list.begin(), list.end());
    }
  };
  take(values);
  std::erase_if(values, [](const Pending& p) {
    if (!unneeded(p)) return false;
    abi::release(p.value);
    return true;
  });
  for (const auto& page : pages_) {
    const std::lock_guard hold(page->mutex_);
    std::move(page->full_.begin(), page->full_.end(), std::back_inserter(rows));
    page->full_.clear();
    if (!page->rows_.empty()) rows.push_back(std::exchange(page->rows_, {}));
  }
  take(late);
  values.insert(values.end(), late.begin(), late.end());
  if (!rows.empty() || !values.empty()) write(rows, values);
  release_all(values);
}

void Journal::write(std::vector<std::vector<std::byte>>& rows, std::vector<Pending>& values) try {
  if (file_ == nullptr || file_->size() > kFileSize) {
    file_ = std::make_unique<File>(
        file_name(settings_.folder, settings_.header.attempt, settings_.header.rank, files_++), settings_.header);
  }
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
