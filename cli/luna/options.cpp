#include "cli/luna/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "cli/cache.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "files/nearest.hpp"
#include "runtime/launch/options.hpp"
#include "version.hpp"

namespace fs = std::filesystem;

namespace tessera::cli::luna {
namespace {

constexpr const char* kAbout =
    "Compiles a LuNA program and all *.cpp beside it, and runs it: the `luna` command for those "
    "who have\n"
    "scripts that call it, on top of Tessera (`tessera --help` has more).";

constexpr const char* kFooter =
    "Words after FILE.fa are the program's own arguments. FILE may also be a library made by "
    "-c.\n\n"
    "Environment: CXX, CXX_FLAGS (or CXXFLAGS), LDFLAGS; LUNA_NO_CLEANUP as --no-cleanup; "
    "TESSERA_OPTIONS,\n"
    "options of the run as for `tessera run`. Exit code 0, or 1 on any error.\n\n"
    "Examples:\n"
    "  luna prog.fa 10 20\n"
    "  mpirun -n 4 luna -b prog.fa\n"
    "  mpirun -n 4 $(luna --compile-only prog.fa)";

// The operator's manual prints a Cyrillic letter here.
constexpr const char* kPrintedC = "-\u0441";

// What the options say before they are put together.
struct Raw {
  Options options;
  std::vector<std::string> cpp_folders;  // --cpp-dir: lists with colons
  std::vector<std::string> cpp_sources;
  std::vector<std::string> warnings;  // --disable-warning
  std::string optimise;               // of -O0 .. -O3, the digit
  bool optimised = false;             // never set: -O is parsed as --optimise
  bool debug = false;
  bool central = false;
  std::string left_threshold, difference_ratio, save_groups, load_groups;
};

void add_options(CLI::App& app, Raw& raw) {
  Options& o = raw.options;
  const auto text = [&](const char* name, auto& into, const char* what, const char* help) {
    return app.add_option(name, into, help)->option_text(what);
  };
  app.add_flag("-q,--quiet", o.quiet, "only the program's output, and errors");
  app.add_flag("--verbose", o.verbose, "say what is compiled, and show the summary of the run");
  app.add_flag("-t", o.time, "print the execution time");
  app.add_flag("-u", o.usage, "print how much CPU time was used, per rank");
  app.add_flag("-g", raw.debug, "debug information, and the checks of the C++ library, in kernels");
  app.add_flag("-O", raw.optimised,
               "optimise kernels (the default); -O0: do not; -O1, -O2 and -O3 as for the compiler");
  app.add_option("--optimise", raw.optimise)
      ->check(CLI::IsMember({"0", "1", "2", "3"}))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group("");
  app.add_flag("-b", o.balance, "balance the ranks by stealing");
  text("--worker-threads-count", o.threads, "N", "threads that run fragments, per rank")->check(CLI::Range(0, 4096));
  app.add_flag("-c", o.library_only, "only compile, to ./libucodes.so; `luna libucodes.so` runs it");
  text("--output-file", o.output_file, "F", "another name for that library");
  app.add_flag("--compile-only", o.compile_only, "only compile, and print the command that runs it, also under mpirun");
  text("--build-dir", o.build_folder, "DIR", "put the generated files there");
  app.add_flag("--no-cleanup", o.keep, "keep the generated files, and say where");
  app.add_flag(
      "--central", raw.central,
      "balance the ranks by the coordinator on the last one; so does each of the next four, and then -c is this");
  text("--jobs-left-threshold", raw.left_threshold, "S", "nothing moves when less than S seconds of work are left");
  text("--jobs-difference-ratio", raw.difference_ratio, "R",
       "nor between ranks whose loads differ by less than this part");
  text("--save-groups", raw.save_groups, "[F]",
       "write the measured weights; without F beside the program, as PROGRAM.groups");
  text("--load-groups", raw.load_groups, "[F]", "start with such weights");
  for (const char* name : {"--journal", "--journal-interval"}) {
    const bool folder = std::string(name) == "--journal";
    app.add_option_function<std::string>(
           name,
           [&o, name](const std::string& v) {
             o.recovery.insert(o.recovery.end(), {name, v});
           },
           folder ? "write down what is done, into this folder; the next run goes on there (docs/recovery.md)"
                  : "seconds until what is done is written; default auto")
        ->option_text(folder ? "DIR" : "S");
  }
  text("--restarts", o.restarts, "K", "with --journal, of one rank: start it again when it was killed, at most K times")
      ->check(CLI::Range(0, 1000));
  add_translation_options(app, o.build.translation);
  text("--cpp-dir", raw.cpp_folders, "A:B", "folders of the kernel files; default: the program's")
      ->allow_extra_args(false);
  text("--cpp-source", raw.cpp_sources, "F.cpp:G.cpp", "more kernel files; may be repeated")->allow_extra_args(false);
  text("--disable-warning", raw.warnings, "N", "do not show warning N (T305 or 305); may be repeated")
      ->allow_extra_args(false);
}

// optimise writes -O, -O0, ... as an option with a value: -O0 is no bundle of -O and -0.
std::string optimise(const std::string& word) {
  if (word.rfind("-O", 0) != 0 || word.size() > 3) return word;
  return "--optimise=" + (word.size() == 2 ? "2" : word.substr(2));
}

// takes_value tells whether the option's value is the next word.
bool takes_value(const CLI::App& app, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  const CLI::Option* option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

// The first word that is neither an option nor an option's value.
std::size_t program_at(const CLI::App& app, const std::vector<std::string>& words) {
  std::size_t i = 0;
  while (i < words.size() && words[i].size() > 1 && words[i][0] == '-' && words[i] != "--") {
    i += takes_value(app, words[i]) ? 2 : 1;
  }
  return std::min(i, words.size());
}

std::vector<fs::path> split_list(const std::string& text) {
  std::vector<fs::path> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t colon = std::min(text.find(':', from), text.size());
    if (colon > from) parts.emplace_back(text.substr(from, colon - from));
    from = colon + 1;
  }
  return parts;
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_group().empty()) continue;
    for (const std::string& n : o->get_lnames()) names.push_back("--" + n);
    for (const std::string& n : o->get_snames()) names.push_back("-" + n);
  }
  return names;
}

// collect_kernels follows the old rule: all *.cpp beside the program, or those of --cpp-dir; and
// --cpp-source. Without either the build decides, which leaves them out when nothing is imported.
void collect_kernels(const Raw& raw, BuildRequest& build) {
  if (raw.cpp_folders.empty() && raw.cpp_sources.empty()) return;
  build.kernels_beside = false;
  std::vector<fs::path> folders;
  for (const std::string& list : raw.cpp_folders) {
    for (const fs::path& f : split_list(list)) folders.push_back(f);
  }
  if (raw.cpp_folders.empty()) {
    folders.push_back(build.program.has_parent_path() ? build.program.parent_path() : fs::path("."));
  }
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder, ignored)) {
      throw usage_error("--cpp-dir: there is no folder " + folder.string());
    }
    for (const fs::path& f : cpp_files(folder)) files.push_back(f.lexically_normal());
  }
  for (const std::string& list : raw.cpp_sources) {
    for (const fs::path& f : split_list(list)) {
      if (!fs::is_regular_file(f, ignored)) throw usage_error("--cpp-source: there is no file " + f.string());
      files.push_back(f);
    }
  }
  std::set<fs::path> seen;  // one file may be named twice
  for (const fs::path& f : files) {
    if (seen.insert(fs::weakly_canonical(f, ignored)).second) build.kernels.push_back(f);
  }
}

// The operator's manual of the central balancer has -c for it.
void collect_central(Raw& raw) {
  std::vector<std::string>& words = raw.options.central;
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(name + ("=" + value));
  };
  put("--jobs-left-threshold", raw.left_threshold);
  put("--jobs-difference-ratio", raw.difference_ratio);
  put("--save-groups", raw.save_groups);
  put("--load-groups", raw.load_groups);
  if (words.empty() && !raw.central) return;
  if (!words.empty()) raw.options.library_only = false;
  words.insert(words.begin(), "--balancer=central");
}

void complete(Raw& raw) {
  Options& o = raw.options;
  collect_central(raw);
  std::vector<fs::path> path;
  for (const fs::path& list : o.build.translation.include_path) {
    for (const fs::path& f : split_list(list.string())) path.push_back(f);
  }
  o.build.translation.include_path = path;
  if (raw.debug) {
    for (const char* flag : {"-g", "-D_GLIBCXX_ASSERTIONS"}) o.build.cxxflags.emplace_back(flag);
  }
  // -O2 is how kernels are compiled anyway, with precompiled headers.
  if (!raw.optimise.empty() && raw.optimise != "2") o.build.cxxflags.push_back("-O" + raw.optimise);
  // Old programs import kernels with parameters that these do not even use.
  o.build.translation.warnings.set("no-error=T217");
  for (const std::string& w : raw.warnings) {
    // Numbers of the old command, which mean nothing here, are in scripts and do no harm.
    o.build.translation.warnings.set("no-" + (w.rfind('T', 0) == 0 ? w : "T" + w));
  }
  const char* keep = std::getenv("LUNA_NO_CLEANUP");
  o.keep = o.keep || (keep != nullptr && *keep != '\0');
  if (o.output_file.empty() && o.library_only) o.output_file = "libucodes.so";
  collect_kernels(raw, o.build);
}

std::string complaint(const CLI::App& app, const CLI::ParseError& e) {
  if (e.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return e.what();
  const std::vector<std::string> extra = app.remaining();
  if (extra.empty()) return e.what();
  const std::string guess = nearest(extra[0].substr(0, extra[0].find('=')), names_of(app));
  return "unknown option `" + extra[0] + "`" + (guess.empty() ? "" : "; did you mean `" + guess + "`?") +
         "\n(luna --help shows what can be given)";
}

}  // namespace

std::optional<Options> parse(const std::vector<std::string>& given) {
  // The words behind the program are not to be touched, but where it is shows only when these are right.
  std::vector<std::string> all = launch::normalise_flags(given);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (given[i] == kPrintedC) all[i] = "--central";
  }
  CLI::App app(kAbout, "luna");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("luna of Tessera ") + TESSERA_VERSION);
  app.get_formatter()->column_width(34);
  Raw raw;
  add_options(app, raw);
  // For --help only: they are cut off before the options are parsed.
  std::string program_text;
  std::vector<std::string> arguments_text;
  app.add_option("program", program_text, "the program")->option_text("FILE.fa");
  app.add_option("arguments", arguments_text, "its own, whatever they look like")->option_text("...");
  const std::size_t at = program_at(app, all);
  std::copy(given.begin() + static_cast<std::ptrdiff_t>(at), given.end(),
            all.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<std::string> words;
  for (std::size_t i = 0; i < at; ++i) words.push_back(optimise(all[i]));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
    launch::check_given(app);
  } catch (const CLI::Success& e) {
    app.exit(e, std::cout, std::cerr);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    throw usage_error(complaint(app, e));
  }
  std::size_t program = at;
  if (program < all.size() && all[program] == "--") ++program;
  if (program >= all.size()) throw usage_error("which program?\n" + app.help());
  Options& o = raw.options;
  o.build.program = all[program];
  o.arguments.assign(all.begin() + static_cast<std::ptrdiff_t>(program) + 1, all.end());
  complete(raw);
  return o;
}

std::vector<std::string> options_among(const std::vector<std::string>& arguments) {
  CLI::App app;
  Raw raw;
  add_options(app, raw);
  std::vector<std::string> found;
  for (const std::string& a : arguments) {
    const bool option = a.size() > 1 && a[0] == '-' && app.get_option_no_throw(a.substr(0, a.find('='))) != nullptr;
    if (option) found.push_back(a);
  }
  return found;
}

std::vector<std::string> run_words(const Options& o) {
  std::vector<std::string> words;
  if (o.quiet) words.emplace_back("-q");
  if (o.verbose) words.emplace_back("--verbose");
  if (o.time) words.emplace_back("-t");
  if (o.usage) words.emplace_back("-u");
  if (o.balance) words.emplace_back("-b");
  for (const std::string& w : o.central) words.push_back(w == "--balancer=central" ? "--central" : w);
  if (o.threads) words.push_back("--worker-threads-count=" + std::to_string(*o.threads));
  words.insert(words.end(), o.recovery.begin(), o.recovery.end());
  if (o.restarts > 0) words.push_back("--restarts=" + std::to_string(o.restarts));
  return words;
}

}  // namespace tessera::cli::luna
