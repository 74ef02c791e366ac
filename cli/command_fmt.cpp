#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "compiler/format/format.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

struct FmtCommand {
  std::vector<std::string> files;
  bool check = false;
  compiler::Options translation;
};

// replace_file writes beside `file` and renames, so that the file is always the old or the new one.
void replace_file(const fs::path& named, const std::string& text) {
  std::error_code ignored;
  const fs::path file = fs::canonical(named, ignored);  // a link stays a link
  const auto fail = [&] {
    return usage_error("can't write " + named.string() + ": " + std::strerror(errno));
  };
  std::string temporary =
      (file.parent_path() / ("." + file.filename().string() + ".XXXXXX")).string();
  const int fd = mkstemp(temporary.data());
  if (fd < 0) throw fail();
  struct stat old {};
  bool good = stat(file.c_str(), &old) == 0 && fchmod(fd, old.st_mode & 07777u) == 0;
  for (std::size_t done = 0; good && done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    good = n > 0 || (n < 0 && errno == EINTR);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  good = good && fsync(fd) == 0;
  good = close(fd) == 0 && good;
  if (good && rename(temporary.c_str(), file.c_str()) == 0) return;
  const Failure failure = fail();
  unlink(temporary.c_str());
  throw failure;
}

// one formats a file; returns the exit code it asks for.
int one(const FmtCommand& c, const std::string& name) {
  fs::path file = name;
  compiler::Options options = c.translation;
  std::error_code ignored;
  if (name == "-") {
    file = "<stdin>";
    options.unsaved[fs::weakly_canonical(file, ignored)] = {
        std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  } else {
    check_program(file);
  }
  const compiler::format::Result result = compiler::format::format(file, options);
  if (!result.ok) {
    std::fputs(render_all(result.diagnostics, colour_on_stderr()).c_str(), stderr);
    std::fprintf(stderr, "tessera: %s is left as it is\n", file.c_str());
    return runtime::kExitProgram;
  }
  if (name == "-" && !c.check) {
    std::fwrite(result.text.data(), 1, result.text.size(), stdout);
    return runtime::kExitOk;
  }
  if (!result.changed) return runtime::kExitOk;
  if (c.check) {
    std::fprintf(stderr, "tessera: %s is not formatted\n", file.c_str());
    return runtime::kExitProgram;
  }
  replace_file(file, result.text);
  return runtime::kExitOk;
}

int run(const FmtCommand& c) {
  int code = runtime::kExitOk;
  for (const std::string& name : c.files) code = std::max(code, one(c, name));
  return code;
}

}  // namespace

void add_fmt(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("fmt", "put the layout of programs right");
  const auto command = std::make_shared<FmtCommand>();
  sub->add_option("files", command->files, "the files to rewrite; - reads stdin and writes stdout")
      ->option_text("FILE.fa...")
      ->required();
  sub->add_flag("--check", command->check,
                "write nothing; exit code 1 when a file is not formatted");
  add_translation_options(*sub, command->translation);
  sub->footer(
      "Line breaks stay where they are; comments, strings, directives, macro uses and C++ text are "
      "not\n"
      "touched. A file that does not parse is reported (exit code 1) and left as it is.");
  sub->callback(
      [command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
