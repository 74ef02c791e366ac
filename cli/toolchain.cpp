#include "cli/toolchain.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cli/cache.hpp"
#include "cli/failure.hpp"
#include "cli/process.hpp"
#include "runtime/abi/tessera/abi.hpp"
#include "runtime/launch/words.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

constexpr const char* kAdvice =
    "Programs are translated to C++ and compiled on this machine. On Debian or Ubuntu: "
    "apt-get install g++; or name a compiler in the environment variable CXX";

std::vector<std::string> words_of(const char* variable) {
  const char* text = std::getenv(variable);
  try {
    return launch::split_words(text == nullptr ? "" : text);
  } catch (const std::invalid_argument& e) {
    throw usage_error(std::string("in the environment variable ") + variable + ": " + e.what());
  }
}

Compiler describe(std::vector<std::string> command, const fs::path& found) {
  Compiler c;
  command[0] = found.string();
  c.command = std::move(command);
  std::error_code ignored;
  const fs::path real = fs::canonical(found, ignored);
  c.program = ignored ? found : real;
  const std::string name = c.program.filename().string();
  c.gcc = name.find("g++") != std::string::npos && name.find("clang") == std::string::npos;
  return c;
}

// The interface that the headers declare is that of this command: sources that were updated and not built again would
// else be told as a failure to link.
void check_headers(const fs::path& headers) {
  const fs::path file = headers / "tessera" / "abi.hpp";
  const std::string declares = "kAbiVersion = ";
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(declares);
    if (at == std::string::npos) continue;
    const unsigned long found = std::strtoul(line.c_str() + at + declares.size(), nullptr, 10);
    if (found == abi::kAbiVersion) return;
    throw environment_error(
        file.string() + " declares interface " + std::to_string(found) + ", and this command is for " +
        std::to_string(abi::kAbiVersion) +
        ": they are of different versions. Build the command again (./dev build), or install it again");
  }
  throw environment_error(file.string() + " does not say its version (kAbiVersion): is the installation complete?");
}

}  // namespace

Compiler find_compiler() {
  std::vector<std::string> asked = words_of("CXX");
  if (!asked.empty()) {
    if (const auto found = find_program(asked[0])) return describe(asked, *found);
    throw environment_error("the C++ compiler `" + asked[0] + "` named by CXX is not there, or can't be executed.\n" +
                            kAdvice);
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (const auto found = find_program(name)) return describe({name}, *found);
  }
  throw environment_error(std::string("no C++ compiler found (c++, g++ or clang++ in PATH).\n") + kAdvice);
}

Installation find_installation() {
  Installation where;
  // The library this very process runs on; `tessera_program_main` is in it.
  Dl_info info{};
  void* symbol = dlsym(RTLD_DEFAULT, "tessera_program_main");
  if (symbol == nullptr || dladdr(symbol, &info) == 0) {
    throw Failure(runtime::kExitInternal, "tessera: internal error: libtessera.so is not loaded");
  }
  std::error_code ignored;
  where.library = fs::canonical(info.dli_fname, ignored);
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  if (fs::exists(prefix / "include" / "tessera" / "ucenv.h", ignored)) {
    where.headers = prefix / "include" / "tessera";
    where.precompiled = prefix / "lib" / "tessera" / "precompiled";
  } else {
    where.headers = TESSERA_BUILD_HEADERS;
    where.precompiled = TESSERA_BUILD_PRECOMPILED;
  }
  where.stdlib = find_stdlib();
  if (!fs::exists(where.headers / "ucenv.h", ignored)) {
    throw environment_error("ucenv.h is neither in " + (prefix / "include/tessera").string() + " nor in " +
                            where.headers.string() + ": is the installation complete?");
  }
  check_headers(where.headers);
  return where;
}

fs::path find_stdlib() {
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const fs::path installed = prefix / TESSERA_INSTALL_STDLIB;
  return fs::exists(installed, ignored) ? installed : fs::path(TESSERA_BUILD_STDLIB);
}

std::vector<std::string> base_flags() {
  std::vector<std::string> flags = {"-std=c++20", "-fPIC", "-O2"};
  // A sanitized runtime needs sanitized programs.
  const std::string sanitize = TESSERA_SANITIZE_FLAGS;
  if (!sanitize.empty()) {
    flags.insert(flags.end(), {"-fsanitize=" + sanitize, "-fno-sanitize-recover=all", "-g"});
  }
  return flags;
}

std::vector<std::string> kernel_flags() { return {"-g"}; }

fs::path find_sanitizer(const std::string& name) {
  const Compiler compiler = find_compiler();
  const std::string library =
      compiler.gcc ? "lib" + std::string(name == "address" ? "asan" : name) + ".so" : "libclang_rt.asan-x86_64.so";
  Command command = compiler.command;
  command.push_back("-print-file-name=" + library);
  std::string found = run_all({command}).front().output;
  while (!found.empty() && found.back() == '\n') found.pop_back();
  std::error_code ignored;
  fs::path file = fs::canonical(found, ignored);
  if (!ignored && file.is_absolute() && fs::is_regular_file(file, ignored)) return file;
  throw environment_error("--sanitize " + name + ": the compiler " + compiler.program.string() + " has no " + library +
                          ", which kernels need then. On Debian or Ubuntu: apt-get install g++");
}

void check_disk(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" | ") != std::string::npos) continue;  // a line of the source
    for (const int error : {ENOSPC, EDQUOT, EFBIG, EROFS}) {
      if (line.find(std::strerror(error)) == std::string::npos) continue;
      std::error_code ignored;
      throw environment_error(
          "the C++ compiler can't write; it writes into the compilation cache (XDG_CACHE_HOME) and into " +
          fs::temp_directory_path(ignored).string() + " (TMPDIR). It says:\n" + line);
    }
  }
}

bool died(int exit_code, const std::string& output) {
  return exit_code > 128 || output.find("signal terminated program") != std::string::npos;
}

void check_compiler(const Compiler& c, int exit_code, const std::string& output, const fs::path& folder) {
  const std::string name = "the C++ compiler `" + c.command.front() + "`";
  const auto says = [](const std::string& text) { return text.empty() ? " It says nothing." : " It says:\n" + text; };
  if (died(exit_code, output)) {
    throw environment_error(name + " was ended by a signal, perhaps for want of memory." + says(output));
  }
  const fs::path source = folder / "right.cpp", object = folder / "right.o";
  write_for_cache(source, "int main() { return 0; }\n");
  Command command = c.command;
  for (const std::string& f : base_flags()) command.push_back(f);
  command.insert(command.end(), {"-c", source.string(), "-o", object.string()});
  const Finished made = run_all({command}).front();
  std::error_code ignored;
  if (made.exit_code == 0 && fs::exists(object, ignored)) return;
  check_disk(made.output);
  const std::string what = made.exit_code == 0 ? "makes nothing of C++, though it ends with exit code 0."
                           : made.exit_code == 127
                               ? "can't be started."
                               : "does not compile C++: it ends with exit code " + std::to_string(made.exit_code) + ".";
  throw environment_error(name + " " + what + says(made.output) +
                          (made.output.empty() || made.output.back() == '\n' ? "" : "\n") +
                          (made.output.empty() ? "\n" : "") + kAdvice);
}

std::vector<std::string> environment_cxxflags() {
  std::vector<std::string> flags = words_of("CXX_FLAGS");
  for (std::string& f : words_of("CXXFLAGS")) flags.push_back(std::move(f));
  return flags;
}

std::vector<std::string> environment_ldflags() { return words_of("LDFLAGS"); }

}  // namespace tessera::cli
