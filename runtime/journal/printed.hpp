// What kernels print, as the journal has it. A process's text is a stream of bytes; a sweep has those of it that no
// earlier one has, and says up to where the fragments in it may have printed. `tessera`, which passes the text on to
// the user, notes how much of each stream it has written, in a file of the journal's folder. So what is in the journal
// and was not noted is printed again by the next run; and what a fragment has printed is in the journal with the record
// that it is done, or was noted, or the record does not count. Nobody waits for anybody, whoever is killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::runtime::journal {

// How much of each stream the user has.
using Acknowledged = std::map<std::uint64_t, std::uint64_t>;

// PrintedText: what journals have of it. Pure.
class PrintedText {
 public:
  explicit PrintedText(Acknowledged acknowledged = {})
      : acknowledged_(acknowledged), covered_(std::move(acknowledged)) {}
  // Of a stream, from byte `from` on.
  void add(std::uint64_t stream, std::uint64_t from, std::string_view text);
  // Whether all of the stream up to there is here, or acknowledged.
  bool covers(std::uint64_t stream, std::uint64_t upto) const;
  // What is to be printed again: a piece of a stream, and where it ends. What stands behind a gap is not: whose it is
  // does not count, and when it was acknowledged what was in the gap would be, too.
  struct Again {
    std::uint64_t stream, upto;
    std::string text;
  };
  std::vector<Again> again() const;

 private:
  std::uint64_t acknowledged(std::uint64_t stream) const;
  Acknowledged acknowledged_;
  Acknowledged covered_;  // and what there is behind it without a gap
  struct Piece {
    std::uint64_t stream, from;
    std::string text;
  };
  std::vector<Piece> pieces_;  // what was not covered
};

// PrintedFile: where whoever writes to the user notes how much. A word of it that is lost or damaged has text printed
// again; one that is missing is taken for 0.
class PrintedFile {
 public:
  explicit PrintedFile(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~PrintedFile();
  PrintedFile(const PrintedFile&) = delete;
  PrintedFile& operator=(const PrintedFile&) = delete;
  void note(std::uint64_t stream, std::uint64_t upto);
  static Acknowledged read(const std::filesystem::path& folder);
  static void remove(const std::filesystem::path& folder);

 private:
  bool open_file();
  std::filesystem::path folder_;
  int file_ = -1;
  std::map<std::uint64_t, std::size_t> rows_;
  std::size_t next_row_ = 0;
};

}  // namespace tessera::runtime::journal
