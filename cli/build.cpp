#include "cli/build.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "cli/cache.hpp"
#include "cli/check_signatures.hpp"
#include "cli/failure.hpp"
#include "cli/hash.hpp"
#include "cli/link.hpp"
#include "cli/toolchain.hpp"
#include "cli/units.hpp"
#include "runtime/transport/launcher.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

constexpr std::uintmax_t kCacheBytes = std::uintmax_t{1} << 30;

// How long the rank that compiles may take to begin, before another one does it.
constexpr std::chrono::seconds kStart{3};

constexpr const char* kMain =
    "#include \"tessera/main.hpp\"\n"
    "int main(int argc, char** argv) {\n"
    "  return tessera_program_main(tessera_program(), argc, argv);\n"
    "}\n";

// The program of a library by a name of its own: several may be linked into one program.
std::string library_text(const std::string& name) {
  return "#include \"tessera/abi.hpp\"\n"
         "extern \"C\" const tessera::abi::Program* tessera_program();\n"
         "extern \"C\" const tessera::abi::Program* tessera_program_" +
         name + "() { return tessera_program(); }\n";
}

fs::path folder_of(const fs::path& program) {
  return program.has_parent_path() ? program.parent_path() : fs::path(".");
}

// Everything that is known before translation and decides the result.
std::string key_of(const BuildRequest& r, const CompileSetup& s) {
  Key key;
  key.add("program").add(fs::absolute(r.program).string()).add(r.program.string());
  key.add(std::to_string(r.kernels.size())).add(r.kernels_beside ? "beside" : "named");
  for (const fs::path& k : r.kernels) key.add(fs::absolute(k).string()).add(k.string());
  for (const auto& [name, value] : r.translation.defines) key.add(name).add(value);
  key.add("warnings").add(r.translation.warnings.text());
  key.add("path");
  for (const fs::path& p : r.translation.include_path) key.add(fs::absolute(p).string());
  for (const std::string& name : r.translation.without) key.add("without").add(name);
  key.add(r.translation.library.string());
  key.add("flags").add(base_flags()).add(s.flags).add(environment_ldflags()).add(r.ldflags);
  key.add(r.libraries);
  key.add(r.target == Target::executable ? "executable" : r.target == Target::library ? "library" : "shared object");
  key.add(r.library_name);
  key.add(s.colour ? "colour" : "plain").add(s.compiler.command).add_identity(s.compiler.program);
  key.add(s.installation.headers.string()).add_identity(s.installation.library);
  // The translator is part of this very program.
  return key.add_identity("/proc/self/exe").hex();
}

std::vector<Unit> units_of(const BuildRequest& r, const compiler::Output& program,
                           const std::vector<fs::path>& kernels) {
  const std::string name = r.program.string();
  std::vector<Unit> units = {{Unit::Kind::program, name, {}, program.program_cpp}};
  for (const std::string& part : program.program_parts) units.push_back({Unit::Kind::program, name, {}, part});
  if (!program.kernels_cpp.empty()) units.push_back({Unit::Kind::in_place, name, {}, program.kernels_cpp});
  for (const fs::path& k : kernels) units.push_back({Unit::Kind::kernel, k.string(), k, {}});
  if (r.target == Target::executable) units.push_back({Unit::Kind::main, name, {}, kMain});
  if (r.target == Target::library) units.push_back({Unit::Kind::main, name, {}, library_text(r.library_name)});
  return units;
}

bool imports_own(const compiler::Output& program) {
  return std::any_of(program.imports.begin(), program.imports.end(),
                     [](const compiler::Import& i) { return i.library.empty(); });
}

// The kernel files of the standard library of which the program calls something: compiled as any
// others, once, for the cache keeps their objects for all programs.
std::set<fs::path> library_kernels(const compiler::Output& program) {
  std::set<fs::path> files;
  for (const compiler::Import& i : program.imports) {
    if (!i.library.empty()) files.insert(i.library);
  }
  return files;
}

}  // namespace

void check_program(const fs::path& program) {
  std::error_code ignored;
  if (!fs::exists(program, ignored)) throw usage_error("no such file: " + program.string());
  if (!fs::is_regular_file(program, ignored)) throw usage_error(program.string() + " is not a file");
}

std::string render_all(const std::vector<compiler::Diagnostic>& diagnostics, bool colour) {
  std::string text;
  int errors = 0;
  for (const compiler::Diagnostic& d : diagnostics) {
    text += compiler::render(d, colour);
    if (!text.empty() && text.back() != '\n') text += '\n';
    errors += d.severity == compiler::Severity::error ? 1 : 0;
  }
  if (errors > 0) text += std::to_string(errors) + (errors == 1 ? " error\n" : " errors\n");
  return text;
}

namespace {

std::string failure_text(std::vector<compiler::Diagnostic> all, const BuildRequest& r) {
  std::erase_if(all, [&](const compiler::Diagnostic& d) {
    return d.severity == compiler::Severity::note || (r.quiet && d.severity != compiler::Severity::error);
  });
  return render_all(all, r.colour);
}

}  // namespace

namespace {

BuildRequest with_checks(BuildRequest r) {
  std::vector<std::string> flags;
  if (r.debug)
    flags.insert(flags.end(), {"-O1", "-fno-omit-frame-pointer", "-fstack-protector-strong", "-D_GLIBCXX_ASSERTIONS"});
  if (!r.sanitize.empty()) {
    flags.insert(flags.end(), {"-fno-omit-frame-pointer", "-fsanitize=" + r.sanitize});
    r.ldflags.push_back("-fsanitize=" + r.sanitize);
  }
  r.cxxflags.insert(r.cxxflags.begin(), flags.begin(), flags.end());
  return r;
}

}  // namespace

Built build(const BuildRequest& request) {
  const BuildRequest r = with_checks(request);
  const auto started = std::chrono::system_clock::now();
  check_program(r.program);
  std::error_code ignored;
  for (const fs::path& k : r.kernels) {
    if (fs::is_regular_file(k, ignored)) continue;
    throw usage_error("no such kernel file: " + k.string() + "; arguments of the program itself stand after --");
  }
  CompileSetup s{find_compiler(), find_installation(), environment_cxxflags(), folder_of(r.program), {}, r.colour,
                 started};
  s.flags.insert(s.flags.end(), r.cxxflags.begin(), r.cxxflags.end());

  Cache cache;
  const std::string key = key_of(r, s);
  if (const auto hit = cache.find(key)) return {hit->file, hit->note};
  if (runtime::launcher_local_rank() != 0) {
    if (const auto made = cache.await(key, kStart)) return {made->file, made->note};
  }
  const Cache::Lock lock = cache.lock(key);
  if (const auto hit = cache.find(key)) return {hit->file, hit->note};  // made while we waited

  compiler::Output program = compiler::translate(r.program, r.translation);
  std::vector<compiler::Diagnostic> shown;
  for (const compiler::Diagnostic& d : program.diagnostics) {  // remarks are for `check`
    if (d.severity != compiler::Severity::note) shown.push_back(d);
  }
  std::string warnings = render_all(shown, r.colour);
  if (!program.ok) throw Failure(runtime::kExitProgram, failure_text(program.diagnostics, r));

  std::vector<Dependency> dependencies;
  for (const fs::path& file : program.files) dependencies.push_back({fs::absolute(file), false});
  std::vector<fs::path> kernels = r.kernels;
  if (kernels.empty() && r.kernels_beside && imports_own(program)) {
    for (const fs::path& k : cpp_files(s.folder)) kernels.push_back(k.lexically_normal());
    dependencies.push_back({fs::absolute(s.folder), true});
  }
  const std::set<fs::path> library = library_kernels(program);
  kernels.insert(kernels.end(), library.begin(), library.end());

  const Cache::Workspace workspace = cache.workspace();
  s.workspace = workspace.path();
  const fs::path output = s.workspace / (r.target == Target::executable ? "program" : "program.so");
  const auto compile_and_link = [&] {
    std::vector<Object> objects = compile_units(units_of(r, program, kernels), s, cache);
    link_objects(objects, s, r, program, output);
    return objects;
  };
  std::vector<Object> objects = compile_and_link();
  SignatureCheck check = check_signatures(program, output);
  r.translation.warnings.apply(check.doubtful);
  for (const compiler::Diagnostic& d : check.doubtful) {
    if (d.severity == compiler::Severity::error) check.wrong.push_back(d);
  }
  if (!check.wrong.empty()) {
    throw Failure(runtime::kExitProgram, (r.quiet ? "" : warnings) + render_all(check.wrong, r.colour));
  }
  warnings += render_all(check.doubtful, r.colour);
  if (!check.by_reference.empty()) {  // once more, the program only: the kernels are in the cache
    compiler::Options translation = r.translation;
    translation.by_reference = check.by_reference;
    program = compiler::translate(r.program, translation);
    if (!program.ok) throw Failure(runtime::kExitProgram, failure_text(program.diagnostics, r));
    objects = compile_and_link();
  }
  std::set<fs::path> seen;
  for (const Object& o : objects) {
    warnings += o.warnings;
    for (const Dependency& d : o.dependencies) {  // the units share most of their headers
      if (seen.insert(d.path).second) dependencies.push_back(d);
    }
  }
  const Cached stored = cache.store(key, output, warnings, dependencies, started);
  cache.prune(kCacheBytes);
  return {stored.file, stored.note};
}

}  // namespace tessera::cli
