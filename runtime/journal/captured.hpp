// Captured: what this process prints, on its way to `tessera`, which passes it on. Each may be killed with some of it
// in hand. So it is kept until it is in the journal, and behind each piece stands a mark that says how much that was,
// for `tessera` to note when it has written all in front (cli/printed_marks.hpp).
//
// Kernels print by whatever means, and so may their children. So stdout is a pipe here, that a thread reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tessera::runtime::journal {

// From here on `tessera` understands marks, and says so by this variable to the processes that it starts.
inline constexpr const char* kMarks = "TESSERA_MARKS";
// A mark is kMarkBegin, the stream, where in it the piece in front ends, the size of that piece and its XXH3 (all
// hexadecimal, with colons between), kMarkEnd. So a piece is known from what others have printed in front, and from the
// rests of pieces of which an mpirun that was ended has lost a part.
inline constexpr const char* kMarkBegin = "\036tessera:";
inline constexpr char kMarkEnd = '\037';
inline constexpr std::size_t kLongestMark = 80;
inline constexpr std::chrono::milliseconds kMoment{100};
std::string mark(std::uint64_t stream, std::uint64_t upto, std::string_view piece);

class Captured {
 public:
  explicit Captured(std::uint64_t s) : stream(s) {}
  virtual ~Captured() = default;
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  const std::uint64_t stream;
  // What has been printed and is not taken yet. It ends with a line, also where others print on; but for one of which
  // the rest does not come in a moment. (What ends within one is printed again so, and then the line itself.)
  struct Part {
    std::uint64_t from = 0;
    std::string text;
    bool all = true;  // a kernel has stdout locked: it may have printed more
  };
  virtual Part take() = 0;
  virtual std::size_t size() const = 0;  // of what is not taken
  virtual void let_go() {}               // nobody will take any more
  // What is printed from now on goes where it went before; where the process ends (below), nowhere. Returns when all is
  // passed on, there whole lines only, or after so long.
  virtual void end(std::chrono::milliseconds) {}
  virtual void printed_by_now() {}  // in a simulation: it was by this rank
  // Of a run before: to where the user sees it.
  virtual void print_again(std::uint64_t stream, std::uint64_t upto, const std::string& text) = 0;
};

// A signal ends the process when its journals are written, and the run goes on another time: kernels that print yet are
// not done, and will run again.
inline std::atomic<bool> process_ends{false};

// Throws std::system_error: there are no pipes left. Part of a line is passed on when its rest has not come for so
// long.
std::shared_ptr<Captured> capture_stdout(std::uint64_t stream, std::chrono::milliseconds rest_of_line = kMoment);

// In a simulation, where there is no stdout of a rank.
inline std::function<std::unique_ptr<Captured>(std::uint64_t stream)> capture_simulated;

}  // namespace tessera::runtime::journal
