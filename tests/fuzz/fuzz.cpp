// Fuzzing: random right programs and what mutations make of them, through the translator. It must
// answer each of them, soon: a right one with a program, a wrong one with diagnostics.
//
// The input that a crash or a hang belongs to is left in the folder that the message names.
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/compiler.hpp"
#include "mutator.hpp"
#include "tests/differential/generator.hpp"

namespace fs = std::filesystem;
using namespace tessera;

namespace {

constexpr long kSecondsPerInput = 30;    // of CPU time; one takes milliseconds without sanitizers
constexpr std::size_t kGenerated = 200;  // programs that mutations start from, besides the files

char input_name[4200];  // its number and its path

// The input is said last, whatever happens.
extern "C" void say_input(int signal) {
  const char* why = signal == SIGPROF ? "fuzz: no answer in time for " : "fuzz: crashed on ";
  [[maybe_unused]] auto ignored = write(STDERR_FILENO, why, std::strlen(why));
  ignored = write(STDERR_FILENO, input_name, std::strlen(input_name));
  std::signal(signal, SIG_DFL);
  raise(signal == SIGPROF ? SIGKILL : signal);
}

// limit_time lets the processor's time end what takes longer; 0: no limit. A busy machine is no hang.
void limit_time(long seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

std::vector<std::string> programs_of_the_repository() {
  std::vector<fs::path> paths;
  for (const char* folder : {"tests", "examples", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TESSERA_ROOT) / folder)) {
      if (entry.path().extension() == ".fa") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const fs::path& p : paths) {
    std::ifstream in(p, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

// answer returns what is wrong with the translator's answer, or "".
std::string answer(const fs::path& path, bool right, std::size_t& accepted) {
  const compiler::Output out = compiler::translate(path, {});
  accepted += out.ok ? 1 : 0;
  std::string errors;
  for (const compiler::Diagnostic& d : out.diagnostics) {
    const std::string text = compiler::render(d, false);
    if (text.empty() || d.code.empty()) return "a diagnostic without a text or a code";
    if (d.severity == compiler::Severity::error) errors += text;
  }
  if (right && !out.ok) return "a right program is refused:\n" + errors;
  if (!out.ok && errors.empty()) return "refused without an error";
  if (out.ok && !errors.empty()) return "accepted with an error";
  if (out.ok && out.program_cpp.find("tessera_program") == std::string::npos) return "no program";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  std::size_t inputs = 100000;
  CLI::App app("Random and mutated programs through the translator.");
  app.add_option("--inputs", inputs, "how many")->capture_default_str();
  app.add_option("--seed", seed, "of the first input; the next ones follow")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::string pattern = (fs::temp_directory_path() / "tessera-fuzz-XXXXXX").string();
  const fs::path path = fs::path(mkdtemp(pattern.data())) / "input.fa";
  for (const int signal : {SIGPROF, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, say_input);
  }
  std::vector<std::string> texts = programs_of_the_repository();
  for (std::size_t k = 0; k < kGenerated; ++k) {
    texts.push_back(differential::generate(seed + k, 4 + static_cast<int>(k % 20)).text);
  }
  std::size_t accepted = 0;
  double slowest = 0;
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t k = 0; k < inputs; ++k) {
    const bool right = k % 10 == 0;
    fuzz::Mutator mutate((seed + k) * 2654435761u, texts);
    std::string text = right ? differential::generate(seed + k, 10).text : mutate(texts[(seed + k) % texts.size()]);
    std::ofstream(path, std::ios::binary) << text;
    const auto from = std::chrono::steady_clock::now();
    std::snprintf(input_name, sizeof input_name, "input %zu of seed %llu, %s\n", k,
                  static_cast<unsigned long long>(seed), path.c_str());
    limit_time(kSecondsPerInput);
    const std::string wrong = answer(path, right, accepted);
    limit_time(0);
    if (!wrong.empty()) {
      std::printf("%s%s\n", input_name, wrong.c_str());
      return 1;
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    if (took > slowest) {
      slowest = took;
      fs::copy_file(path, path.parent_path() / "slowest.fa", fs::copy_options::overwrite_existing);
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "%zu inputs from seed %llu, %zu accepted, %.1f s; the slowest took %.2f s; peak memory %ld "
      "MB\n",
      inputs, static_cast<unsigned long long>(seed), accepted,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(), slowest,
      usage.ru_maxrss / 1024);
  if (slowest < 2) {
    fs::remove_all(path.parent_path());
  } else {
    std::printf("the slowest is %s\n", (path.parent_path() / "slowest.fa").c_str());
  }
  // Else the mutations are too wild to test anything behind the parser.
  return accepted * 10 > inputs ? 0 : 1;
}
