#include "cli/link.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cli/failure.hpp"
#include "cli/hash.hpp"
#include "cli/process.hpp"
#include "cli/symbols.hpp"
#include "files/nearest.hpp"
#include "files/whole_file.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

// A kernel that includes this header gets this library; the package is for the advice.
struct KnownLibrary {
  const char* header;
  const char* library;
  const char* package;
};
constexpr KnownLibrary kLibraries[] = {
    {"cblas.h", "openblas", "libopenblas-dev"},
    {"lapacke.h", "lapacke", "liblapacke-dev"},
    {"fftw3.h", "fftw3", "libfftw3-dev"},
};

std::vector<const KnownLibrary*> wanted_libraries(const std::vector<Object>& objects) {
  std::vector<const KnownLibrary*> found;
  for (const KnownLibrary& known : kLibraries) {
    const auto included = [&](const Object& o) {
      return std::any_of(o.dependencies.begin(), o.dependencies.end(),
                         [&](const Dependency& d) { return d.path.filename() == known.header; });
    };
    if (std::any_of(objects.begin(), objects.end(), included)) found.push_back(&known);
  }
  return found;
}

compiler::Diagnostic at_import(const compiler::Output& program, const std::string& kernel, const std::string& text) {
  compiler::Diagnostic d;
  d.code = "T214";
  d.text = text;
  for (const compiler::Import& i : program.imports) {
    if (i.symbol == kernel) d.span = i.span;
  }
  return d;
}

struct Definitions {
  std::map<std::string, std::vector<std::string>> strong;  // symbol -> names of its units
  std::set<std::string> all;
};

Definitions definitions_of(const std::vector<Object>& objects) {
  Definitions d;
  for (const Object& o : objects) {
    for (const Symbol& s : read_symbols(o.file)) {
      if (!s.defined) continue;
      d.all.insert(s.name);
      if (!s.weak) d.strong[s.name].push_back(o.name);
    }
  }
  return d;
}

// Why nothing is called `kernel`: perhaps its C++ function lacks extern "C", or is called otherwise.
std::string missing_text(const std::string& kernel, const Definitions& defined) {
  std::string text = "nothing defines the kernel `" + kernel + "`";
  std::vector<std::string> names;
  for (const auto& [symbol, units] : defined.strong) {
    const std::string plain = plain_name(symbol);
    if (plain == kernel) {
      return text + ": " + units.front() + " has a C++ function of this name; write extern \"C\" before it";
    }
    if (plain.empty()) names.push_back(symbol);
  }
  const std::string guess = nearest(kernel, names);
  if (!guess.empty()) {
    return text + "; did you mean `" + guess + "` of " + defined.strong.at(guess).front() + "?";
  }
  return text + " in the kernel files; add its file to the command, or its library with -l";
}

// The linker's complaint in terms of the program; empty when it is about something else.
std::vector<compiler::Diagnostic> explain(const std::vector<Object>& objects, const compiler::Output& program,
                                          const std::string& output) {
  const Definitions defined = definitions_of(objects);
  std::vector<compiler::Diagnostic> found;
  for (const compiler::Import& import : program.imports) {
    const std::string& kernel = import.symbol;
    const auto strong = defined.strong.find(kernel);
    if (strong != defined.strong.end() && strong->second.size() > 1) {
      found.push_back(at_import(program, kernel,
                                "the kernel `" + kernel + "` is defined twice: in " + strong->second[0] + " and in " +
                                    strong->second[1] + "; name the kernel files to use on the command line"));
    } else if (defined.all.count(kernel) == 0 && output.find(kernel) != std::string::npos) {
      found.push_back(at_import(program, kernel, missing_text(kernel, defined)));
    }
  }
  return found;
}

// What else people's files lack, or have twice; empty when the complaint is about something else.
std::string explain_files(const std::vector<Object>& objects, const BuildRequest& request, const std::string& output) {
  const Definitions defined = definitions_of(objects);
  std::string text;
  const auto quoted = [](const std::string& s) { return "`" + s + "`"; };
  for (const auto& [symbol, units] : defined.strong) {
    if (units.size() < 2 || output.find("multiple definition of `" + full_name(symbol) + "'") == output.npos) continue;
    text +=
        "  " + quoted(full_name(symbol)) + " is defined in " + quoted(units[0]) + " and in " + quoted(units[1]) + "\n";
  }
  for (const Object& o : objects) {
    if (!o.written) continue;
    for (const Symbol& s : read_symbols(o.file)) {
      if (s.defined || defined.all.contains(s.name)) continue;
      if (output.find("undefined reference to `" + full_name(s.name) + "'") == output.npos) continue;
      text += "  " + quoted(o.name) + " uses " + quoted(full_name(s.name)) + ", which nothing defines\n";
    }
  }
  if (text.empty()) return "";
  return "tessera: error: the kernel files do not link:\n" + text +
         (request.kernels.empty()
              ? "All *.cpp beside the program are taken, since none is named: name those that belong "
                "to it (`tessera run prog.fa kernels.cpp`)"
              : "Name the files that belong to the program") +
         ", and libraries with -l\n";
}

// The linked file's build ID: the first half is of its kernels, by which a journal knows whether they are the same.
std::string build_id(const std::vector<Object>& objects, const BuildRequest& request) {
  std::vector<std::string> kernels;
  Key all;
  for (const Object& o : objects) {
    if (o.written) kernels.push_back(hash_of_code(o.file));
    all.add(o.file.filename().string());
  }
  std::sort(kernels.begin(), kernels.end());  // in whatever order the files were named
  return Key().add(kernels).add(request.libraries).hex() + all.hex();
}

}  // namespace

void link_objects(const std::vector<Object>& objects, const CompileSetup& s, const BuildRequest& request,
                  const compiler::Output& program, const fs::path& output) {
  Command command = s.compiler.command;
  for (const std::string& f : base_flags()) command.push_back(f);
  if (request.target == Target::shared_object) {
    // Undefined symbols are found now, not when it is loaded; and a kernel called `index` or `send`
    // is the program's own, not libc's.
    command.insert(command.end(), {"-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic-functions"});
  }
  if (request.target == Target::library) {
    // Nothing but the program is seen from outside: kernels of several libraries may have the same names.
    const fs::path exported = s.workspace / "exported";
    const std::string text = "{ global: tessera_program; tessera_program_" + request.library_name + "; local: *; };\n";
    if (const std::string error = files::write_here(exported, text); !error.empty()) {
      throw Failure(runtime::kExitEnvironment, "tessera: error: can't write " + exported.string() + ": " + error);
    }
    command.insert(command.end(),
                   {"-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-Wl,--version-script," + exported.string(),
                    "-Wl,-soname,lib" + request.library_name + ".so"});
  }
  for (const Object& o : objects) command.push_back(o.file.string());
  // Where that is missing, the library is beside the program, or in lib beside its bin: both may be put anywhere.
  const char* elsewhere = request.target == Target::shared_object ? "" : ":$ORIGIN/../lib:$ORIGIN";
  command.insert(command.end(), {s.installation.library.string(), "-Xlinker", "-rpath", "-Xlinker",
                                 s.installation.library.parent_path().string() + elsewhere});
  // As our own binaries; who wants it otherwise says so behind it.
  command.insert(command.end(), {"-Wl,-z,relro", "-Wl,-z,now"});
  for (const std::string& f : environment_ldflags()) command.push_back(f);
  for (const std::string& f : request.ldflags) command.push_back(f);
  for (const std::string& l : request.libraries) command.push_back("-l" + l);
  const std::vector<const KnownLibrary*> known = wanted_libraries(objects);
  for (const KnownLibrary* k : known) command.push_back(std::string("-l") + k->library);
  command.insert(command.end(), {"-Wl,--build-id=0x" + build_id(objects, request), "-o", output.string()});

  if (find_program("ld.gold")) {
    // It takes a third of the time. Whatever it does not like is for the compiler's own linker, whose words are
    // explained below.
    Command fast = command;
    fast.insert(fast.begin() + static_cast<std::ptrdiff_t>(s.compiler.command.size()), "-fuse-ld=gold");
    if (run_all({fast}).front().exit_code == 0) return;
  }
  const Finished result = run_all({command}).front();
  if (result.exit_code == 0) return;
  check_disk(result.output);
  const std::vector<compiler::Diagnostic> ours = explain(objects, program, result.output);
  if (!ours.empty()) throw Failure(runtime::kExitProgram, render_all(ours, s.colour));
  const std::string files = known.empty() ? explain_files(objects, request, result.output) : "";
  if (!files.empty()) throw Failure(runtime::kExitProgram, files);
  std::string text = "tessera: error: the program does not link:\n" + result.output;
  for (const KnownLibrary* k : known) {
    if (result.output.find(std::string("-l") + k->library) == std::string::npos) continue;
    text += std::string("A kernel includes ") + k->header + ", so the program is linked with " + k->library +
            ". On Debian or Ubuntu: apt-get install " + k->package + "\n";
  }
  throw Failure(runtime::kExitProgram, text);
}

}  // namespace tessera::cli
