// Command: a fixture with a folder of its own, in which it writes files and runs `tessera`.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/program/child.hpp"

namespace tessera::tests {

class Command : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  Command();
  ~Command() override;

  void write(const std::string& name, const std::string& text);
  std::string read(const std::string& name) const;
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  // Runs `tessera words...` in the folder and fails the test when anything outlives it.
  Outcome tessera(const Words& words);
  // Runs any command there.
  Outcome run(const Words& command);
  // Runs `tessera words...`, and sends the signal to that process alone once it has printed `word`.
  Outcome tessera_signalled(const std::string& signal, const std::string& word, const Words& words,
                            bool whole_group = false);

  // Settings of the environment, as for env(1): "NAME=VALUE", "-u", "NAME".
  Words environment_;
  std::filesystem::path folder_;
  std::filesystem::path cache_;
};

// The exit code, and that stderr has every part; prints all when not.
testing::AssertionResult ended(const Outcome& o, int exit_code, const std::vector<std::string>& parts = {});

// Its lines in order.
std::string sorted(const std::string& text);

// A program without imports that prints "hello".
inline constexpr const char* kHello =
    "C++ sub hello() ${{ printf(\"hello\\n\"); $}}\n"
    "sub main() { hello(); }\n";

// One that prints its arguments.
inline constexpr const char* kEcho =
    "C++ sub show(int n, string s) ${{ printf(\"%d %s\\n\", n, s); $}}\n"
    "sub main(int n, string s) { show(n, s); }\n";

}  // namespace tessera::tests
