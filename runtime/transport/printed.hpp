// What `tessera run` and the processes that it starts say to each other about text that was printed. It goes through
// mpirun and `tessera`, which may be killed with some of it in hand; so who has to know that it is out puts a mark
// behind it. `tessera` takes marks out of the text, and when what was in front is written, notes them in a file that
// both see. Processes on other hosts do not see it: they give text a moment.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::runtime::text {

inline constexpr const char* kPrinted = "TESSERA_PRINTED";      // the file's path, in the environment
inline constexpr const char* kPrintedFile = "tessera-printed";  // its name
// A mark is kMarkBegin, the rank, a colon, a number that grows, kMarkEnd.
inline constexpr const char* kMarkBegin = "\036tessera:";
inline constexpr char kMarkEnd = '\037';
inline constexpr std::size_t kLongestMark = 48;
// Where in the file the last number of a rank is: 8 bytes.
constexpr std::int64_t place_of_mark(std::int32_t rank) { return std::int64_t{8} * rank; }

// await_printed returns when what this process has printed is where nobody can lose it. `hurries`: or after a moment,
// for the process is about to be ended, and mpirun may pass nothing on any more. False: whoever passes it on has ended
// with some of it in hand.
bool await_printed(bool hurries);
// Before anything is printed: who ends meanwhile is known then.
void expect_acknowledgements();

}  // namespace tessera::runtime::text
