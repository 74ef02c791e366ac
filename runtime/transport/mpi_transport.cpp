// The MPI transport; the only file that includes mpi.h.
//
// Out: send() appends to one outbox (any thread, small lock). progress() empties it: records (wire.hpp)
// are packed into an envelope per destination, envelopes leave as eager messages, pieces follow as
// messages of their own. In: a ring of posted receives takes envelopes from anybody; their records say
// which pieces to receive, and into what.
// Order: MPI matches messages of one pair, tag and communicator in the order sent. Envelopes are
// taken from the ring in the order posted and pieces are posted in record order; a parcel is handed
// out when it is whole and all before it from the same rank were.
// Threads: `progress_lock` of the runtime serialises progress(), barrier() and the destructor, and so
// all that is "progress only" below. mpi_mutex_ is held around MPI calls for abort()'s sake alone.
// Sleep: wait() makes no MPI call. Each rank has a doorbell in memory shared by the host; who sends to
// it rings. progress() notes the bell's count before it looks at MPI, and wait() sleeps on that count.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <deque>
#include <new>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "runtime/transport/barrier_protocol.hpp"
#include "runtime/transport/doorbell.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/transport/transport.hpp"
#include "runtime/transport/wire.hpp"

namespace tessera::runtime {
namespace {

using namespace std::chrono_literals;
using wire::Outgoing;

constexpr int kEnvelopeTag = 1;
constexpr int kPieceTag = 2;
constexpr std::size_t kRing = 16;                      // posted receives for envelopes
constexpr std::uint32_t kEnvelopesInFlight = 64;       // per destination
constexpr std::uint32_t kPiecesInFlight = 16;          // per pair and direction
constexpr std::uint64_t kLargestMessage = 1u << 30;    // MPI counts are int

// Sleeping. All short: they bound how long something waits that nobody rings for.
constexpr auto kPollAfterTraffic = 20us;
constexpr std::int64_t kUnfinishedSleep[2] = {20'000, 100'000};   // ns: MPI has to be progressed
constexpr std::int64_t kRemoteSleep[2] = {50'000, 1'000'000};     // ns: other hosts cannot ring

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw std::runtime_error(std::string("MPI failed in ") + call + ": " +
                           std::string(text.data(), static_cast<std::size_t>(length)));
}

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
  // out
  std::unique_ptr<Envelope> open;
  std::uint32_t envelopes_out = 0;
  std::deque<Outgoing> backlog;         // while too many envelopes are out
  std::deque<wire::OutPiece> pieces_out;  // not started
  std::uint32_t pieces_out_active = 0;
  // in
  std::vector<std::byte> partial;       // a record whose end has not come
  std::deque<wire::Incoming> incoming;  // parcels not whole, or behind one that is not
  struct Piece {
    wire::InPiece where;
    wire::Incoming* of;
  };
  std::deque<Piece> pieces_in;          // receives not posted
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
  MpiTransport();
  ~MpiTransport() override;

  Rank rank() const override { return Rank{rank_}; }
  std::int32_t size() const override { return size_; }
  std::int32_t host_size() const override { return host_size_; }
  std::int32_t host_rank() const override { return host_rank_; }

  void send(Rank to, Parcel parcel) override;
  bool progress(const Sink& sink) override;
  void wait(Clock::time_point until, bool idle) override;
  void wake() override;
  void barrier(const Sink& sink) override;
  [[noreturn]] void abort(int exit_code) override;

 private:
  void meet_host();
  void post_ring(std::size_t slot);
  void append(Outgoing out);
  void sleep(Clock::time_point until, bool poll);

  // Progress only, with mpi_mutex_.
  bool send_outbox();
  void pack(Peer& peer, Outgoing& out);
  void put(Peer& peer, const void* data, std::size_t size);
  void post_envelope(Peer& peer);
  void start_pieces(Peer& peer);
  void touch(Peer& peer);
  void finish_touched();
  bool poll_sent();
  bool take_envelopes();
  void read_stream(Peer& peer, std::span<const std::byte> bytes);
  std::size_t read_records(Peer& peer, std::span<const std::byte> bytes);
  void post_pieces(Peer& peer);
  bool poll_received();
  void hand_out(Peer& peer);
  // Progress only, without.
  bool deliver(const Sink& sink);
  void publish(bool moved);

  int rank_ = 0;
  int size_ = 1;
  int host_size_ = 1;
  int host_rank_ = 0;
  bool other_hosts_ = false;
  bool may_poll_ = false;  // a core or more for each rank of this host
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win bells_ = MPI_WIN_NULL;
  Doorbell* bell_ = nullptr;

  // Any thread.
  std::mutex outbox_mutex_;
  std::vector<Outgoing> outbox_;
  std::atomic<bool> outbox_full_{false};       // not empty; a hint that saves the lock
  std::atomic<bool> woken_{false};
  std::atomic<std::uint32_t> seen_{0};         // bell's count when progress() last looked
  std::atomic<bool> unfinished_{false};        // MPI must be progressed though nobody rings
  std::atomic<Clock::rep> latest_traffic_{0};
  std::atomic<std::int64_t> back_off_{0};      // the next short sleep, ns; 0: start again
  std::atomic<std::thread::id> in_progress_{}; // the thread inside progress()
  std::timed_mutex mpi_mutex_;

  // Progress only.
  std::vector<Outgoing> leaving_;
  std::vector<Peer> peers_;
  std::vector<Peer*> touched_;
  std::vector<std::unique_ptr<Envelope>> free_envelopes_;
  Requests<SentMessage> sent_;
  Requests<ReceivedPiece> received_;
  std::array<MPI_Request, kRing> ring_;
  std::array<std::array<std::byte, wire::kEnvelopeBytes>, kRing> ring_bytes_;
  std::size_t ring_head_ = 0;
  std::vector<wire::InPiece> parsed_pieces_;
  std::size_t backlogs_ = 0;                   // parcels in all backlogs
  struct Whole {
    int from;
    Control control;
    Parcel parcel;
  };
  std::vector<Whole> whole_;                   // to be handed out, from next_whole_ on
  std::size_t next_whole_ = 0;
  BarrierProtocol barrier_{Rank{0}, 1, nullptr};
};

// ---------------------------------------------------------------------------- begin and end

MpiTransport::MpiTransport() {
  int there = 0;
  MPI_Initialized(&there);
  if (there != 0) throw std::runtime_error("MPI was initialised before the runtime started");
  prepare_process_for_mpi();
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED) {
    throw std::runtime_error("this MPI library cannot be used by a program with threads "
                             "(it provides less than MPI_THREAD_SERIALIZED)");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  peers_.resize(static_cast<std::size_t>(size_));
  for (int r = 0; r < size_; ++r) peers_[static_cast<std::size_t>(r)].rank = r;
  meet_host();
  barrier_ = BarrierProtocol(Rank{rank_}, size_, [this](Rank to, Control what) {
    append(Outgoing{to, what, {}});
  });
  for (std::size_t slot = 0; slot < kRing; ++slot) post_ring(slot);
  yield_in_mpi(false);
}

// Finds the ranks of this host, shares the doorbells with them, and counts the cores they have.
void MpiTransport::meet_host() {
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  MPI_Comm_size(host, &host_size_);
  MPI_Comm_rank(host, &host_rank_);
  other_hosts_ = host_size_ < size_;

  // All in the first rank's part, so that the lines are consecutive; one more to align them.
  const auto bytes = static_cast<MPI_Aint>(sizeof(Doorbell)) * (host_size_ + 1);
  void* mine = nullptr;
  check(MPI_Win_allocate_shared(host_rank_ == 0 ? bytes : 0, 1, MPI_INFO_NULL, host, &mine, &bells_),
        "MPI_Win_allocate_shared");
  MPI_Aint there = 0;
  int unit = 0;
  void* base = nullptr;
  check(MPI_Win_shared_query(bells_, 0, &there, &unit, &base), "MPI_Win_shared_query");
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  auto* bells = reinterpret_cast<Doorbell*>((address + alignof(Doorbell) - 1) &
                                            ~std::uintptr_t{alignof(Doorbell) - 1});
  bell_ = new (bells + host_rank_) Doorbell;

  struct Card {
    int rank;
    cpu_set_t cores;
  };
  const Card card{rank_, allowed_cores()};
  std::vector<Card> cards(static_cast<std::size_t>(host_size_));
  // Also the point after which all doorbells are there.
  check(MPI_Allgather(&card, sizeof card, MPI_BYTE, cards.data(), sizeof card, MPI_BYTE, host),
        "MPI_Allgather");
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int h = 0; h < host_size_; ++h) {
    const Card& c = cards[static_cast<std::size_t>(h)];
    peers_[static_cast<std::size_t>(c.rank)].bell = bells + h;
    CPU_OR(&cores, &cores, &c.cores);
  }
  may_poll_ = CPU_COUNT(&cores) >= host_size_;
  MPI_Comm_free(&host);
}

MpiTransport::~MpiTransport() {
  try {
    // Wait asleep for the slowest rank, rather than in MPI_Finalize, which spins.
    const Sink nobody = [](Rank, Parcel&&) {};
    barrier(nobody);
    while (!sent_.empty() || !received_.empty() || backlogs_ > 0) {
      progress(nobody);
      sleep(Clock::now() + 1ms, false);
    }
    yield_in_mpi(true);
    for (MPI_Request& request : ring_) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_free(&bells_);
    MPI_Comm_free(&comm_);
    MPI_Finalize();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tessera: rank %d: cannot end MPI properly: %s\n", rank_, e.what());
    abort(70);
  }
}

void MpiTransport::abort(int exit_code) {
  flush_output();
  // Whoever is inside MPI now leaves it in microseconds; or it is this very thread, or stuck.
  const bool locked = mpi_mutex_.try_lock_for(200ms);
  static_cast<void>(locked);
  // MPI_Abort asks the launcher to end all and may wait for it; SIGALRM's default ends this process.
  alarm(10);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  _exit(exit_code);
}

// ---------------------------------------------------------------------------- out

void MpiTransport::send(Rank to, Parcel parcel) {
  if (index(to) < 0 || index(to) >= size_) {
    throw std::out_of_range("transport: parcel to rank " + std::to_string(index(to)) + " of " +
                            std::to_string(size_));
  }
  append(Outgoing{to, Control::parcel, std::move(parcel)});
}

void MpiTransport::append(Outgoing out) {
  {
    const std::lock_guard lock(outbox_mutex_);
    outbox_.push_back(std::move(out));
    outbox_full_.store(true, std::memory_order_release);
  }
  // A sleeper has to get up and push it out; from inside progress() it leaves before that returns.
  if (in_progress_.load(std::memory_order_relaxed) != std::this_thread::get_id()) bell_->ring();
}

bool MpiTransport::send_outbox() {
  if (!outbox_full_.load(std::memory_order_acquire)) return false;
  {
    const std::lock_guard lock(outbox_mutex_);
    leaving_.swap(outbox_);
    outbox_full_.store(false, std::memory_order_relaxed);
  }
  for (Outgoing& out : leaving_) {
    Peer& peer = peers_[static_cast<std::size_t>(index(out.to))];
    if (peer.rank == rank_) {
      whole_.push_back({rank_, out.control, std::move(out.parcel)});
    } else if (peer.envelopes_out >= kEnvelopesInFlight || !peer.backlog.empty()) {
      peer.backlog.push_back(std::move(out));
      ++backlogs_;
    } else {
      pack(peer, out);
    }
  }
  leaving_.clear();
  finish_touched();
  return true;
}

void MpiTransport::pack(Peer& peer, Outgoing& out) {
  touch(peer);
  wire::RecordWriter record(out);
  record.write([&](const void* data, std::size_t size) { put(peer, data, size); });
  record.pieces([&](wire::OutPiece&& piece) { peer.pieces_out.push_back(std::move(piece)); });
}

void MpiTransport::put(Peer& peer, const void* data, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  while (size > 0) {
    if (!peer.open) {
      if (free_envelopes_.empty()) {
        peer.open = std::make_unique<Envelope>();
      } else {
        peer.open = std::move(free_envelopes_.back());
        free_envelopes_.pop_back();
      }
      peer.open->used = 0;
    }
    Envelope& envelope = *peer.open;
    const std::size_t part = std::min(size, envelope.bytes.size() - envelope.used);
    std::memcpy(envelope.bytes.data() + envelope.used, from, part);
    envelope.used += part;
    from += part;
    size -= part;
    if (envelope.used == envelope.bytes.size()) post_envelope(peer);
  }
}

void MpiTransport::post_envelope(Peer& peer) {
  if (!peer.open) return;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(peer.open->bytes.data(), static_cast<int>(peer.open->used), MPI_BYTE, peer.rank,
                  kEnvelopeTag, comm_, &request),
        "MPI_Isend");
  peer.to_ring = true;
  int done = 0;
  check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) {  // the usual case: eager
    free_envelopes_.push_back(std::move(peer.open));
    return;
  }
  ++peer.envelopes_out;
  sent_.add(request, {&peer, std::move(peer.open), {}});
}

void MpiTransport::start_pieces(Peer& peer) {
  while (peer.pieces_out_active < kPiecesInFlight && !peer.pieces_out.empty()) {
    wire::OutPiece& piece = peer.pieces_out.front();
    wire::OutPiece part = piece;
    part.size = std::min(piece.size, kLargestMessage);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(part.data, static_cast<int>(part.size), MPI_BYTE, peer.rank, kPieceTag, comm_,
                    &request),
          "MPI_Isend");
    piece.data += part.size;
    piece.size -= part.size;
    if (piece.size == 0) peer.pieces_out.pop_front();
    ++peer.pieces_out_active;
    peer.to_ring = true;
    sent_.add(request, {&peer, nullptr, std::move(part)});
  }
}

void MpiTransport::touch(Peer& peer) {
  if (peer.listed) return;
  peer.listed = true;
  touched_.push_back(&peer);
}

// Sends what touched peers still have open, and rings, once for everything.
void MpiTransport::finish_touched() {
  for (Peer* peer : touched_) {
    while (!peer->backlog.empty() && peer->envelopes_out < kEnvelopesInFlight) {
      pack(*peer, peer->backlog.front());
      peer->backlog.pop_front();
      --backlogs_;
    }
    post_envelope(*peer);
    start_pieces(*peer);
    post_pieces(*peer);
    if (std::exchange(peer->to_ring, false) && peer->bell != nullptr) peer->bell->ring();
    peer->listed = false;
  }
  touched_.clear();
}

bool MpiTransport::poll_sent() {
  return sent_.poll([this](SentMessage&& message) {
    Peer& peer = *message.peer;
    touch(peer);
    peer.to_ring = true;  // what could not be put in the peer's hands at once now was
    if (message.envelope) {
      --peer.envelopes_out;
      free_envelopes_.push_back(std::move(message.envelope));
    } else {
      --peer.pieces_out_active;
    }
  });
}

// ---------------------------------------------------------------------------- in

void MpiTransport::post_ring(std::size_t slot) {
  check(MPI_Irecv(ring_bytes_[slot].data(), static_cast<int>(wire::kEnvelopeBytes), MPI_BYTE,
                  MPI_ANY_SOURCE, kEnvelopeTag, comm_, &ring_[slot]),
        "MPI_Irecv");
}

bool MpiTransport::take_envelopes() {
  bool any = false;
  for (std::size_t i = 0; i < kRing; ++i) {  // bounded: replies should leave as well
    int done = 0;
    MPI_Status status;
    check(MPI_Test(&ring_[ring_head_], &done, &status), "MPI_Test");
    if (done == 0) break;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Peer& peer = peers_[static_cast<std::size_t>(status.MPI_SOURCE)];
    read_stream(peer, {ring_bytes_[ring_head_].data(), static_cast<std::size_t>(size)});
    post_ring(ring_head_);
    ring_head_ = (ring_head_ + 1) % kRing;
    any = true;
  }
  return any;
}

void MpiTransport::read_stream(Peer& peer, std::span<const std::byte> bytes) {
  if (peer.partial.empty()) {
    const std::size_t used = read_records(peer, bytes);
    peer.partial.assign(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
    return;
  }
  peer.partial.insert(peer.partial.end(), bytes.begin(), bytes.end());
  const std::size_t used = read_records(peer, peer.partial);
  peer.partial.erase(peer.partial.begin(), peer.partial.begin() + static_cast<std::ptrdiff_t>(used));
}

std::size_t MpiTransport::read_records(Peer& peer, std::span<const std::byte> bytes) {
  std::size_t used = 0;
  while (true) {
    const std::span<const std::byte> rest = bytes.subspan(used);
    const std::uint64_t size = wire::record_size(rest);
    if (size == 0 || size > rest.size()) return used;
    used += size;
    wire::Incoming in;
    parsed_pieces_.clear();
    wire::read_record(rest.first(size), in, parsed_pieces_);
    if (parsed_pieces_.empty() && peer.incoming.empty()) {
      whole_.push_back({peer.rank, in.control, std::move(in.parcel)});
      continue;
    }
    wire::Incoming& kept = peer.incoming.emplace_back(std::move(in));  // deque: stays in place
    for (const wire::InPiece& piece : parsed_pieces_) {
      for (std::uint64_t at = 0; at < piece.size; at += kLargestMessage) {
        peer.pieces_in.push_back(
            {{piece.data + at, std::min(piece.size - at, kLargestMessage)}, &kept});
        ++kept.missing;
      }
    }
    touch(peer);
  }
}

void MpiTransport::post_pieces(Peer& peer) {
  while (peer.pieces_in_active < kPiecesInFlight && !peer.pieces_in.empty()) {
    const Peer::Piece piece = peer.pieces_in.front();
    peer.pieces_in.pop_front();
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(piece.where.data, static_cast<int>(piece.where.size), MPI_BYTE, peer.rank,
                    kPieceTag, comm_, &request),
          "MPI_Irecv");
    ++peer.pieces_in_active;
    peer.to_ring = true;  // a rendezvous goes on at the sender
    received_.add(request, {&peer, piece.of});
  }
}

bool MpiTransport::poll_received() {
  return received_.poll([this](ReceivedPiece&& piece) {
    Peer& peer = *piece.peer;
    touch(peer);
    peer.to_ring = true;  // the sender may let go of the value
    --peer.pieces_in_active;
    if (--piece.of->missing == 0) hand_out(peer);
  });
}

void MpiTransport::hand_out(Peer& peer) {
  while (!peer.incoming.empty() && peer.incoming.front().missing == 0) {
    wire::Incoming& in = peer.incoming.front();
    in.finish();
    whole_.push_back({peer.rank, in.control, std::move(in.parcel)});
    peer.incoming.pop_front();
  }
}

bool MpiTransport::deliver(const Sink& sink) {
  if (whole_.empty()) return false;
  // By index: a sink that throws leaves the rest for the next call.
  while (next_whole_ < whole_.size()) {
    Whole w = std::move(whole_[next_whole_++]);
    if (w.control == Control::parcel) {
      sink(Rank{w.from}, std::move(w.parcel));
    } else {
      barrier_.received(Rank{w.from}, w.control);
    }
  }
  whole_.clear();
  next_whole_ = 0;
  return true;
}

// ---------------------------------------------------------------------------- progress and sleep

bool MpiTransport::progress(const Sink& sink) {
  struct Inside {
    std::atomic<std::thread::id>& who;
    explicit Inside(std::atomic<std::thread::id>& w) : who(w) {
      who.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Inside() { who.store(std::thread::id{}, std::memory_order_relaxed); }
  };
  // Before looking at anything: what is rung for later is not missed by the next wait().
  seen_.store(bell_->count(), std::memory_order_seq_cst);
  bool moved = false;
  {
    const Inside inside(in_progress_);
    {
      const std::lock_guard lock(mpi_mutex_);
      moved |= send_outbox();
      moved |= take_envelopes();
      moved |= poll_sent();
      moved |= poll_received();
      finish_touched();
    }
    moved |= deliver(sink);
    if (outbox_full_.load(std::memory_order_acquire)) {  // what the sink answered
      const std::lock_guard lock(mpi_mutex_);
      moved |= send_outbox();
    }
    // To ourselves, and for the next call.
    if (!whole_.empty()) bell_->ring();
  }
  publish(moved);
  return moved;
}

void MpiTransport::publish(bool moved) {
  const bool unfinished = !sent_.empty() || !received_.empty() || backlogs_ > 0;
  const bool before = unfinished_.exchange(unfinished, std::memory_order_seq_cst);
  // Another thread may be asleep for long, or about to be, because nothing was under way. It has to
  // come back for this.
  if (unfinished && !before) bell_->ring();
  if (!moved) return;
  back_off_.store(0, std::memory_order_relaxed);
  latest_traffic_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

void MpiTransport::wait(Clock::time_point until, bool idle) {
  if (woken_.exchange(false, std::memory_order_seq_cst)) return;
  sleep(until, idle && may_poll_);
}

void MpiTransport::sleep(Clock::time_point until, bool poll) {
  const std::uint32_t seen = seen_.load(std::memory_order_seq_cst);
  if (bell_->count() != seen) return;
  const bool unfinished = unfinished_.load(std::memory_order_seq_cst);
  if (poll) {
    const Clock::time_point end{
        Clock::duration(latest_traffic_.load(std::memory_order_relaxed)) + kPollAfterTraffic};
    while (Clock::now() < end) {
      // Nobody rings for these, only MPI knows: the caller is to look again.
      if (unfinished || other_hosts_ || bell_->count() != seen) return;
      __builtin_ia32_pause();
    }
  }
  if (unfinished || other_hosts_) {
    const auto& bounds = unfinished ? kUnfinishedSleep : kRemoteSleep;
    const std::int64_t last = back_off_.load(std::memory_order_relaxed);
    const std::int64_t pause = std::clamp(last + last / 2, bounds[0], bounds[1]);
    back_off_.store(pause, std::memory_order_relaxed);
    until = std::min(until, Clock::now() + std::chrono::nanoseconds(pause));
    sharpen_timers_of_this_thread();
  }
  bell_->sleep(seen, until);
}

void MpiTransport::wake() {
  woken_.store(true, std::memory_order_seq_cst);
  bell_->ring();
}

void MpiTransport::barrier(const Sink& sink) {
  barrier_.enter();
  // sleep, not wait: a wake() meant for another loop is kept for it.
  while (progress(sink), !barrier_.passed()) sleep(Clock::time_point::max(), false);
}

}  // namespace

std::unique_ptr<Transport> make_mpi_transport() { return std::make_unique<MpiTransport>(); }

}  // namespace tessera::runtime
