#include "runtime/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "runtime/report/outlook.hpp"
#include "runtime/start/agreement.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kProgressEvery = std::chrono::milliseconds(500);
constexpr std::size_t kColumns = 79;     // where the terminal is behind mpirun
constexpr const char* kWipe = "\033[J";  // from the cursor to the end of the screen

constexpr double kLongForAProgressLine = 2;  // s: a fragment that has run for so long is worth a word

RunningFragment longest_of(const Totals& t) {
  return t.now.running.empty() ? RunningFragment{} : t.now.running.front();
}

// A line that does not fit would take two.
std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : kColumns;
}

// What there is no room for is shown to be missing.
std::string cut(const std::string& line, std::size_t columns) {
  return line.size() <= columns || columns < 4 ? line.substr(0, columns) : line.substr(0, columns - 3) + "...";
}

}  // namespace

Progress::Progress(const RunFacts& facts, Communicator& comm, TotalsOfAll& totals, std::function<Totals()> own)
    : facts_(facts),
      comm_(comm),
      totals_(totals),
      own_(std::move(own)),
      on_(facts.options.progress && !facts.options.quiet),
      start_(Clock::now()),
      next_(start_ + kProgressEvery) {}

Clock::time_point Progress::next(Clock::time_point now) const { return on_ ? next_ : now + std::chrono::hours(1); }

void Progress::turn(Clock::time_point now) {
  if (!on_ || now < next_) return;
  next_ = now + kProgressEvery;
  if (!facts_.first()) return comm_.send(Rank{0}, own_());
  totals_.take(Rank{0}, own_());
  std::int64_t finished = 0, ready = 0, moved = 0;
  std::int32_t longest = 0;
  const auto& all = totals_.by_rank();
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Totals& t = all[r];
    if (longest_of(t).seconds > longest_of(all[static_cast<std::size_t>(longest)]).seconds)
      longest = static_cast<std::int32_t>(r);
    finished += t.finished;
    ready += t.ready;
    moved += t.moved_out;
  }
  const double s = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("{:6.1f} s  {} fragments done, {} ready, {} moved", s, finished, ready, moved);
  Outlook o = outlook(facts_.program, merge_groups(all), s, running_of(all));
  pace_.correct(o, s);
  if (o.seconds_left && s >= kLongForAProgressLine) line += ", " + text_of(o);
  const RunningFragment slow = longest_of(all[static_cast<std::size_t>(longest)]);
  if (slow.seconds >= kLongForAProgressLine)
    line += fmt::format("; {}, {:.0f} s: {}", rank_name(Rank{longest}, facts_.hosts), slow.seconds, slow.text);
  // One line below the cursor, which then goes back: what the program prints meanwhile stands in
  // lines of its own.
  std::fputs(fmt::format("{}\n\r{}\033[A\r", kWipe, cut(line, columns())).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs(kWipe, stderr);
  std::fflush(stderr);
}

}  // namespace tessera::runtime
