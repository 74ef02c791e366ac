// RecordRoom: where a rank keeps what it writes down for --record, of all who write: its workers what ran
// (trace_buffer.hpp), the communication thread what happened beside that (rank_events.hpp). Who writes much has much of
// it. When there is no room for another chunk the oldest of all is given up: what is left is the end of the run, of all
// of them from about the same time on.
//
// What is counted is what rank 0 will need for it when the run is over, for that is several times as much, and not the
// same for all that is written down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::runtime {

class RecordRoom {
 public:
  // Not filled with anything before it is written.
  struct Chunk {
    std::unique_ptr<std::uint64_t[], void (*)(void*)> words;
    std::size_t room;       // words
    std::size_t used;       // ... that are written; of the last one its writer knows
    std::size_t again = 0;  // the first so many stand in the one before, too
    std::size_t needs;      // bytes at the end; about, until it is full
    std::uint64_t began;    // ticks
  };

  // Writer: the chunks of one, the newest last. Nobody else looks into that one, or takes it away.
  class Writer {
   public:
    explicit Writer(std::shared_ptr<RecordRoom>);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    // A new one for so many words at least; `used` of the last one is final now, and `needed` what that needs at the
    // end; 0: the usual.
    Chunk& next(std::size_t words, std::size_t needed = 0);
    // Since when all is kept, in ticks; 0: there was room for all. When nobody writes any more.
    std::uint64_t since() const { return dropped_ ? chunks_.front().began : 0; }
    // Takes all away, as lists of words; the last one has `used` words by now.
    std::vector<std::vector<std::uint64_t>> take();

   private:
    friend class RecordRoom;
    const std::shared_ptr<RecordRoom> room_;
    std::deque<Chunk> chunks_;  // under the room's lock
    bool dropped_ = false;
  };

  // Half of it is full: so many bytes as it has would be good to have, too; 0: not yet. And it gets them.
  std::size_t wants();
  void get(std::size_t bytes);

  static constexpr std::size_t kUsual = 8;  // bytes at the end for one that is written down
  // `bytes`: at the end.
  RecordRoom(std::size_t bytes, std::size_t writers);

 private:
  // The one that has the oldest chunk, if that may go.
  Writer* oldest() const;

  const std::size_t chunk_words_;
  std::mutex mutex_;
  std::size_t bytes_;
  std::vector<Writer*> writers_;
  std::size_t held_ = 0;  // what all chunks need
};

}  // namespace tessera::runtime
