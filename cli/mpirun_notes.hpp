// What mpirun itself says on stderr, between what the ranks say: kept, and read, so that one message says what went
// wrong. Open MPI frames each of its notes with lines of dashes. What is not known to be a note is passed on as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

class MpirunNotes {
 public:
  // pass takes a piece of stderr and returns what of all that came is to be shown now.
  std::string pass(std::string_view piece);
  // ... and at the end, what is left.
  std::string rest();

  // How mpirun ended.
  struct Ended {
    int exit_code = 0;  // 128 + signal when a signal ended mpirun itself
    bool signalled = false;
    bool spoke = false;  // something was shown
    bool begun = false;  // a rank was started on this host
  };
  // What to say, and the exit code of the run.
  struct Meaning {
    int exit_code = 0;
    std::string text;         // for a person; empty: it has been said
    std::string lost_host{};  // with the ranks on it
  };
  Meaning meaning(const Ended&) const;

 private:
  void line(std::string_view text, std::string& shown);
  // The first group of the first note that fits; nothing: none does.
  std::optional<std::vector<std::string>> find(const char* pattern) const;

  std::string partial_;   // a line whose end has not come
  std::string frame_;     // the line of dashes before a note, and the note so far
  bool in_note_ = false;  // frame_ begins like one of mpirun's
  std::vector<std::string> notes_;
  std::string of_its_parts_;  // lines
};

}  // namespace tessera::cli
