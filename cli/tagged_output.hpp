// What the ranks of a run write, as `mpirun --tag-output` passes it on: in pieces of whatever length, each with the rank that wrote it,
// and those of several hosts in any order. Comes out without the tags, and no line cut by another rank's.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace tessera::cli {

class TaggedOutput {
 public:
  // What is to be shown by now. A line that is not complete is shown at once if no other is: a prompt, say.
  std::string pass(std::string_view piece);
  // At the end: all the rest.
  std::string rest();

 private:
  void write(std::string_view text, std::string& out);
  void settle(std::string& out);

  std::string unread_;                         // the beginning of what may become a tag
  std::string writer_;                         // of what is read now: the tag, or nothing for mpirun's own words
  std::map<std::string, std::string> waiting_; // by writer
  std::string open_;                           // whose line has begun and not ended, if any_open_
  bool any_open_ = false;
};

}  // namespace tessera::cli
