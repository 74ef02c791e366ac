#include "cli/precompiled.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/depfile.hpp"
#include "cli/hash.hpp"
#include "cli/process.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

struct Known {
  Prelude prelude;
  const char* header;
  const char* file;
};
constexpr Known kKnown[] = {
    {Prelude::kernel, "ucenv.h", "kernel.hpp"},
    {Prelude::modern, "tessera.hpp", "modern.hpp"},
    {Prelude::cereal, "tessera/cereal.hpp", "cereal.hpp"},
    {Prelude::in_place, "tessera/kernels.hpp", "in_place.hpp"},
};

const Known& known(Prelude p) {
  for (const Known& k : kKnown) {
    if (k.prelude == p) return k;
  }
  return kKnown[0];
}

std::vector<std::string> flags_before_users() {
  std::vector<std::string> flags = base_flags();
  for (std::string& f : kernel_flags()) flags.push_back(std::move(f));
  return flags;
}

// All that decides a header, but for the files that it includes.
std::string key_of(Prelude p, const Compiler& c, const Installation& where, const std::vector<std::string>& flags) {
  Key key;
  key.add("header").add(known(p).file);
  // c++ and g++ are mostly the same file: its name does not matter, words behind it do.
  key.add({c.command.begin() + 1, c.command.end()}).add(flags_before_users()).add(flags).add_identity(c.program);
  return key.add(where.headers.string()).hex();
}

// What Tessera's own build has made: a header that changed since is another key, so that a stale one is never used.
fs::path built_file(Prelude p, const Compiler& c, const Installation& where, const std::vector<std::string>& flags) {
  Key key;
  key.add(key_of(p, c, where, flags));
  std::vector<fs::path> headers;
  for (const fs::path& folder : {where.headers, where.headers / "tessera"}) {
    std::error_code none;  // what is missing is told when it is included
    for (const fs::directory_entry& file : fs::directory_iterator(folder, none)) headers.push_back(file.path());
  }
  std::sort(headers.begin(), headers.end());
  for (const fs::path& header : headers) key.add_identity(header);
  return where.precompiled / key.hex() / known(p).file;
}

std::string text_of(Prelude p) { return std::string("#include \"") + known(p).header + "\"\n"; }

// file -> file.gch, and file.d.
Command command_for(const fs::path& file, const Compiler& c, const Installation& where,
                    const std::vector<std::string>& flags) {
  Command command = c.command;
  for (const std::string& f : flags_before_users()) command.push_back(f);
  command.insert(command.end(), {"-I", where.headers.string()});
  command.insert(command.end(), flags.begin(), flags.end());
  // -MD: what it includes stands in the dependencies of whatever uses it.
  command.insert(command.end(),
                 {"-MD", "-MF", file.string() + ".d", "-x", "c++-header", file.string(), "-o", file.string() + ".gch"});
  return command;
}

// The cache's, which whoever needs it first makes in `file`.gch.
std::optional<Cached> cached(Prelude p, const fs::path& file, const CompileSetup& s, Cache& cache) {
  const std::string key = key_of(p, s.compiler, s.installation, s.flags);
  if (auto hit = cache.find(key)) return hit;
  // One lock for all of them: a program's own is held already, and two of one kind would wait for each other.
  const Cache::Lock making(cache.folder("locks") / "headers");
  if (auto hit = cache.find(key)) return hit;
  if (run_all({command_for(file, s.compiler, s.installation, s.flags)}).front().exit_code != 0) return std::nullopt;
  std::vector<Dependency> dependencies;
  for (const fs::path& d : read_depfile(file.string() + ".d")) {
    if (d.parent_path() != s.workspace) dependencies.push_back({d, false});
  }
  return cache.store(key, file.string() + ".gch", "", dependencies, s.started);
}

}  // namespace

fs::path precompiled_header(Prelude p, const CompileSetup& s, Cache& cache) {
  if (!s.compiler.gcc) return {};
  std::error_code failed;
  fs::path built = built_file(p, s.compiler, s.installation, s.flags);
  if (fs::exists(built.string() + ".gch", failed)) return built;
  // For flags of the command line alone it is not worth 100 MB.
  if (s.flags != environment_cxxflags()) return {};
  // The compiler takes the text where the other does not suit it, or where somebody has just removed that.
  fs::path file = s.workspace / known(p).file;
  if (fs::exists(file.string() + ".gch", failed)) return file;
  write_for_cache(file, text_of(p));
  const std::optional<Cached> ready = cached(p, file, s, cache);
  if (!ready) return {};
  fs::create_symlink(ready->file, file.string() + ".gch", failed);
  return failed ? fs::path() : file;
}

std::optional<Prelude> prelude_of(const fs::path& source) {
  std::ifstream in(source, std::ios::binary);
  std::string line;
  bool comment = false;  // inside /* ... */
  while (std::getline(in, line)) {
    std::string_view rest = line;
    while (!rest.empty()) {
      if (comment) {
        const std::size_t end = rest.find("*/");
        comment = end == std::string_view::npos;
        rest = comment ? std::string_view() : rest.substr(end + 2);
      } else if (rest.front() == ' ' || rest.front() == '\t' || rest.front() == '\r') {
        rest.remove_prefix(1);
      } else if (rest.substr(0, 2) == "//") {
        rest = {};
      } else if (rest.substr(0, 2) == "/*") {
        comment = true;
        rest.remove_prefix(2);
      } else if (rest.substr(0, 8) == "#include") {
        for (const Prelude p : {Prelude::kernel, Prelude::modern, Prelude::cereal}) {
          if (rest.find(known(p).header) != std::string_view::npos) return p;
        }
        if (rest.find('<') == std::string_view::npos) return std::nullopt;
        rest = {};
      } else {
        return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

int precompile() {
  const Compiler compiler = find_compiler();
  if (!compiler.gcc) return 0;
  const Installation where = find_installation();
  const std::vector<std::string> flags = environment_cxxflags();
  std::error_code ignored;
  fs::remove_all(where.precompiled, ignored);
  std::vector<Command> commands;
  for (const Prelude p : {Prelude::kernel, Prelude::modern, Prelude::cereal, Prelude::in_place}) {
    const fs::path file = built_file(p, compiler, where, flags);
    fs::create_directories(file.parent_path());
    // Where cereal is missing there is nothing to precompile; its users are told by the compiler.
    std::ofstream(file) << (p == Prelude::cereal ? "#if __has_include(<cereal/cereal.hpp>)\n" + text_of(p) + "#endif\n"
                                                 : text_of(p));
    commands.push_back(command_for(file, compiler, where, flags));
  }
  for (const Finished& f : run_all(commands)) {
    if (f.exit_code != 0) {
      std::fprintf(stderr, "%s", f.output.c_str());
      return f.exit_code;
    }
  }
  return 0;
}

}  // namespace tessera::cli
