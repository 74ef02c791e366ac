// Functions of blocks that differ only in numbers, places, texts and the blocks they name: from
// kAlike on they are written once, and what differs stands in tables of each block. A program of many
// statements has few shapes of statements, and the C++ compiler's time goes into functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::compiler::emit {

// A hole is a piece of a function's text in which blocks may differ. The text between the marks is
// what stands there in the functions of one block.
enum class Hole : char {
  number = 'n',  // an int
  place = 'p',   // a Pos
  block = 'b',   // a Block
  text = 't',    // a literal
  index = 'i',   // the block's own number, in names of its functions
  known = 'k'    // followed by what stands there in functions of several blocks
};
std::string hole(Hole kind, std::string_view plain, std::string_view shared = "");

// without_holes is the text as it stands in functions of one block.
std::string without_holes(std::string_view text);

// Alike is told the functions of all blocks, then asked for what is to be written of each.
class Alike {
 public:
  // add takes all functions of one block, in one text with holes.
  void add(std::uint32_t block, std::string_view functions);

  struct Written {
    std::uint32_t of = 0;               // the block whose number the names of the functions bear
    std::string functions;              // empty if they are written elsewhere
    std::string numbers, makes, texts;  // what the tables hold, separated by commas
  };
  Written write(std::uint32_t block, std::string_view functions) const;

 private:
  struct Group {
    std::uint32_t first = 0;
    std::size_t members = 0;
    std::vector<std::string> holes;  // of the first
    std::vector<bool> differ;        // from those of some other
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  std::map<Key, Group> groups_;
};

}  // namespace tessera::compiler::emit
