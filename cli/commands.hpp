// The subcommands of `tessera`. Each adds itself to the command line and, when it was the one asked
// for, runs; results and mistakes come back as an exit code or as a Failure that main prints.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/build.hpp"
#include "cli/command_line.hpp"
#include "compiler/compiler.hpp"

namespace tessera::cli {

void add_run(CLI::App& app, Action& action);
void add_build(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_fmt(CLI::App& app, Action& action);
void add_policies(CLI::App& app, Action& action);
// Ranks of a run that come and go: drain, join.
void add_members(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_journal(CLI::App& app, Action& action);
// Of tessera-tools (cli/tools.hpp); add_status adds top, too.
void add_lsp(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_advise(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_status(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
// What users never type: `exec-program`, what mpirun starts, and `precompile-headers`.
void add_internal(CLI::App& app, Action& action);

// Options of translation (-D, --path) into `options`, which must outlive the parse.
void add_translation_options(CLI::App& app, compiler::Options& options);
// The program, its kernels, and the options of compilation and linking.
void add_build_options(CLI::App& app, BuildRequest& request);
// Words of an option that takes several in one text, split as a shell does.
void add_words(const std::string& option, const std::string& text, std::vector<std::string>& into);

// Whether messages on stderr may be coloured.
bool colour_on_stderr();

}  // namespace tessera::cli
