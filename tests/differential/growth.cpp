#include "growth.hpp"

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
// Of several threads each has its own, and what one makes ahead of others is bounded, but not the same in each run.
constexpr long kMostOfSeveral = 6 << 10;

struct RanApart {
  int status = 0;
  long peak = 0;  // KiB, with what this process has
  std::vector<std::string> lines;
};

RanApart run_apart(const abi::Program& program, const Configuration& c, std::size_t steps,
                   const std::filesystem::path& lines) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_part(program, c, {std::to_string(steps)}, {lines, lines.string() + ".again"});
  }
  RanApart ran;
  rusage used{};
  wait4(child, &ran.status, 0, &used);
  ran.peak = used.ru_maxrss;
  std::ifstream in(lines);
  for (std::string line; std::getline(in, line);) ran.lines.push_back(line);
  std::sort(ran.lines.begin(), ran.lines.end());
  return ran;
}

}  // namespace

std::string run_steadily(const abi::Program& program, const Case& of, const Configuration& c, std::size_t steps,
                         const std::filesystem::path& report, const std::filesystem::path& said) {
  const std::filesystem::path lines = report.string() + ".lines";
  const RanApart known = run_apart(program, c, std::stoul(of.arguments.at(0)), lines);
  if (known.status != 0) return "status " + std::to_string(known.status) + "\n" + read(said);
  if (known.lines != of.expected.lines) return difference(of.expected.lines, known.lines);
  const RanApart few = run_apart(program, c, steps, lines);
  if (few.status != 0) return "status " + std::to_string(few.status) + "\n" + read(said);
  const RanApart many = run_apart(program, c, 4 * steps, lines);
  if (many.status != 0) return "status " + std::to_string(many.status) + "\n" + read(said);
  if (many.peak <= few.peak + (c.options.threads > 1 ? kMostOfSeveral : kMostGrowth)) return "";
  return "it takes " + std::to_string(few.peak - known.peak) + " KiB more than " + of.arguments.at(0) + " steps with " +
         std::to_string(steps) + " of them, and " + std::to_string(many.peak - known.peak) + " KiB with " +
         std::to_string(4 * steps) + "\n";
}

}  // namespace tessera::differential
