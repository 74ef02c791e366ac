// The MPI transport: its beginning and end, progress and sleep.
#include "runtime/transport/mpi_transport.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>

#include "runtime/cores/processor.hpp"
#include "runtime/cores/share.hpp"
#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/launcher.hpp"
#include "runtime/transport/open_mpi.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/transport/whole_lines.hpp"

namespace tessera::runtime::mpi {
namespace {

using namespace std::chrono_literals;

// Sleeping. Never for long: they bound how long something waits that nobody rings for. In ns.
constexpr auto kPollAfterTraffic = 20us;
constexpr int kLooks = 4;  // at the bell, for each at the clock
constexpr int kFirstLooks = 64;
constexpr std::int64_t kUnfinishedSleep[2] = {20'000, 100'000};  // MPI has to be progressed
constexpr std::int64_t kRemoteSleep[2] = {50'000, 1'000'000};    // other hosts cannot ring ...
// ... unless over sockets; a new one may not be known at once.
constexpr std::int64_t kWatchedSleep[2] = {200'000, 10'000'000};
// A sender rings when MPI has taken the message, and MPI need not show it at the first look. In Open MPI
// a third rank may have lost its core while it linked something, a send's acknowledgement
// say, into our queue in front of it; it knows nothing of bells.
constexpr std::int64_t kRungSleep[2] = {1'000'000, 100'000'000};

// Rings between the ranks of a host: all together, one, and what would be too little. In bytes.
constexpr std::uint64_t kAllRings = 16 << 20;
constexpr std::uint64_t kLargestRing = 256 << 10;
constexpr std::uint64_t kSmallestRing = 4 << 10;
constexpr std::uint64_t kMostRing = 16 << 20;       // when asked for
constexpr std::uint64_t kLargestInRing = 16 << 10;  // what is larger is faster through MPI, which copies it once

// Null where the system has no room for it: other hosts are polled then, as where MPI uses no sockets.
std::unique_ptr<SocketWatch> watch_sockets(Doorbell& bell) {
  try {
    return std::make_unique<SocketWatch>(bell);
  } catch (const std::system_error&) {
    return nullptr;
  }
}

// Of each of the rings between so many ranks; 0: none.
std::uint64_t ring_bytes(int ranks) {
  if (const char* wish = std::getenv("TESSERA_RING_BYTES"); wish != nullptr && *wish != '\0') {
    char* end = nullptr;
    const std::uint64_t bytes = std::strtoull(wish, &end, 10);
    if (*wish >= '0' && *wish <= '9' && *end == '\0' &&
        (bytes == 0 || (std::has_single_bit(bytes) && bytes >= kSmallestRing && bytes <= kMostRing)))
      return bytes;
    throw std::runtime_error(
        "TESSERA_RING_BYTES is the size of the rings in shared memory: 0 for none, or a power of two from 4096 to "
        "16777216, not `" +
        std::string(wish) + "`");
  }
  if (ranks < 2) return 0;
  // Open MPI fails where there is no room for all of it, and needs some for itself.
  struct statvfs room {};
  const std::uint64_t free = statvfs("/dev/shm", &room) == 0 ? std::uint64_t{room.f_bavail} * room.f_frsize : kAllRings;
  const std::uint64_t share =
      std::min(kAllRings, free / 8) / (static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(ranks - 1));
  return share < kSmallestRing ? 0 : std::min(std::bit_floor(share), kLargestRing);
}

// Open MPI ends each process with a page of its own when srun has not said how it can be reached.
void check_srun() {
  for (const char* spoken : {"PMIX_RANK", "PMIX_NAMESPACE", "PMI_RANK", "PMI_FD"}) {
    if (std::getenv(spoken) != nullptr) return;
  }
  throw SameOnAllRanks("MPI failed: srun has started " + std::to_string(launcher_size()) +
                       " processes and speaks with none of them about MPI: start them by `srun --mpi=pmix` (`srun "
                       "--mpi=list` shows what there is), or by "
                       "mpirun");
}

// Another MPI's mpirun starts processes each of which MPI takes for a run of its own.
void check_launcher(int size) {
  const int started = launcher_size();
  if (started <= 1 || started == size) return;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<std::size_t>(length));
  MPI_Finalize();
  const bool slurm = std::getenv("SLURM_STEP_ID") != nullptr && std::getenv("PMI_SIZE") == nullptr;
  throw SameOnAllRanks(
      "MPI failed: " + std::to_string(started) + " processes were started together, but to MPI there " +
      (size == 1 ? "is 1" : "are " + std::to_string(size)) + ", so each would run the whole program. This is " +
      version.substr(0, version.find(',')) + ": " +
      (slurm ? "srun must speak with it, as by `srun --mpi=pmix` (`srun --mpi=list` shows what there is), or use mpirun"
             : "start it by the mpirun that belongs to it, not by another MPI's"));
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw std::runtime_error(std::string("MPI failed in ") + call + ": " +
                           std::string(text.data(), static_cast<std::size_t>(length)));
}

MpiTransport::MpiTransport(std::optional<std::int32_t> communicator) : own_(!communicator) {
  own_ ? begin_mpi() : take_mpi(*communicator);
  peers_.resize(static_cast<std::size_t>(size_));
  for (int r = 0; r < size_; ++r) peers_[static_cast<std::size_t>(r)].rank = r;
  meet_host();
  if (other_hosts_ && own_) print_through_rank_0();
  barrier_ = BarrierProtocol(Rank{rank_}, size_, [this](Rank to, Control what) { append(Outgoing{to, what, {}}); });
  for (std::size_t slot = 0; envelopes_ && slot < kPosted; ++slot) post_receive(slot);
  yielded_ = yield_in_mpi(false);
}

void MpiTransport::begin_mpi() {
  int there = 0;
  MPI_Initialized(&there);
  if (there != 0) throw std::runtime_error("MPI was initialised before the runtime started");
  prepare_process_for_mpi();
  const bool without_mpirun = started_by_srun();
  if (without_mpirun) check_srun();
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED) {
    throw std::runtime_error(
        "this MPI library cannot be used by a program with threads "
        "(it provides less than MPI_THREAD_SERIALIZED)");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  check_launcher(size_);
  // MPICH's mpirun takes the signal by which it ends the others for the exit code.
  if ((without_mpirun || !built_with_open_mpi()) && size_ > 1)
    last_call_.emplace([](int code) { MPI_Abort(MPI_COMM_WORLD, code); });
}

void MpiTransport::take_mpi(std::int32_t communicator) {
  int there = 0, gone = 0, provided = 0;
  MPI_Initialized(&there);
  MPI_Finalized(&gone);
  if (there == 0 || gone != 0) {
    throw std::runtime_error("a communicator is given, but MPI is not initialised, or not any more");
  }
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    throw std::runtime_error(
        "MPI was initialised for one thread only: call MPI_Init_thread with MPI_THREAD_SERIALIZED or "
        "MPI_THREAD_MULTIPLE, for the run has threads of its own");
  }
  MPI_Comm theirs = MPI_Comm_f2c(communicator);
  if (theirs == MPI_COMM_NULL) throw std::runtime_error("the communicator given is MPI_COMM_NULL");
  check(MPI_Comm_dup(theirs, &comm_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

// Finds the ranks of this host, shares doorbells and rings with them, counts the cores they have, and has them print
// into one stream.
void MpiTransport::meet_host() {
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int host_size = 1;
  MPI_Comm_size(host, &host_size);
  MPI_Comm_rank(host, &host_rank_);
  other_hosts_ = host_size < size_;

  // All in the first rank's part, so that the lines are consecutive; one more to align them.
  std::uint64_t capacity = ring_bytes(host_size);
  check(MPI_Bcast(&capacity, 1, MPI_UINT64_T, 0, host), "MPI_Bcast");
  const auto ranks = static_cast<std::size_t>(host_size);
  const std::size_t ring_size = capacity == 0 ? 0 : ByteRing::footprint(capacity);
  const auto bytes = static_cast<MPI_Aint>(sizeof(Doorbell) * (ranks + 1) + ring_size * ranks * ranks);
  void* mine = nullptr;
  check(MPI_Win_allocate_shared(host_rank_ == 0 ? bytes : 0, 1, MPI_INFO_NULL, host, &mine, &shared_),
        "MPI_Win_allocate_shared");
  MPI_Aint there = 0;
  int unit = 0;
  void* base = nullptr;
  check(MPI_Win_shared_query(shared_, 0, &there, &unit, &base), "MPI_Win_shared_query");
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  auto* bells = reinterpret_cast<Doorbell*>((address + alignof(Doorbell) - 1) & ~std::uintptr_t{alignof(Doorbell) - 1});
  bell_ = new (bells + host_rank_) Doorbell;
  const auto ring = [&](int from, int to) {
    return reinterpret_cast<std::byte*>(bells + ranks) +
           ring_size * (static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to));
  };
  for (int h = 0; capacity != 0 && h < host_size; ++h) new (ring(host_rank_, h)) ByteRing(capacity);

  static_assert(std::is_trivially_copyable_v<OnHost>);
  const OnHost card{Rank{rank_}, cores::find_allowance()};
  host_.resize(ranks);
  // Also the point after which all doorbells are there.
  check(MPI_Allgather(&card, sizeof card, MPI_BYTE, host_.data(), sizeof card, MPI_BYTE, host), "MPI_Allgather");
  std::vector<cores::HostRank> sharing;
  for (int h = 0; h < host_size; ++h) {
    const OnHost& c = host_[static_cast<std::size_t>(h)];
    Peer& peer = peers_[static_cast<std::size_t>(index(c.rank))];
    peer.bell = bells + h;
    if (capacity != 0 && h != host_rank_) {
      peer.ring_out = RingWriter(*reinterpret_cast<ByteRing*>(ring(host_rank_, h)));
      peer.ring_in = RingReader(*reinterpret_cast<ByteRing*>(ring(h, host_rank_)));
      neighbours_.push_back(&peer);
    }
    sharing.push_back({c.allowed, true});
  }
  may_poll_ = cores::core_for_each_rank(std::move(sharing));
  envelopes_ = neighbours_.size() + 1 < peers_.size();
  if (other_hosts_) watch_ = watch_sockets(*bell_);
  in_ring_ = {std::min(capacity / 4, kLargestInRing), capacity / 2};
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (!own_) break;  // where a caller prints is its own
    OutputPlace first = host_rank_ == 0 ? output_place(descriptor) : OutputPlace{};
    check(MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, host), "MPI_Bcast");
    int joined = print_into(first, descriptor) ? 1 : 0;
    check(MPI_Allreduce(MPI_IN_PLACE, &joined, 1, MPI_INT, MPI_MIN, host), "MPI_Allreduce");
    if (joined != 0 && !other_hosts_) print_in_one_stream(descriptor);
  }
  MPI_Comm_free(&host);
}

// Where one launcher reads what all print. Whoever does not reach rank 0 prints where it has.
void MpiTransport::print_through_rank_0() {
  const bool read = output_place(STDOUT_FILENO).reader != 0;
  text::TextAddress address;
  if (rank_ == 0 && read) {
    try {
      address = collector_.emplace().address();
    } catch (const std::exception&) {  // no sockets, or no room for a thread: as without
    }
  }
  check(MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, comm_), "MPI_Bcast");
  if (address.port == 0) return;
  if (read && !shares_memory(Rank{0})) {
    try {
      carrier_.emplace(address);
    } catch (const std::exception&) {}
  }
  check(MPI_Barrier(comm_), "MPI_Barrier");
  if (collector_) collector_->close_door();
}

MpiTransport::~MpiTransport() {
  try {
    carrier_.reset();
    // Wait asleep for the slowest rank, rather than in MPI_Finalize, which spins.
    const Sink nobody = [](Rank, Parcel&&) {};
    barrier(nobody);
    while (!sent_.empty() || !received_.empty() || backlogs_ > 0 || !stalled_.empty()) {
      progress(nobody);
      sleep(Clock::now() + 1ms, false);
    }
    collector_.reset();
    watch_.reset();  // before the bell goes
    yield_in_mpi(own_ || yielded_);
    for (std::size_t slot = 0; envelopes_ && slot < kPosted; ++slot) {
      MPI_Request& request = posted_[slot];
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_free(&shared_);
    MPI_Comm_free(&comm_);
    last_call_.reset();
    if (own_) MPI_Finalize();
  } catch (const std::bad_alloc&) {  // what others have sent yet may be more than there is room for
    std::fprintf(stderr, "tessera: rank %d: out of memory while MPI was ended; is there a limit (`ulimit -a`)?\n",
                 rank_);
    abort(3);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tessera: rank %d: cannot end MPI properly: %s\n", rank_, e.what());
    abort(70);
  }
}

void MpiTransport::abort(int exit_code) {
  if (tell_exit != nullptr) tell_exit(exit_code);
  no_last_call();
  flush_output();
  text::bring_out_text();
  // Whoever is inside MPI now leaves it in microseconds; or it is this very thread, or stuck.
  const bool locked = mpi_mutex_.try_lock_for(200ms);
  static_cast<void>(locked);
  // MPI_Abort asks the launcher to end all and may wait for it; SIGALRM's default ends this
  // process.
  alarm(10);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  end_process(exit_code);
}

bool MpiTransport::progress(const Sink& sink) {
  const std::thread::id self = std::this_thread::get_id();
  if (driver_.load(std::memory_order_relaxed) != self) driver_.store(self, std::memory_order_seq_cst);
  // Before looking at anything: what is rung for later is not missed by the next wait().
  const std::uint32_t rings = bell_->count();
  if (watch_ && watch_->take()) back_off_.store(0, std::memory_order_relaxed);
  if (rings == seen_.load(std::memory_order_seq_cst) && !envelopes_ && !unfinished_.load(std::memory_order_seq_cst) &&
      !outbox_full_.load(std::memory_order_seq_cst)) {
    moved_.store(false, std::memory_order_relaxed);
    return false;  // as always between two fragments
  }
  if (seen_.exchange(rings, std::memory_order_seq_cst) != rings) {
    back_off_.store(0, std::memory_order_relaxed);
  }
  bool moved = false;
  {
    const std::lock_guard lock(mpi_mutex_);
    for (Peer* peer : stalled_) touch(*peer);
    stalled_.clear();
    moved |= send_outbox();
    moved |= take_rings(rings);
    moved |= envelopes_ && take_envelopes();
    moved |= poll_sent();
    moved |= poll_received();
    finish_touched();
  }
  moved |= deliver(sink);
  if (outbox_full_.load(std::memory_order_seq_cst)) {  // what the sink answered
    const std::lock_guard lock(mpi_mutex_);
    moved |= send_outbox();
  }
  // Something came over a connection that is not watched yet, or may have.
  if (watch_ &&
      (std::exchange(connected_, false) || watch_->called() || (moved && unrung_.load(std::memory_order_relaxed))))
    watch_->find();
  unrung_.store(false, std::memory_order_relaxed);
  // To ourselves, and for the next call.
  if (!whole_.empty()) bell_->ring();
  publish(moved);
  return moved;
}

void MpiTransport::publish(bool moved) {
  const bool unfinished = !sent_.empty() || !received_.empty() || backlogs_ > 0 || !stalled_.empty();
  const bool before = unfinished_.exchange(unfinished, std::memory_order_seq_cst);
  // Another thread may be asleep for long, or about to be, because nothing was under way. It has to
  // come back for this.
  if (unfinished && !before) bell_->ring();
  moved_.store(moved, std::memory_order_relaxed);
  if (!moved) return;
  back_off_.store(0, std::memory_order_relaxed);
  traffic_.store(true, std::memory_order_relaxed);
}

void MpiTransport::wait(Clock::time_point until, bool idle) {
  if (woken_.exchange(false, std::memory_order_seq_cst)) return;
  sleep(until, idle && may_poll_);
}

bool MpiTransport::look() {
  if (!may_poll_ || other_hosts_ || unfinished_.load(std::memory_order_seq_cst) ||
      !traffic_.load(std::memory_order_relaxed))
    return false;
  const std::uint32_t seen = seen_.load(std::memory_order_seq_cst);
  for (int look = 0; look < kFirstLooks; ++look) {
    if (bell_->count() != seen) return true;
    spin_pause();
  }
  return false;
}

void MpiTransport::sleep(Clock::time_point until, bool poll) {
  const std::uint32_t seen = seen_.load(std::memory_order_seq_cst);
  if (bell_->count() != seen || moved_.load(std::memory_order_relaxed) || outbox_full_.load(std::memory_order_seq_cst))
    return;
  const bool unfinished = unfinished_.load(std::memory_order_seq_cst);
  const bool watched = watch_ && watch_->watches();
  // What comes over sockets takes longer than this to come, and the kernel tells at once.
  if (poll && (!watched || !neighbours_.empty())) {
    if (traffic_.exchange(false, std::memory_order_relaxed)) latest_traffic_ = Clock::now();
    while (Clock::now() < latest_traffic_ + kPollAfterTraffic) {
      for (int look = 0; look < kLooks; ++look) {
        // Nobody rings for these, only MPI knows: the caller is to look again.
        if (unfinished || (other_hosts_ && !watched) || bell_->count() != seen) return;
        spin_pause();
      }
    }
  }
  const auto& bounds = unfinished     ? kUnfinishedSleep
                       : watched      ? kWatchedSleep
                       : other_hosts_ ? kRemoteSleep
                                      : kRungSleep;
  const std::int64_t last = back_off_.load(std::memory_order_relaxed);
  const std::int64_t pause = std::clamp(last + last / 2, bounds[0], bounds[1]);
  const Clock::time_point end = Clock::now() + std::chrono::nanoseconds(pause);
  if (end <= until) back_off_.store(pause, std::memory_order_relaxed);
  if (unfinished || other_hosts_) sharpen_timers_of_this_thread();
  // What is under way comes in many parts: looked at now and then, it takes less of the processor than being woken for
  // each.
  bool rung = false;
  if (watch_ && !unfinished) {
    rung = watch_->sleep(seen, std::min(until, end));
  } else {
    bell_->sleep(seen, std::min(until, end));
    rung = bell_->count() != seen;
  }
  unrung_.store(!rung, std::memory_order_relaxed);
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

}  // namespace tessera::runtime::mpi

namespace tessera::runtime {

std::unique_ptr<Transport> make_mpi_transport(std::optional<std::int32_t> communicator) {
  return std::make_unique<mpi::MpiTransport>(communicator);
}

}  // namespace tessera::runtime
