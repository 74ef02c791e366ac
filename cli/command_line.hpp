#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tessera::cli {

using Arguments = std::vector<std::string>;  // the program's own, after `--`

// Set by a subcommand when it was asked for; gets the program's arguments.
using Action = std::function<int(const Arguments&)>;

// Adds the subcommands of a program. The words are those of the command line, for who passes them on.
using AddCommands = void(CLI::App&, Action&, const Arguments& words);
// Those of `tessera`.
AddCommands add_commands;

// command_line is the `tessera` command: parses, runs one subcommand, prints what is wrong, and returns the exit code.
int command_line(int argc, char** argv, AddCommands* add);

}  // namespace tessera::cli
