#pragma once

namespace tessera::cli {

// command_line is the `tessera` command: parses, runs one subcommand, prints what is wrong, and returns the exit code.
int command_line(int argc, char** argv);

}  // namespace tessera::cli
