#include "runtime/report/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "runtime/node/node.hpp"
#include "runtime/report/totals.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(500);
constexpr const char* kWipe = "\033[J";  // from the cursor to the end of the screen

}  // namespace

Progress::Progress(Node& node)
    : node_(node), on_(node.options.progress && !node.options.quiet), start_(Clock::now()),
      next_(start_ + kInterval) {}

Clock::time_point Progress::next(Clock::time_point now) const {
  return on_ ? next_ : now + std::chrono::hours(1);
}

void Progress::turn(Clock::time_point now) {
  if (!on_ || now < next_) return;
  next_ = now + kInterval;
  if (node_.self() != Rank{0}) return node_.comm.send(Rank{0}, own_totals(node_, false));
  node_.totals->take(Rank{0}, own_totals(node_, false));
  std::int64_t finished = 0, ready = 0, moved = 0;
  for (const Totals& t : node_.totals->by_rank()) {
    finished += t.finished;
    ready += t.ready;
    moved += t.moved_out;
  }
  const double s = std::chrono::duration<double>(now - start_).count();
  // One line below the cursor, which then goes back: what the program prints meanwhile stands in
  // lines of its own.
  std::fputs(fmt::format("{}\n\r{:6.1f} s  {} fragments done, {} ready, {} moved\033[A\r", kWipe, s,
                         finished, ready, moved).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs(kWipe, stderr);
  std::fflush(stderr);
}

}  // namespace tessera::runtime
