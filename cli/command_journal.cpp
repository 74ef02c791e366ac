// tessera journal DIR: what a journal has, whether it can be read, and the same in less room.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <memory>
#include <set>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "runtime/journal/compact.hpp"
#include "runtime/journal/folder.hpp"

namespace fs = std::filesystem;
namespace journal = tessera::runtime::journal;

namespace tessera::cli {
namespace {

struct JournalCommand {
  std::string folder;
  bool verify = false, compact = false;
};

std::string count(std::uint64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }
double mb(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

std::string age(std::int64_t when) {
  const std::int64_t s = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::time(nullptr)) - when);
  return s < 120 ? fmt::format("{} s", s) : s < 7200 ? fmt::format("{} min", s / 60) : fmt::format("{} h", s / 3600);
}

void show(const JournalCommand& c, const journal::Contents& j) {
  std::string arguments;
  for (const std::string& a : j.last.origin.arguments) arguments += " " + a;
  fmt::print("the journal of {}{}{}\n", j.last.origin.program, arguments.empty() ? "" : " --", arguments);
  fmt::print("  runs       {}, the last one on {}; written {} ago{}\n", j.attempts,
             count(static_cast<std::uint64_t>(j.last.ranks), "rank"), age(j.written),
             j.finished ? "; it came to its end" : "");
  if (j.finished) {
    fmt::print("  fragments  {} done; the next run begins anew\n", j.done);
  } else {
    fmt::print("  fragments  {} done, {} of them would not be run again\n", j.done, j.recalled);
  }
  fmt::print("  values     {}, {:.1f} MB; {} of them, {:.1f} MB, are needed\n", j.values, mb(j.value_bytes), j.needed,
             mb(j.needed_bytes));
  if (j.series + j.links > 0) {
    fmt::print("  balance    {} series that run elsewhere than they belong, {} between hosts\n", j.series,
               count(j.links, "link"));
  }
  if (j.text > 0 && !j.finished) fmt::print("  text       {} are to be printed again\n", count(j.text, "byte"));
  fmt::print("  files      {}, {:.1f} MB\n", j.files.size(), mb(j.file_bytes));
  if (!c.verify) return;
  for (const auto& [file, damaged] : j.files) {
    if (damaged > 0)
      fmt::print("  {}: {} bytes can't be read; what they said would be done again\n", file.string(), damaged);
  }
  for (const fs::path& other : j.not_files) fmt::print("  {}: is no file: it is passed over\n", other.string());
}

int run(const JournalCommand& c) {
  if (!fs::is_directory(c.folder)) throw usage_error("no such folder: " + c.folder);
  const journal::Contents j = journal::contents_of(c.folder);
  if (j.files.empty()) {
    const bool finished = fs::exists(fs::path(c.folder) / journal::kFinished);
    if (!finished && journal::token_of(c.folder).empty()) throw usage_error("there is no journal in " + c.folder);
    fmt::print("{}: nothing had been written when the last run {}: the next one begins anew\n", c.folder,
               finished ? "came to its end" : "ended");
    return 0;
  }
  if (j.last.attempt == 0) {
    throw usage_error("nothing in " + c.folder + " can be read: it is damaged, or of another version of Tessera");
  }
  if (c.compact) {
    const std::string wrong = journal::compact(c.folder, j);
    if (!wrong.empty()) throw environment_error(wrong);
    const journal::Contents now = journal::contents_of(c.folder);
    fmt::print("{}: {:.1f} MB have become {:.1f} MB\n", c.folder, mb(j.file_bytes), mb(now.file_bytes));
    return 0;
  }
  show(c, j);
  return c.verify && (j.damaged > 0 || !j.not_files.empty()) ? runtime::kExitUsage : 0;
}

}  // namespace

void add_journal(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("journal", "what is in the journal of a run, and the same in less room");
  const auto command = std::make_shared<JournalCommand>();
  sub->add_option("folder", command->folder, "as it was given to `tessera run --journal`")
      ->option_text("DIR")
      ->required();
  sub->add_flag("--verify", command->verify, "which files are damaged; exit code 2 when one is");
  sub->add_flag("--compact", command->compact, "write what is needed into one file, and remove the others");
  sub->footer("A file that is damaged or missing costs time, not the result (docs/recovery.md).");
  sub->callback([command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
