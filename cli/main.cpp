#include "cli/command_line.hpp"

int main(int argc, char** argv) { return tessera::cli::command_line(argc, argv, tessera::cli::add_commands); }
