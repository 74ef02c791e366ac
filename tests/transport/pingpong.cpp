// Measures, prints, and judges nothing: one-way latency between ranks 0 and 1 through the transport,
// bandwidth of large values, and the CPU that idle ranks burn.
//   mpirun -n 2 transport_pingpong [ROUNDS=20000] [IDLE_SECONDS=3]
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/transport/transport.hpp"

using namespace tessera;
using namespace tessera::runtime;
using namespace std::chrono_literals;

namespace {

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

// Ranks 0 and 1 pass one parcel to and fro; returns seconds per way.
double ping_pong(Transport& t, int rounds, std::uint64_t value_size) {
  int left = rounds;
  const Rank peer{1 - index(t.rank())};
  const Transport::Sink sink = [&](Rank, Parcel&& p) {
    --left;
    if (index(t.rank()) == 1 || left > 0) t.send(peer, std::move(p));
  };
  t.barrier(sink);  // with this sink: the other rank may be through and have sent already
  const auto begin = Clock::now();
  if (index(t.rank()) == 0) {
    Parcel p;
    p.bytes.resize(64);
    if (value_size > 0) p.values.emplace_back(abi::value_bytes(value_size));
    t.send(peer, std::move(p));
  }
  while (left > 0) {
    if (!t.progress(sink)) t.wait(Clock::now() + 1s, true);
  }
  return seconds(Clock::now() - begin) / (2.0 * rounds);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20000;
  const int idle = argc > 2 ? std::atoi(argv[2]) : 3;
  auto t = make_mpi_transport();
  const Transport::Sink nothing = [](Rank, Parcel&&) {};
  const bool first = index(t->rank()) == 0;
  if (t->size() >= 2) {
    for (const std::uint64_t size : {0ul, 1000ul, 100'000ul, 10'000'000ul}) {
      const int n = size > 1'000'000 ? 20 : size > 10'000 ? rounds / 10 : rounds;
      double one_way = 0;
      if (index(t->rank()) < 2) {
        one_way = ping_pong(*t, n, size);
      } else {
        t->barrier(nothing);
      }
      t->barrier(nothing);
      if (first) {
        std::printf("one way, value of %9lu bytes: %10.2f us", static_cast<unsigned long>(size), one_way * 1e6);
        if (size > 0) std::printf("  %8.0f MB/s", static_cast<double>(size) / one_way / 1e6);
        std::printf("\n");
      }
    }
    // Many small ones together.
    int got = 0;
    const int many = rounds * 10;
    const Transport::Sink count = [&](Rank, Parcel&&) { ++got; };
    t->barrier(count);
    const auto begin = Clock::now();
    if (first) {
      for (int i = 0; i < many; ++i) {
        Parcel p;
        p.bytes.resize(64);
        t->send(Rank{1}, std::move(p));
        if (i % 64 == 63) t->progress(nothing);
      }
    }
    while (index(t->rank()) == 1 && got < many) {
      if (!t->progress(count)) t->wait(Clock::now() + 1s, true);
    }
    t->barrier(nothing);
    if (first) {
      std::printf("stream of small parcels:        %10.3f us each\n", seconds(Clock::now() - begin) / many * 1e6);
    }
  }
  t->barrier(nothing);
  const double cpu = cpu_seconds();
  const auto end = Clock::now() + std::chrono::seconds(idle);
  while (Clock::now() < end) {
    t->progress(nothing);
    t->wait(end, true);
  }
  std::printf("rank %d idle for %d s: %.3f ms of CPU\n", index(t->rank()), idle, (cpu_seconds() - cpu) * 1e3);
  std::fflush(stdout);
  t->barrier(nothing);
  return 0;
}
