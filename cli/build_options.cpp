// Options that several subcommands share.
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "cli/commands.hpp"
#include "cli/toolchain.hpp"
#include "compiler/block/passes.hpp"
#include "runtime/launch/words.hpp"

namespace tessera::cli {

namespace {
constexpr const char* kWarnings = "Warnings";

void check_optimisation(const std::string& name) {
  std::string known;
  for (const compiler::block::Pass& pass : compiler::block::pipeline()) {
    if (!pass.optimisation) continue;
    if (name == pass.name) return;
    known += (known.empty() ? "" : ", ") + std::string(pass.name);
  }
  throw CLI::ValidationError("--without: there is no optimisation `" + name + "`; they are " + known);
}

}  // namespace

bool colour_on_stderr() {
  const char* no = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) != 0 && (no == nullptr || *no == '\0');
}

void add_translation_options(CLI::App& app, compiler::Options& options) {
  options.library = find_stdlib();
  options.warnings.set("error=T217");  // an import that is nearly always wrong; -Wno-error=T217 says it is meant
  app.add_option_function<std::vector<std::string>>(
         "-D",
         [&options](const std::vector<std::string>& defines) {
           for (const std::string& text : defines) {
             const std::size_t equals = text.find('=');
             const std::string name = text.substr(0, equals);
             const bool letter =
                 !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_');
             if (!letter) throw CLI::ValidationError("-D: write -D NAME or -D NAME=VALUE, not -D " + text);
             if (equals + 1 == text.size())
               throw CLI::ValidationError("-D: nothing stands behind the `=` of " + text + "; -D " + name +
                                          " alone is 1");
             options.defines.emplace_back(name, equals == std::string::npos ? std::string() : text.substr(equals + 1));
           }
         },
         "define a macro, used in the program as $NAME; may be repeated")
      ->option_text("NAME[=VALUE]")
      ->allow_extra_args(false);
  app.add_option("--path", options.include_path, "a folder where #include looks; may be repeated")
      ->option_text("DIR")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--without",
         [&options](const std::vector<std::string>& names) {
           for (const std::string& name : names) {
             check_optimisation(name);
             options.without.insert(name);
           }
         },
         "leave an optimisation out (docs/optimisations.md); programs mean the same; may be repeated")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "-W",
         [&options](const std::vector<std::string>& flags) {
           for (const std::string& flag : flags) {
             const std::string wrong = options.warnings.set(flag);
             if (!wrong.empty()) throw CLI::ValidationError("-W" + flag + ": " + wrong);
           }
         },
         "-Wno-NAME turns a warning off, -Werror=NAME makes it an error, -Wno-error=NAME does not "
         "although --strict is given; NAME or code as in `tessera explain`; may be repeated")
      ->option_text("FLAG")
      ->allow_extra_args(false)
      ->group(kWarnings);
  app.add_flag("--strict", options.warnings.strict, "every warning is an error; also -Werror")->group(kWarnings);
}

void add_words(const std::string& option, const std::string& text, std::vector<std::string>& into) {
  try {
    for (std::string& w : launch::split_words(text)) into.push_back(std::move(w));
  } catch (const std::invalid_argument& e) {
    throw CLI::ValidationError(option + ": " + e.what());
  }
}

void add_build_options(CLI::App& app, BuildRequest& request) {
  app.add_option("program", request.program, "the fragmented program")->option_text("PROG.fa")->required();
  app.add_option("kernels", request.kernels,
                 "C++ files with its kernels; default: all *.cpp beside the program, if it imports any")
      ->option_text("KERNELS.cpp ...");
  add_translation_options(app, request.translation);
  const std::string group = "Compiling";
  const auto words = [&app, &group](const char* name, const char* help, std::vector<std::string>& into) {
    app.add_option_function<std::vector<std::string>>(
           name,
           [&into, name](const std::vector<std::string>& texts) {
             for (const std::string& text : texts) add_words(name, text, into);
           },
           help)
        ->option_text("\"FLAGS\"")
        ->allow_extra_args(false)
        ->group(group);
  };
  words("--cxxflags", "more flags for the C++ compiler, after those in CXXFLAGS", request.cxxflags);
  words("--ldflags", "more flags for the linker, after those in LDFLAGS", request.ldflags);
  app.add_flag("-g,--debug", request.debug,
               "for finding mistakes in kernels: assertions of the C++ library, little optimisation; `run` also looks "
               "whether kernels "
               "write to their inputs")
      ->group(group);
  app.add_option("--sanitize", request.sanitize,
                 "compile kernels with AddressSanitizer, which shows where they use memory wrongly")
      ->option_text("address")
      ->check(CLI::IsMember({"address"}))
      ->group(group);
  app.add_option("-l", request.libraries, "link with this library; may be repeated")
      ->option_text("LIB")
      ->allow_extra_args(false)
      ->group(group);
}

}  // namespace tessera::cli
