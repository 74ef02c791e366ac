// Fuzzing: random right programs and what mutations make of them, through the translator. It must
// answer each of them, soon: a right one with a program, a wrong one with diagnostics.
//
// The input that a crash or a hang belongs to is left in the folder that the message names.
#include <stdlib.h>
#include <sys/resource.h>
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

constexpr unsigned kSecondsPerInput = 60;  // one takes milliseconds; sanitizers and a busy machine
constexpr std::size_t kGenerated = 200;    // programs that mutations start from, besides the files

char input_path[4096];

// The folder of the input is said last, whatever happens.
extern "C" void say_input(int signal) {
  const char* why = signal == SIGALRM ? "fuzz: no answer in time for " : "fuzz: crashed on ";
  [[maybe_unused]] auto ignored = write(STDERR_FILENO, why, std::strlen(why));
  ignored = write(STDERR_FILENO, input_path, std::strlen(input_path));
  ignored = write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
  raise(signal == SIGALRM ? SIGKILL : signal);
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
  std::strncpy(input_path, path.c_str(), sizeof input_path - 1);
  for (const int signal : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
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
    std::string text = right ? differential::generate(seed + k, 10).text
                             : mutate(texts[(seed + k) % texts.size()]);
    std::ofstream(path, std::ios::binary) << text;
    const auto from = std::chrono::steady_clock::now();
    alarm(kSecondsPerInput);
    const std::string wrong = answer(path, right, accepted);
    alarm(0);
    if (!wrong.empty()) {
      std::printf("input %zu of seed %llu, %s: %s\n", k, static_cast<unsigned long long>(seed),
                  path.c_str(), wrong.c_str());
      return 1;
    }
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
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
