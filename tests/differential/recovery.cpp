#include "recovery.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "balancer/random.hpp"
#include "child.hpp"
#include "configurations.hpp"
#include "runtime/journal/folder.hpp"
#include "tests/journal_frames.hpp"

namespace fs = std::filesystem;
namespace journal = tessera::runtime::journal;

namespace tessera::differential {
namespace {

using Counts = std::map<std::string, int>;  // lines, and how often

Counts lines_of(const fs::path& file) {
  Counts all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) ++all[line];
  return all;
}

void flip_bits(const fs::path& file, balancer::Random& random) {
  std::string bytes = read(file);
  for (std::uint64_t k = 1 + random.below(3); k > 0 && !bytes.empty(); --k)
    bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
  std::ofstream(file, std::ios::binary) << bytes;
}

// What a run has written and nobody has damaged is read whole, and always the same: ranks of one run that see different
// journals can't go on together. (In a simulation they share one reading of it.)
std::string misread(const fs::path& folder) {
  std::vector<std::byte> first;
  for (int times = 0; times < 3; ++times) {
    std::vector<std::byte> rows;
    for (const fs::path& file : journal::files_of(folder)) {
      journal::Header header;
      const auto keep = [&](const auto& record) { journal::append(rows, record); };
      const auto has = [&](const journal::NeedsText& n) {
        journal::append(rows, n);
        return true;
      };
      const journal::Found found = journal::for_each_record(
          file, header, {keep, keep, keep, keep, keep, keep, keep, keep, has, {}, {}, keep, keep});
      if (!found.header || found.damaged > 0) return file.filename().string() + " is not read whole\n";
    }
    if (times == 0) first = rows;
    if (rows != first) return "the journal is not the same when it is read again\n";
  }
  return "";
}

// What may happen to a journal. Returns what did.
std::string damage(const fs::path& folder, balancer::Random& random) {
  const std::vector<fs::path> files = journal::files_of(folder);
  if (files.empty()) return "";
  const fs::path& file = files[random.below(files.size())];
  const std::string name = file.filename().string();
  switch (random.below(9)) {
    case 8:
      fs::remove(folder / "printed");
      return "what was printed is not noted";
    case 0:
      fs::remove(file);
      return name + " is lost";
    case 1:
      fs::resize_file(file, random.below(fs::file_size(file) + 1));
      return name + " is cut off";
    case 2:
      flip_bits(file, random);
      return name + " has bits flipped";
    case 3:
    case 4: {
      const std::uint64_t one_in = 1 + random.below(random.below(2) == 0 ? 10 : 100);
      for (const fs::path& each : files) tests::lose_frames(each, [&] { return random.below(one_in) == 0; });
      return fmt::format("one frame in {} is left out", one_in);
    }
    default:
      return "";
  }
}

// The next run of the story.
Configuration next_run(std::uint64_t seed, std::size_t number, bool last, const fs::path& folder,
                       balancer::Random& random) {
  Configuration c = whole_run(seed, number);
  c.options.record.clear();
  if (random.below(6) == 0) {
    c.options.ranks = 1;
    c.options.spares = 0;
    c.options.member_plan.clear();
    c.options.policy = balancer::find_policy("none");
    c.options.settings.clear();
    c.world->absences.clear();
    rename(c);
  }
  c.options.journal = folder;
  c.options.journal_interval = 1e-4 * static_cast<double>(1 + random.below(random.below(2) == 0 ? 10 : 200));
  c.name += fmt::format(", sweeps after {} us", c.options.journal_interval * 1e6);
  if (last) return c;
  const auto some = [&](std::uint64_t most) { return whole::Span(1 + random.below(most >> random.below(8))); };
  c.world->dies = some(20'000'000);
  c.name += fmt::format(", dies at {} us", static_cast<double>(c.world->dies.count()) * 1e-3);
  if (random.below(3) == 0) {
    // One of them before the others.
    const auto rank = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(c.options.ranks)));
    c.world->absences.push_back({rank, c.world->dies, whole::Span::max()});
    c.world->dies += some(20'000'000);
    c.name += fmt::format(" (rank {}), the others later", rank);
  }
  return c;
}

std::string wrong_lines(const Counts& expected, const Counts& all, const std::vector<Counts>& each) {
  std::string what;
  for (const auto& [line, times] : expected) {
    const auto at = all.find(line);
    if (at == all.end() || at->second < times) what += "  expected: " + line + "\n";
  }
  for (const Counts& one : each) {
    for (const auto& [line, times] : one) {
      const auto at = expected.find(line);
      if (at == expected.end() || at->second < times) what += "  got:      " + line + "\n";
    }
  }
  return what;
}

}  // namespace

std::string run_recovering(const abi::Program& program, const Case& of, std::size_t run, const fs::path& report,
                           const fs::path& said) {
  balancer::Random random(of.seed * 7'368'787 + run);
  const fs::path folder = report.string() + ".journal";
  fs::remove_all(folder);
  const bool right = of.expected.end == reference::Outcome::End::finished;
  std::string story;
  Counts all;
  std::vector<Counts> each;
  bool whole = true;  // nothing is damaged
  bool ended = false;
  const std::size_t runs = 2 + random.below(3);
  for (std::size_t k = 0; k < runs; ++k) {
    const bool last = k + 1 == runs;
    const Configuration c = next_run(of.seed, run * 10 + k, last, folder, random);
    story += "  " + c.name + "\n";
    std::fflush(nullptr);
    const Lines lines{report.string() + ".lines", report.string() + ".again",
                      last ? 0 : random.below(2) * random.next()};
    for (const fs::path& file : {lines.printed, lines.again}) fs::remove(file);
    const pid_t child = fork();
    if (child == 0) run_part(program, c, of.arguments, lines);
    int status = 0;
    waitpid(child, &status, 0);
    each.push_back(lines_of(lines.printed));
    for (const auto& [line, times] : each.back()) all[line] += times;
    for (const auto& [line, times] : lines_of(lines.again)) all[line] += times;
    if (lines.killed != 0) story += "  and whoever passed on what it printed\n";
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != (right ? 0 : 1) && (last || code != kDied))
      return fmt::format("status {}\n{}{}", status, story, read(said));
    if (ended && whole && right && !each.back().empty()) return "what was done is done again\n" + story;
    ended = code == 0;
    if (const std::string wrong = whole ? misread(folder) : ""; !wrong.empty()) return wrong + story;
    fs::remove(folder / "finished");  // or it would begin anew
    const std::string damaged = last ? "" : damage(folder, random);
    whole = whole && damaged.empty();
    if (!damaged.empty()) story += "  " + damaged + "\n";
  }
  fs::remove_all(folder);
  if (!right) return "";
  Counts expected;
  for (const std::string& line : of.expected.lines) ++expected[line];
  const std::string wrong = wrong_lines(expected, all, each);
  return wrong.empty() ? "" : wrong + story;
}

}  // namespace tessera::differential
