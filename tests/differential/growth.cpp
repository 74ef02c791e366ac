#include "growth.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "child.hpp"

namespace tessera::differential {
namespace {

// The allocator and the threads' lists may differ by so much. One value in each step takes some 100 bytes.
constexpr long kMostGrowth = 768;  // KiB
// What piles up is sampled, and so much more, or less, when a run ends.
constexpr long kMostAhead = 2 << 10;
// Of several threads each has its own, and what one makes ahead of others is bounded, but not the same in each run.
constexpr long kMostOfSeveral = 6 << 10;
// Of several ranks sweeps are late by what is made meanwhile, which hangs on the machine: 12 MiB have been seen.
constexpr long kMostOfRanks = 16 << 10;

// Of processor time, with four times as many cells: sorting is no fault, looking at all for each is.
constexpr double kMostTimes = 8, kMostSeconds = 1;
constexpr const char* kFewSteps = "4";

long most_growth(const Configuration& c) {
  if (c.options.ranks > 1) return kMostOfRanks;
  return c.options.threads > 1 ? kMostOfSeveral : kMostGrowth;
}

struct RanApart {
  int status = 0;
  long peak = 0;       // KiB, with what this process has
  double seconds = 0;  // of processor time
  std::vector<std::string> lines;
};

RanApart run_apart(const abi::Program& program, const Configuration& c, const std::vector<std::string>& arguments,
                   const std::filesystem::path& lines) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_part(program, c, arguments, {lines, lines.string() + ".again"});
  }
  RanApart ran;
  rusage used{};
  wait4(child, &ran.status, 0, &used);
  ran.peak = used.ru_maxrss;
  for (const timeval& t : {used.ru_utime, used.ru_stime})
    ran.seconds += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  std::ifstream in(lines);
  for (std::string line; std::getline(in, line);) ran.lines.push_back(line);
  std::sort(ran.lines.begin(), ran.lines.end());
  return ran;
}

}  // namespace

std::string run_steadily(const abi::Program& program, const Case& of, const Configuration& c, std::size_t steps,
                         const std::filesystem::path& report, const std::filesystem::path& said) {
  const std::filesystem::path lines = report.string() + ".lines";
  const RanApart known = run_apart(program, c, of.arguments, lines);
  if (known.status != 0) return "status " + std::to_string(known.status) + "\n" + read(said);
  if (known.lines != of.expected.lines) return difference(of.expected.lines, known.lines);
  std::vector<long> peaks;
  // What is made ahead of those who read it may reach its bound (Pileup::kMore) in the second run, but not grow in the
  // third.
  for (std::size_t times : {1, 4, 16}) {
    const RanApart ran = run_apart(program, c, {std::to_string(times * steps)}, lines);
    if (ran.status != 0) return "status " + std::to_string(ran.status) + "\n" + read(said);
    peaks.push_back(ran.peak - known.peak);
    const long most = times == 16 ? std::max(most_growth(c), kMostAhead) : most_growth(c);
    if (times > 1 && peaks.back() <= *(peaks.end() - 2) + most) return "";
  }
  return fmt::format("it takes {} KiB more than {} steps with {} of them, {} times 4, and {} times 16\n", peaks[0],
                     of.arguments.at(0), steps, peaks[1], peaks[2]);
}

std::string run_widely(const abi::Program& program, const Case& of, const Configuration& c, std::size_t cells,
                       const std::filesystem::path& report, const std::filesystem::path& said) {
  const std::filesystem::path lines = report.string() + ".lines";
  const RanApart known = run_apart(program, c, of.arguments, lines);
  if (known.status != 0) return "status " + std::to_string(known.status) + "\n" + read(said);
  if (known.lines != of.expected.lines) return difference(of.expected.lines, known.lines);
  double seconds[2] = {};
  for (const std::size_t times : {1, 4}) {
    const RanApart ran = run_apart(program, c, {kFewSteps, std::to_string(times * cells)}, lines);
    if (ran.status != 0) return "status " + std::to_string(ran.status) + "\n" + read(said);
    seconds[times == 1 ? 0 : 1] = ran.seconds;
  }
  if (seconds[1] <= kMostTimes * seconds[0] + kMostSeconds) return "";
  return fmt::format("it takes {:.2f} s of processor time with {} cells, and {:.2f} s with four times as many\n",
                     seconds[0], cells, seconds[1]);
}

}  // namespace tessera::differential
