// docs/tutorial.md, as a reader follows it: its files are written into an empty folder, its commands are run there one
// after the other, and print what stands below them.
#include <fstream>
#include <utility>

#include "command.hpp"

namespace tessera::tests {
namespace {

class Tutorial : public Command {
 protected:
  // A file that is shown, or a command and what is shown below it.
  struct Step {
    int line = 0;
    std::string file, command;
    std::string text;
  };

  static std::vector<Step> steps() {
    std::ifstream in(TESSERA_ROOT "/docs/tutorial.md");
    std::vector<Step> all;
    const std::string file = "<!-- file: ", command = "$ ";
    std::string next_file;
    enum { outside, in_file, in_console, in_other } at = outside;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (line.rfind("```", 0) == 0) {
        if (at != outside) {
          at = outside;
        } else if (!next_file.empty()) {
          at = in_file;
          all.push_back({number, std::exchange(next_file, {}), "", ""});
        } else {
          at = line == "```console" ? in_console : in_other;
        }
      } else if (at == in_console && line.rfind(command, 0) == 0) {
        all.push_back({number, "", line.substr(command.size()), ""});
      } else if (at == in_file || at == in_console) {
        all.back().text += line + "\n";
      } else if (line.rfind(file, 0) == 0) {
        next_file = line.substr(file.size(), line.find(" -->") - file.size());
      }
    }
    return all;
  }

  // Everything on stdout is shown, in any order; of stderr some lines are.
  void does_as_shown(const Step& s) {
    const Outcome o = run({"sh", "-c", "PATH=$(dirname \"$0\"):$PATH; " + s.command, TESSERA_COMMAND});
    const std::string context =
        "docs/tutorial.md:" + std::to_string(s.line) + ": " + s.command + "\nstdout:\n" + o.out + "stderr:\n" + o.err;
    EXPECT_EQ(o.exit_code, 0) << context;
    std::string shown_of_stdout;
    const std::string out = "\n" + o.out, err = "\n" + o.err;
    for (std::size_t at = 0, end; (end = s.text.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string line = s.text.substr(at, end - at) + "\n";
      if (out.find("\n" + line) != std::string::npos) {
        shown_of_stdout += line;
      } else {
        EXPECT_NE(err.find("\n" + line), std::string::npos) << "nobody prints: " << line << context;
      }
    }
    EXPECT_EQ(sorted(shown_of_stdout), sorted(o.out)) << context;
  }
};

TEST_F(Tutorial, EachStepDoesWhatThePageSays) {
  int commands = 0;
  for (const Step& s : steps()) {
    if (!s.file.empty()) {
      write(s.file, s.text);
      continue;
    }
    does_as_shown(s);
    ++commands;
    if (HasFailure()) return;  // the rest builds on it
  }
  EXPECT_GT(commands, 15);
}

}  // namespace
}  // namespace tessera::tests
