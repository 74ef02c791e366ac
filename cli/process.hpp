// Child processes: compilers that run side by side with their output kept, and one program in the
// foreground that gets our signals.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

using Command = std::vector<std::string>;

// find_program looks a name up in PATH (or takes it as a path when it has a slash).
std::optional<std::filesystem::path> find_program(const std::string& name);

// exits_with has a signal that comes before the run sees to it end this process with that code, not by the signal; one
// that is ignored stays so.
void exits_with(int exit_code, std::initializer_list<int> signals);

struct Finished {
  int exit_code = 0;   // 128 + signal when a signal ended it; 127 when it could not start
  std::string output;  // stdout and stderr together
  bool left = false;   // it was not needed any more
};

// run_all runs the commands, as many at a time as there are cores, and returns what each said.
// They die with this process. Those from number `depending` on are wanted only if all before them succeed: when
// one fails, they are left.
std::vector<Finished> run_all(const std::vector<Command>& commands, std::size_t depending = SIZE_MAX);

struct Foreground {
  int exit_code = 0;       // as in Finished; kExitInterrupted
  bool signalled = false;  // a signal ended it
  int got = 0;             // the signal that we got, which ended it
  bool spoke = false;      // it wrote something to stderr, and the filter showed it
  bool late = false;       // it was ended because all that it was there for was over
  int unwritten = 0;       // errno of our stdout when that did not take all; then it was ended
};

// What stands between a stream of the command's and ours.
struct Filter {
  std::function<std::string(std::string_view)> pass;  // what of a piece is shown, and when
  std::function<std::string(int exit_code)> rest;     // at the end: as in Foreground
  std::function<void()> written = {};                 // what is shown of all pieces until now is written
};
struct Filters {
  const Filter* output = nullptr;
  const Filter* errors = nullptr;
};

// run_foreground runs one command with our stdin, and passes on its stdout and stderr. SIGINT, SIGTERM and SIGHUP
// end it (by force after a few seconds), so does a stdout that takes no more; it dies with this process. SIGPIPE comes
// to us when it has ended. What runs this very program below it gets SIGTERM at once. With `over`, asked once a second:
// when it says for so long that all is over, and the command has not ended, it is ended, too.
Foreground run_foreground(const Command& command, const Filters& filters = {},
                          const std::function<std::optional<std::chrono::seconds>(pid_t)>& over = nullptr);

// Has the process children that run this very program, or has a child one? (Between MPICH's mpirun and ranks there is
// another.) Those that have ended are there until their parent looks at them, which it does at once unless it is stuck;
// of a parent that somebody has stopped none has.
struct LikeUs {
  std::vector<pid_t> live;
  bool ended = false;
};
LikeUs descendants_like_us(pid_t process);

}  // namespace tessera::cli
