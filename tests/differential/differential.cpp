// Random programs, run by the reference interpreter and by the runtime in many configurations: the
// same lines must come out. A program that shows a difference is kept, with the command that
// repeats it.
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <set>

#include "batch.hpp"
#include "configurations.hpp"
#include "generator.hpp"
#include "tests/protocol/broken.hpp"

namespace fs = std::filesystem;
using namespace tessera::differential;

int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  std::size_t programs = 1000;
  std::size_t batch = 25;
  Like like;
  std::string keep = "differences";
  std::size_t least_moved = 0, least_swept = 0;
  bool print = false;
  Plan plan;
  bool only_whole = false;
  CLI::App app("Random programs: the reference interpreter against the runtime.");
  app.add_option("--programs", programs, "how many")->capture_default_str();
  app.add_option("--seed", seed, "of the first program; the next ones follow")->capture_default_str();
  app.add_option("--size", like.size, "about how many statements a program has")->capture_default_str();
  app.add_option("--swept", like.swept, "how many subs it may have with names that are swept")->capture_default_str();
  app.add_option("--batch", batch, "programs per process")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--keep", keep, "folder for programs that show a difference")->capture_default_str();
  app.add_option("--wrong", like.wrong, "percent of programs that are wrong on purpose")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--least-moved", least_moved,
                 "fail where the balancers move fewer fragments in all: then the test tests little")
      ->capture_default_str();
  app.add_option("--least-swept", least_swept, "the same of values that are swept")->capture_default_str();
  app.add_option("--whole", plan.whole, "whole runs of each program, on a time of their own")->capture_default_str();
  app.add_option("--broken", plan.broken, "with this one of the broken machines (tests/protocol/broken.cpp), from 1")
      ->check(CLI::Range(std::size_t{0}, tessera::protocol::broken_machines().size()));
  app.add_option("--from-run", plan.first, "number of the first of them")->capture_default_str();
  app.add_option("--shrink", plan.shrink, "for so many seconds the simplest run that fails is looked for")
      ->capture_default_str();
  app.add_flag("--crash", plan.crash, "... in each of which a rank crashes");
  app.add_option("--alone", plan.alone, "of runs by real threads only those of one rank, so many times");
  app.add_option("--like", plan.like, "of runs by real threads only those whose options have this in them")
      ->type_name("OPTIONS");
  app.add_option("--times", plan.times, "... so many times");
  app.add_flag("--recover", plan.recover, "... each of which dies, and goes on from its journal");
  app.add_option("--steady", plan.steady,
                 "instead: programs whose memory may not grow from so many steps to four times as many");
  app.add_option("--wide", plan.wide,
                 "instead: programs that may not take much more than four times as long with four times as many cells");
  app.add_flag("--known", like.known, "... and of which some are known to grow");
  app.add_option("--steady-ranks", plan.steady_ranks, "... on so many ranks")->capture_default_str();
  app.add_option("--steady-threads", plan.steady_threads, "... by so many threads each")->capture_default_str();
  app.add_flag("--only-whole", only_whole, "no runs by real threads");
  app.add_flag("--print", print, "only print the program of the seed");
  CLI11_PARSE(app, argc, argv);
  plan.threads = !only_whole;
  like.steady = plan.steady != 0;
  like.wide = plan.wide != 0;
  if (print) {
    std::fputs(program_of(seed, like).text.c_str(), stdout);
    return 0;
  }
  std::string pattern = (fs::temp_directory_path() / "tessera-differential-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  std::vector<Mismatch> mismatches;
  Totals totals;
  std::vector<Case> cases;
  std::set<std::uint64_t> differ;
  std::size_t told = 0;
  // At once: who cuts the test off has them.
  const auto tell = [&] {
    for (; told < mismatches.size(); ++told) {
      const Mismatch& m = mismatches[told];
      std::printf("seed %llu: %s:\n%s\n", static_cast<unsigned long long>(m.seed), m.configuration.c_str(),
                  m.what.c_str());
      std::fflush(stdout);
      if (!differ.insert(m.seed).second) continue;
      fs::create_directories(keep);
      if (fs::exists(m.transcript)) {  // where the process has died there is none
        fs::copy_file(m.transcript, fs::path(keep) / m.transcript.filename(), fs::copy_options::overwrite_existing);
      }
      const std::string name = std::to_string(m.seed) + ".fa";
      fs::copy_file(folder / name, fs::path(keep) / name, fs::copy_options::overwrite_existing);
    }
  };
  for (std::size_t k = 0; k < programs; ++k) {
    Case c;
    if (prepare(seed + k, like, folder, c, mismatches, totals)) cases.push_back(c);
    if (cases.size() < batch && k + 1 < programs) continue;
    if (!cases.empty()) run_batch(cases, plan, folder, mismatches, totals);
    cases.clear();
    tell();
    if (plan.broken != 0 && !differ.empty()) {
      std::printf("found: %s\n", tessera::protocol::broken_machines()[plan.broken - 1].name.c_str());
      break;
    }
    if (programs > batch) std::fprintf(stderr, "%zu programs, %zu differences\n", k + 1, mismatches.size());
  }
  tell();
  std::printf(
      "%zu programs (%zu lines), each in %zu configurations: %zu runs, %zu lines of output; "
      "%zu were wrong and refused, %zu failed as they should; %zu fragments moved in %zu of %zu runs with a balancer; "
      "%zu values swept; "
      "translated and interpreted %.1f s, compiled %.1f s, run %.1f s\n",
      programs, totals.source_lines, configurations(1, plan).size(), totals.runs, totals.lines, totals.refused,
      totals.failed, totals.moved, totals.moving, totals.balanced, totals.swept, totals.translate, totals.compile,
      totals.run);
  if (!differ.empty()) std::printf("%zu programs differ; they are in %s\n", differ.size(), keep.c_str());
  fs::remove_all(folder);
  if (totals.moved < least_moved) std::printf("fewer than %zu fragments moved\n", least_moved);
  if (totals.swept < least_swept) std::printf("fewer than %zu values swept\n", least_swept);
  if (plan.broken != 0) return differ.empty() ? 1 : 0;
  return differ.empty() && totals.moved >= least_moved && totals.swept >= least_swept ? 0 : 1;
}
