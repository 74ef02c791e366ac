// The options of a run, shared by the `tessera` command and by built programs: flags, the --config
// file and TESSERA_OPTIONS all end in one RunOptions, checked before anything starts.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/run.hpp"

namespace CLI {
class App;
}

namespace tessera::launch {

// What is wrong with an option, for a person; ends in exit code 2.
struct OptionsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Files that options name: looked at, or left to the process that was given the options.
enum class Files { mine, of_others };

// add_run_options adds every run option to `app`. When `app` has parsed them, `options` is complete:
// the --config file is read (flags win over it), and balancer, parameters and files are checked.
// Mistakes come out of app.parse() as CLI::ValidationError. `options` must outlive the parse.
void add_run_options(CLI::App& app, runtime::RunOptions& options, Files files = Files::mine);

// check_given throws CLI::ValidationError when an option or argument that `app` has parsed is empty, as "$FILE" is
// where nobody has set FILE. Lists of flags may be.
void check_given(const CLI::App& app);

// normalise_flags writes `--jobs_left_threshold` as `--jobs-left-threshold`, so that both spellings
// mean the same option. Values are left alone. `--save-groups` and `--load-groups` may stand without one, before
// another option, the program or nothing: that is kBesideProgram then.
std::vector<std::string> normalise_flags(std::vector<std::string> words);

// The profile of a program of which nobody has said the name: the program's path with `.groups` instead of `.fa`.
inline constexpr const char* kBesideProgram = "@program";
// name_groups puts that in the place of kBesideProgram, and checks it as the options are checked.
void name_groups(runtime::RunOptions& options, const std::filesystem::path& program);

// parse_options reads run options from a text in the shell's quoting; throws OptionsError.
runtime::RunOptions parse_options(std::string_view text, Files files = Files::mine);

// parse_environment_options reads them from TESSERA_OPTIONS: a built program has no flags of its own,
// so that none of its arguments is ever eaten. Unset means the defaults; throws OptionsError.
runtime::RunOptions parse_environment_options();

// format_options is the inverse of parse_options: how options reach the ranks that mpirun starts.
std::string format_options(const runtime::RunOptions& options);

// policy_of names the policy that `options` select for this number of ranks.
std::string policy_of(const runtime::RunOptions& options, std::int32_t ranks);

// check_ranks throws OptionsError when the policy needs more ranks than there are, or one is to leave or join that is
// not there. `ranks` is without spares.
void check_ranks(const runtime::RunOptions& options, std::int32_t ranks);

// check_writable throws OptionsError when a file of this name can't be written, and leaves nothing
// behind: an existing file keeps its contents. `what` is the option that named it.
void check_writable(const std::filesystem::path& file, std::string_view what);

// check_directory throws OptionsError when files can't be written into a directory of this name, which
// is created when there is none (in one that exists).
void check_directory(const std::filesystem::path& directory, std::string_view what);

}  // namespace tessera::launch
