#include "cli/units.hpp"

#include <algorithm>
#include <regex>

#include "cli/depfile.hpp"
#include "cli/failure.hpp"
#include "cli/hash.hpp"
#include "cli/precompiled.hpp"
#include "cli/process.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

bool generated(const Unit& u) { return u.kind != Unit::Kind::kernel; }
// written: it has code that people wrote.
bool written(const Unit& u) { return u.kind == Unit::Kind::in_place || u.kind == Unit::Kind::kernel; }

// The flags of one unit: all that decides the object except the source itself.
std::vector<std::string> flags_of(const Unit& u, const CompileSetup& s) {
  const bool user_code = written(u);
  std::vector<std::string> flags = base_flags();
  // The generated program is thin calls of the runtime: optimising it more costs twice the time and
  // buys nothing (docs/benchmarks.md, translation). Without -frounding-math GCC 12 makes -double(i) of
  // 0.0 - double(i), which is -0 for i = 0.
  if (u.kind == Unit::Kind::program) {
    flags.insert(flags.end(), {"-Og", "-frounding-math", "-w"});
  }
  flags.insert(flags.end(), {"-I", s.installation.headers.string()});
  if (u.kind == Unit::Kind::in_place) flags.insert(flags.end(), {"-iquote", s.folder.string()});
  if (user_code) flags.insert(flags.end(), {"-I", s.installation.stdlib.string()});
  if (s.colour) flags.push_back("-fdiagnostics-color=always");
  if (user_code) {
    for (const std::string& f : kernel_flags()) flags.push_back(f);
    if (u.kind == Unit::Kind::in_place) flags.insert(flags.end(), {"-include", "tessera/kernels.hpp"});
    flags.insert(flags.end(), s.flags.begin(), s.flags.end());
  }
  return flags;
}

// The words that have it begin with a precompiled header, which changes nothing but the time it takes.
std::vector<std::string> precompiled(const Unit& u, const CompileSetup& s, Cache& cache) {
  if (!written(u)) return {};
  const std::optional<Prelude> prelude = u.kind == Unit::Kind::in_place ? Prelude::in_place : prelude_of(u.source);
  const fs::path ready = prelude ? precompiled_header(*prelude, s, cache) : fs::path();
  if (ready.empty()) return {};
  // It keeps silent about what it includes unless asked.
  return {"-include", ready.string(), "-fpch-deps"};
}

// Who writes `$N` in C++ text expects that it stands for the macro.
std::string note_of_macros(const Unit& u, const std::string& output) {
  static const std::regex name(R"((‘|')\$(\w+)(’|') was not declared)");
  std::smatch m;
  if (u.kind != Unit::Kind::in_place || !std::regex_search(output, m, name)) return "";
  return "tessera: note: macros are not substituted in C++ text: give the kernel `$" + m[2].str() +
         "` as an argument\n";
}

std::string failure_text(const Unit& u, const std::string& output) {
  const std::string what = u.kind == Unit::Kind::kernel ? "the kernel file " + u.name + " does not compile:"
                           : u.kind == Unit::Kind::in_place
                               ? "the C++ kernels written in " + u.name + " do not compile:"
                               : "internal error: the C++ made from " + u.name + " does not compile:";
  return "tessera: error: " + what + "\n" + output + note_of_macros(u, output);
}

}  // namespace

std::vector<Object> compile_units(const std::vector<Unit>& units, const CompileSetup& s, Cache& cache) {
  std::vector<Object> objects(units.size());
  std::vector<std::string> keys(units.size());
  std::vector<Command> commands;
  std::vector<std::size_t> pending;  // the unit of each command
  // What people wrote first: its mistakes are told without waiting for the rest, which may be large.
  std::vector<std::size_t> order;
  for (const bool user_code : {true, false}) {
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (written(units[i]) == user_code) order.push_back(i);
    }
  }
  for (const std::size_t i : order) {
    const Unit& u = units[i];
    const std::vector<std::string> flags = flags_of(u, s);
    keys[i] = Key()
                  .add("object")
                  .add(s.compiler.command)
                  .add(flags)
                  .add(generated(u) ? u.text : fs::absolute(u.source).string() + "\n" + u.source.string())
                  .add_identity(s.compiler.program)
                  .hex();
    objects[i].name = u.name;
    objects[i].written = written(u);
    if (const auto hit = cache.find(keys[i])) {
      objects[i].file = hit->file;
      objects[i].warnings = hit->note;
      objects[i].dependencies = hit->dependencies;
      continue;
    }
    const fs::path base = s.workspace / std::to_string(i);
    fs::path source = u.source;
    if (generated(u)) {
      source = base.string() + ".cpp";
      write_for_cache(source, u.text);
    }
    Command command = s.compiler.command;
    const std::vector<std::string> first = precompiled(u, s, cache);
    command.insert(command.end(), first.begin(), first.end());
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(),
                   {"-MD", "-MF", base.string() + ".d", "-c", source.string(), "-o", base.string() + ".o"});
    commands.push_back(std::move(command));
    pending.push_back(i);
  }

  const auto generated_ones =
      std::find_if(pending.begin(), pending.end(), [&](std::size_t i) { return !written(units[i]); });
  const std::vector<Finished> results = run_all(commands, static_cast<std::size_t>(generated_ones - pending.begin()));
  std::string wrong;
  int code = runtime::kExitProgram;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Unit& u = units[pending[k]];
    Object& object = objects[pending[k]];
    const fs::path base = s.workspace / std::to_string(pending[k]);
    if (results[k].left) continue;
    std::error_code ignored;
    if (results[k].exit_code == 0 && !fs::exists(base.string() + ".o", ignored)) {
      check_compiler(s.compiler, 0, results[k].output, s.workspace);
    }
    if (results[k].exit_code != 0) {
      check_disk(results[k].output);
      if (!written(u) || results[k].output.empty() || results[k].exit_code > 125 ||
          died(results[k].exit_code, results[k].output)) {
        check_compiler(s.compiler, results[k].exit_code, results[k].output, s.workspace);
      }
      wrong += failure_text(u, results[k].output);
      if (u.kind == Unit::Kind::program || u.kind == Unit::Kind::main) code = runtime::kExitInternal;
      continue;
    }
    for (const fs::path& file : read_depfile(base.string() + ".d")) {
      // A header that the cache has precompiled was made in a workspace of somebody else, which is gone.
      if (file.parent_path().parent_path() != s.workspace.parent_path()) object.dependencies.push_back({file, false});
    }
    const Cached stored =
        cache.store(keys[pending[k]], base.string() + ".o", results[k].output, object.dependencies, s.started);
    object.file = stored.file;
    object.warnings = stored.note;
  }
  if (!wrong.empty()) throw Failure(code, wrong);
  return objects;
}

}  // namespace tessera::cli
