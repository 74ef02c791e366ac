#include "runtime/trace/record_room.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "runtime/threads/ticks.hpp"

namespace tessera::runtime {

namespace {

// Where memory comes in large pages a chunk is one, so that each page is not asked for by itself; less where that would
// be much of the room.
constexpr std::size_t kLeastChunk = std::size_t{1} << 11, kMostChunk = std::size_t{1} << 21;  // bytes
constexpr std::size_t kLeastChunks = 8;                                                       // of a writer

RecordRoom::Chunk new_chunk(std::size_t words) {
  const std::size_t size = words * sizeof(std::uint64_t), pages = (size + kMostChunk - 1) / kMostChunk * kMostChunk;
  void* memory = size < kMostChunk ? std::malloc(size) : std::aligned_alloc(kMostChunk, pages);
  if (memory == nullptr) throw std::bad_alloc();
  if (size >= kMostChunk) madvise(memory, pages, MADV_HUGEPAGE);
  return {.words = {static_cast<std::uint64_t*>(memory), std::free}, .room = words, .used = 0, .needs = 0, .began = 0};
}

}  // namespace

RecordRoom::RecordRoom(std::size_t bytes, std::size_t writers)
    : chunk_words_(std::clamp(std::bit_floor(bytes / kUsual / (kLeastChunks * writers)), kLeastChunk, kMostChunk) /
                   sizeof(std::uint64_t)),
      bytes_(bytes) {}

std::size_t RecordRoom::wants() {
  const std::lock_guard hold(mutex_);
  return held_ > bytes_ / 2 ? bytes_ : 0;
}

void RecordRoom::get(std::size_t bytes) {
  const std::lock_guard hold(mutex_);
  bytes_ += bytes;
}

RecordRoom::Writer* RecordRoom::oldest() const {
  Writer* found = nullptr;
  for (Writer* w : writers_) {
    if (w->chunks_.size() >= 2 && (found == nullptr || w->chunks_[1].began < found->chunks_[1].began)) found = w;
  }
  return found;
}

RecordRoom::Writer::Writer(std::shared_ptr<RecordRoom> room) : room_(std::move(room)) {
  const std::lock_guard hold(room_->mutex_);
  room_->writers_.push_back(this);
}

RecordRoom::Writer::~Writer() {
  const std::lock_guard hold(room_->mutex_);
  std::erase(room_->writers_, this);
}

RecordRoom::Chunk& RecordRoom::Writer::next(std::size_t words, std::size_t needed) {
  words = std::max(words, room_->chunk_words_);
  const std::lock_guard hold(room_->mutex_);
  if (needed > 0 && !chunks_.empty()) {
    Chunk& last = chunks_.back();
    room_->held_ = room_->held_ - last.needs + needed;
    last.needs = needed;
  }
  std::optional<Chunk> spare;
  const std::size_t needs = words * sizeof(std::uint64_t) * kUsual;
  while (room_->held_ + needs > room_->bytes_) {
    Writer* const w = room_->oldest();
    if (w == nullptr) break;
    spare = std::move(w->chunks_.front());
    room_->held_ -= spare->needs;
    w->chunks_.pop_front();
    w->dropped_ = true;
  }
  chunks_.push_back(spare && spare->room >= words ? std::move(*spare) : new_chunk(words));
  Chunk& now = chunks_.back();
  now.needs = now.room * sizeof(std::uint64_t) * kUsual;
  room_->held_ += now.needs;
  now.used = now.again = 0;
  now.began = ticks();
  return now;
}

std::vector<std::vector<std::uint64_t>> RecordRoom::Writer::take() {
  const std::lock_guard hold(room_->mutex_);
  std::vector<std::vector<std::uint64_t>> all;
  for (Chunk& c : chunks_) {
    all.emplace_back(c.words.get() + (all.empty() ? 0 : c.again), c.words.get() + c.used);
    room_->held_ -= c.needs;
    c.words.reset();
  }
  chunks_.clear();
  return all;
}

}  // namespace tessera::runtime
