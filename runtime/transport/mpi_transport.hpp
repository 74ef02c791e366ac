// The MPI transport; only its own files include mpi.h: this one, mpi_transport.cpp (begin, end,
// progress, sleep), mpi_send.cpp and mpi_receive.cpp.
//
// Out: send() appends to one outbox (any thread, small lock). progress() empties it: records
// (wire.hpp) go to ranks of this host through a ring of bytes in shared memory (byte_ring.hpp), to others packed into
// an envelope per destination; envelopes leave as eager messages. Pieces follow as messages of their own. In: rings are
// looked at when the bell has rung; a row of posted receives takes envelopes from anybody; their records say which
// pieces to receive, and into what. Order: MPI matches messages of one pair, tag and communicator in the order sent.
// Envelopes are taken in the order posted and pieces are posted in record order; a parcel is handed out when it is
// whole and all before it from the same rank were. Threads: `progress_lock` of the runtime serialises progress(),
// barrier() and the destructor, and so all that is "progress only" below. mpi_mutex_ is held around
// MPI calls for abort()'s sake alone. Sleep: wait() makes no MPI call. Each rank has a doorbell in
// memory shared by the host; who sends to it rings. progress() notes the bell's count before it
// looks at MPI, and wait() sleeps on that count; not for ever, since MPI may show a message
// later than at the first look (tests/transport/late_mpi.cpp). For other hosts, the kernel rings (socket_watch.hpp).
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/transport/barrier_protocol.hpp"
#include "runtime/transport/byte_ring.hpp"
#include "runtime/transport/doorbell.hpp"
#include "runtime/transport/last_call.hpp"
#include "runtime/transport/socket_watch.hpp"
#include "runtime/transport/text_carrier.hpp"
#include "runtime/transport/text_collector.hpp"
#include "runtime/transport/transport.hpp"
#include "runtime/transport/wire.hpp"

namespace tessera::runtime::mpi {

using wire::Outgoing;

constexpr int kEnvelopeTag = 1;
constexpr int kPieceTag = 2;
constexpr std::size_t kPosted = 16;                  // receives for envelopes
constexpr std::uint32_t kEnvelopesInFlight = 64;     // per destination
constexpr std::uint32_t kPiecesInFlight = 16;        // per pair and direction
constexpr std::uint64_t kLargestMessage = 1u << 30;  // MPI counts are int

// check throws what MPI has to say unless `code` is MPI_SUCCESS.
void check(int code, const char* call);

// Requests is a set of unfinished MPI requests, each with what it stands for.
template <class What>
class Requests {
 public:
  void add(MPI_Request request, What what) {
    requests_.push_back(request);
    what_.push_back(std::move(what));
  }
  bool empty() const { return requests_.empty(); }
  // poll calls done(What&&) for what has finished, after taking it out (so done may add).
  template <class Done>
  bool poll(Done done) {
    if (requests_.empty()) return false;
    int count = 0;
    indices_.resize(requests_.size());
    check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(),
                       MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    if (count <= 0) return false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) {
        finished_.push_back(std::move(what_[i]));
        continue;
      }
      if (kept != i) {
        requests_[kept] = requests_[i];
        what_[kept] = std::move(what_[i]);
      }
      ++kept;
    }
    requests_.resize(kept);
    what_.resize(kept);
    for (What& w : finished_) done(std::move(w));
    finished_.clear();
    return true;
  }

 private:
  std::vector<MPI_Request> requests_;
  std::vector<What> what_;
  std::vector<What> finished_;
  std::vector<int> indices_;
};

struct Envelope {
  std::size_t used = 0;
  std::array<std::byte, wire::kEnvelopeBytes> bytes;
};

// Peer is this rank's side of the pair with one other rank. Progress only.
struct Peer {
  int rank = 0;
  Doorbell* bell = nullptr;  // null: on another host
  bool to_ring = false;      // something went out since its bell was rung
  bool listed = false;       // in touched_
  bool met = false;          // another host's, and something was sent to it
  // out: a ring, or envelopes
  RingWriter ring_out;
  std::vector<std::byte> overflow;  // of a record that is in the ring in part
  std::unique_ptr<Envelope> open;
  std::uint32_t envelopes_out = 0;
  std::deque<Outgoing> backlog;           // while too many envelopes are out, or the ring is full
  std::deque<wire::OutPiece> pieces_out;  // not started
  std::uint32_t pieces_out_active = 0;
  // in
  RingReader ring_in;
  std::vector<std::byte> partial;       // a record whose end has not come
  std::deque<wire::Incoming> incoming;  // parcels not whole, or behind one that is not
  struct Piece {
    wire::InPiece where;
    wire::Incoming* of;
  };
  std::deque<Piece> pieces_in;  // receives not posted
  std::uint32_t pieces_in_active = 0;
};

struct SentMessage {
  Peer* peer;
  std::unique_ptr<Envelope> envelope;  // null: a piece
  wire::OutPiece piece;
};
struct ReceivedPiece {
  Peer* peer;
  wire::Incoming* of;
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(std::optional<std::int32_t> communicator);
  ~MpiTransport() override;

  Rank rank() const override { return Rank{rank_}; }
  std::int32_t size() const override { return size_; }
  const std::vector<OnHost>& host() const override { return host_; }
  std::int32_t host_rank() const override { return host_rank_; }
  bool shares_memory(Rank r) const override { return peers_[static_cast<std::size_t>(index(r))].bell != nullptr; }

  void send(Rank to, Parcel parcel) override;
  bool hold_bell(bool hold) override;
  bool progress(const Sink& sink) override;
  void wait(Clock::time_point until, bool idle) override;
  bool look() override;
  bool unread() override { return watch_ && watch_->unread(); }
  void wake() override;
  void barrier(const Sink& sink) override;
  [[noreturn]] void abort(int exit_code) override;

 private:
  void begin_mpi();
  void take_mpi(std::int32_t communicator);
  void meet_host();
  void print_through_rank_0();
  void post_receive(std::size_t slot);
  void append(Outgoing out);
  void sleep(Clock::time_point until, bool poll);

  // Progress only, with mpi_mutex_.
  bool send_outbox();
  void pack(Peer& peer, Outgoing& out);
  void put(Peer& peer, const void* data, std::size_t size);
  void post_envelope(Peer& peer);
  bool full(const Peer& peer) const;
  void start_pieces(Peer& peer);
  void touch(Peer& peer);
  void finish_touched();
  bool poll_sent();
  bool take_rings(std::uint32_t rings);
  bool take_envelopes();
  void read_stream(Peer& peer, std::span<const std::byte> bytes);
  std::size_t read_records(Peer& peer, std::span<const std::byte> bytes);
  void post_pieces(Peer& peer);
  bool poll_received();
  void hand_out(Peer& peer);
  // Progress only, without.
  bool deliver(const Sink& sink);
  void publish(bool moved);

  const bool own_;  // we have initialised MPI, and the process is the run's
  bool yielded_ = true;
  int rank_ = 0;
  int size_ = 1;
  std::vector<OnHost> host_;
  int host_rank_ = 0;
  bool other_hosts_ = false;
  bool envelopes_ = false;  // some rank is not reached by a ring
  bool may_poll_ = false;   // a core or more for each rank of this host
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win shared_ = MPI_WIN_NULL;  // bells and rings
  Doorbell* bell_ = nullptr;
  std::unique_ptr<SocketWatch> watch_;  // rings for other hosts, if there are any

  // Any thread.
  std::mutex outbox_mutex_;
  std::vector<Outgoing> outbox_;
  std::atomic<bool> outbox_full_{false};  // not empty; a hint that saves the lock
  std::atomic<bool> woken_{false};
  std::atomic<std::uint32_t> seen_{0};     // bell's count when progress() last looked
  std::atomic<bool> unfinished_{false};    // MPI must be progressed though nobody rings
  std::atomic<bool> moved_{false};         // by the last progress(): there may be more
  std::atomic<bool> traffic_{false};       // since the last wait
  Clock::time_point latest_traffic_{};     // as a waiting thread saw it; who may poll waits with the role
  std::atomic<bool> unrung_{false};        // the latest sleep ended by itself
  std::atomic<std::int64_t> back_off_{0};  // the next short sleep, ns; 0: start again
  std::atomic<std::thread::id> driver_{};  // the thread that was inside progress() last
  std::timed_mutex mpi_mutex_;
  std::optional<LastCall> last_call_;             // where nobody else ends the ranks that are left
  std::optional<text::TextCollector> collector_;  // of what is printed on other hosts
  std::optional<text::TextCarrier> carrier_;      // to it

  // Progress only.
  std::vector<Outgoing> leaving_;
  std::vector<Peer> peers_;
  std::vector<Peer*> touched_;
  std::vector<Peer*> neighbours_;  // those with rings
  std::vector<Peer*> stalled_;     // of these, whose ring was full
  bool connected_ = false;         // to somebody on another host, just now
  std::uint32_t looked_at_ = ~0u;  // rings of the bell when the neighbours' were looked at
  wire::Limits in_ring_;
  std::vector<std::unique_ptr<Envelope>> free_envelopes_;
  Requests<SentMessage> sent_;
  Requests<ReceivedPiece> received_;
  std::array<MPI_Request, kPosted> posted_;
  std::array<std::array<std::byte, wire::kEnvelopeBytes>, kPosted> posted_bytes_;
  std::size_t next_posted_ = 0;
  std::vector<wire::InPiece> parsed_pieces_;
  std::size_t backlogs_ = 0;  // parcels in all backlogs
  struct Whole {
    int from;
    Control control;
    Parcel parcel;
  };
  std::vector<Whole> whole_;  // to be handed out, from next_whole_ on
  std::size_t next_whole_ = 0;
  BarrierProtocol barrier_{Rank{0}, 1, nullptr};
};

}  // namespace tessera::runtime::mpi
