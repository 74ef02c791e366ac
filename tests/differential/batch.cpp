#include "batch.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "child.hpp"
#include "compiler/block/passes.hpp"
#include "compiler/blocks.hpp"
#include "configurations.hpp"
#include "generator.hpp"
#include "steady.hpp"

namespace fs = std::filesystem;

namespace tessera::differential {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(2);
// A run takes milliseconds; the machine may be busy, or stand still: looks are counted, not seconds.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kLooksPerRun = 100'000;
#else
constexpr int kLooksPerRun = 10'000;
#endif

double since(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// shell runs a script in the folder; returns what it said, and whether it succeeded.
std::pair<bool, std::string> shell(const fs::path& folder, const std::string& script) {
  write(folder / "script.sh", "cd '" + folder.string() + "'\n" + script);
  const std::string base = "'" + (folder / "script").string();
  const bool done = std::system(("bash " + base + ".sh' >" + base + ".log' 2>&1").c_str()) == 0;
  return {done, read(folder / "script.log")};
}

// stacks tells where the threads of a process stand, if gdb is installed.
std::string stacks(pid_t process, const fs::path& folder) {
  return shell(folder, "timeout 60 gdb -p " + std::to_string(process) + " -batch -ex 'thread apply all bt 12'").second;
}

// compile returns the shared object; cases that do not compile are taken out.
fs::path compile(std::vector<Case>& cases, const fs::path& folder, std::vector<Mismatch>& mismatches) {
  std::string compiler = std::string(TESSERA_CXX) + " -std=c++20 -fPIC -w -I " + TESSERA_HEADERS;
  if (std::string(TESSERA_SANITIZE_FLAGS) != "") {
    compiler += std::string(" -g -fno-sanitize-recover=all -fsanitize=") + TESSERA_SANITIZE_FLAGS;
  }
  std::string seeds;
  for (const Case& c : cases) seeds += std::to_string(c.seed) + " ";
  const std::string said =
      shell(folder, "[ -f kernels.o ] || " + compiler +
                        " -O1 -include tessera/kernels.hpp -c kernels.cpp -o kernels.o\n" + "for s in " + seeds +
                        "; do echo $s; done | xargs -P 2 -I{} " + compiler +
                        " -O0 -frounding-math -Dtessera_program=tessera_program_{} -c {}.cpp -o {}.o\n")
          .second;
  std::string objects;
  std::erase_if(cases, [&](const Case& c) {
    const std::string object = std::to_string(c.seed) + ".o";
    if (fs::exists(folder / object)) {
      objects += " " + object;
      return false;
    }
    mismatches.push_back({c.seed, "compiling", said});
    return true;
  });
  const std::string library = "batch.so";
  const auto [linked, why] =
      shell(folder, compiler + " -shared -o " + library + " kernels.o" + objects + " && rm" + objects);
  if (!linked) throw std::runtime_error(why);
  return folder / library;
}

// The number of seeds that a simpler configuration is tried with.
constexpr int kSeeds = 30;

// shrink looks for the simplest whole run of the case that fails, for plan.shrink seconds; writes its transcript, and
// says which it was.
std::string shrink(const Case& c, const Plan& plan, Configuration failing, const fs::path& library,
                   const fs::path& report, const fs::path& transcript) {
  const auto until = Clock::now() + std::chrono::seconds(plan.shrink);
  const auto still = [&](Configuration& other) {
    for (int k = 0; k < kSeeds && Clock::now() < until; ++k, ++other.world->seed) {
      rename(other);
      if (fails(c, plan, other, library, report)) return true;
    }
    return false;
  };
  for (bool found = true; found;) {
    found = false;
    for (Configuration& other : simpler(failing)) {
      found = still(other);
      if (!found) continue;
      failing = other;
      break;
    }
  }
  const bool in_time = Clock::now() < until;
  fails(c, plan, failing, library, report, transcript);
  return failing.name + (in_time ? "" : fmt::format(" (and no further within {} s)", plan.shrink));
}

// Of the mismatches from number `before` on: the first that a whole run has shown.
void shrink_first(const std::vector<Case>& cases, const Plan& plan, const fs::path& library, const fs::path& report,
                  std::size_t before, std::vector<Mismatch>& mismatches) {
  for (std::size_t k = before; k < mismatches.size(); ++k) {
    Mismatch& m = mismatches[k];
    const auto of = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.seed == m.seed; });
    if (of == cases.end()) continue;
    for (const Configuration& c : configurations(m.seed, plan)) {
      if (!c.world || c.name != m.configuration) continue;
      const fs::path transcript = of->source.string() + ".transcript";
      m.what += "shrunk to: " + shrink(*of, plan, c, library, report, transcript) + "\n";
      m.transcript = transcript;
      return;
    }
  }
}

}  // namespace

namespace {
bool is_right(std::uint64_t seed, int wrong) { return seed * 73 % 100 >= static_cast<std::uint64_t>(wrong); }
}  // namespace

Generated program_of(std::uint64_t seed, const Like& like) {
  if (like.wide) return wide(seed);
  if (like.steady) return steady(seed, like.known);
  return generate(seed, like.size,
                  is_right(seed, like.wrong) ? Fault::none
                  : seed % 2 == 0            ? Fault::never_assigned
                                             : Fault::assigned_twice,
                  like.swept);
}

bool prepare(std::uint64_t seed, const Like& like, const fs::path& folder, Case& out, std::vector<Mismatch>& mismatches,
             Totals& totals) {
  const auto started = Clock::now();
  const bool right = like.steady || like.wide || is_right(seed, like.wrong);
  const Generated program = program_of(seed, like);
  const fs::path base = folder / std::to_string(seed);
  out = {seed, base.string() + ".fa", program.arguments, {}};
  write(out.source, program.text);
  totals.source_lines += static_cast<std::size_t>(std::count(program.text.begin(), program.text.end(), '\n'));
  reference::Outcome after;
  const auto look = [&](std::string_view stage, const auto&, const compiler::block::Program& blocks) {
    if (stage == "lower") out.expected = reference::interpret(blocks, program.arguments);
    if (stage == "number-blocks") after = reference::interpret(blocks, program.arguments);
  };
  compiler::Options options;
  if (seed % 3 == 0 && !like.steady && !like.wide) {  // the optimisations change nothing of the results
    for (const compiler::block::Pass& pass : compiler::block::pipeline()) {
      if (pass.optimisation) options.without.insert(pass.name);
    }
  }
  const compiler::Output text = compiler::translate(out.source, options, look);
  totals.translate += since(started);
  if (!text.ok && !right) {
    ++totals.refused;
    return false;
  }
  if (!text.ok) {
    std::string what;
    for (const auto& d : text.diagnostics) {
      if (d.severity == compiler::Severity::error) what += compiler::render(d, false);
    }
    mismatches.push_back({seed, "translation", what});
    return false;
  }
  const bool ends_well = out.expected.end == reference::Outcome::End::finished;
  totals.failed += ends_well ? 0 : 1;
  if (right && !ends_well) {
    mismatches.push_back({seed, "the interpreter", out.expected.why});
    return false;
  }
  if (after.end != out.expected.end || (ends_well && after.lines != out.expected.lines)) {
    mismatches.push_back({seed, "the passes", after.why + "\n" + difference(out.expected.lines, after.lines)});
    return false;
  }
  for (const auto& d : text.diagnostics) {
    if (!ends_well || (d.code != "T311" && d.code != "T316")) continue;  // read, and never assigned
    mismatches.push_back({seed, "what is said of it", compiler::render(d, false)});
    return false;
  }
  totals.lines += out.expected.lines.size();
  write(base.string() + ".cpp", text.program_cpp);
  if (!fs::exists(folder / "kernels.cpp")) write(folder / "kernels.cpp", text.kernels_cpp);
  return true;
}

void run_batch(std::vector<Case> cases, const Plan& plan, const fs::path& folder, std::vector<Mismatch>& mismatches,
               Totals& totals) {
  const auto started = Clock::now();
  const std::size_t before = mismatches.size();
  const fs::path library = compile(cases, folder, mismatches);
  totals.compile += since(started);
  const auto running = Clock::now();
  const fs::path report = folder / "report";
  auto* progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (std::size_t first = 0; first < cases.size();) {
    progress->program = first;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) run_child(cases, plan, first, library, report, *progress);
    int status = 0;
    std::size_t seen = progress->runs;
    int looks = 0;
    std::string where;
    while (waitpid(child, &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(kLook);
      looks = progress->runs == seen ? looks + 1 : 0;
      seen = progress->runs;
      if (looks < kLooksPerRun) continue;
      where = "does not end\n" + stacks(child, folder);
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    const std::size_t at = progress->program;
    if (where.empty() && WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    const Case& c = cases[at];
    mismatches.push_back({c.seed, configurations(c.seed, plan)[progress->configuration].name,
                          !where.empty() ? where
                                         : "the process ends with status " + std::to_string(status) + "\n" +
                                               read(report.string() + ".stderr")});
    first = at + 1;
  }
  totals.runs += progress->runs;
  totals.balanced += progress->balanced;
  totals.moving += progress->moving;
  totals.moved += progress->moved;
  totals.swept += progress->swept;
  totals.run += since(running);
  munmap(progress, sizeof(Progress));
  for (Mismatch& m : read_report(report)) mismatches.push_back(std::move(m));
  if (!plan.crash && !plan.recover && plan.steady == 0 && plan.wide == 0)
    shrink_first(cases, plan, library, report, before, mismatches);
  fs::remove(report);
  fs::remove(library);
}

}  // namespace tessera::differential
