// The command line of `luna`: the options its users' scripts have, unchanged in name and meaning.
// Options stand before the program; every word after it is the program's own, whatever it looks
// like.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/build.hpp"

namespace tessera::cli::luna {

struct Options {
  BuildRequest build;                  // program: a .fa file, or a library made by -c
  std::vector<std::string> arguments;  // the program's own
  bool quiet = false;
  bool verbose = false;
  bool time = false;          // -t
  bool usage = false;         // -u
  bool balance = false;       // -b
  bool library_only = false;  // -c
  // Of the central balancer, as for `tessera run`; empty: it is not meant.
  std::vector<std::string> central;
  bool compile_only = false;
  bool keep = false;  // --no-cleanup
  std::filesystem::path build_folder;
  std::filesystem::path output_file;  // of the library
  std::optional<std::int32_t> threads;
  std::vector<std::string> recovery;  // --journal and --journal-interval, as `tessera run` takes them
  std::int32_t restarts = 0;
};

// parse reads the words after `luna`. Nothing when it was about --help or --version, which it has
// printed. Throws Failure (usage).
std::optional<Options> parse(const std::vector<std::string>& words);

// options_among returns those of the program's arguments that are spelled like options of luna's.
std::vector<std::string> options_among(const std::vector<std::string>& arguments);

// run_words returns the options that matter to a run, for the command that --compile-only prints.
std::vector<std::string> run_words(const Options&);

}  // namespace tessera::cli::luna
