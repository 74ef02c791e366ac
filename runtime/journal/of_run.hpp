// What a process does about the journal of its run, from before the ranks agree until the end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/journal/folder.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/run.hpp"

namespace tessera::runtime {
class Node;
}

namespace tessera::runtime::journal {

// Of what the program was translated to: the same passes make the same.
std::uint64_t digest_of_blocks(const abi::Program&);

class OfRun {
 public:
  // Rank 0: takes the folder, reads what is there, and says so. Returns why there can be no run, for a person, or "".
  std::string open(const abi::Program&, const std::vector<std::string>& arguments, const RunOptions&);
  // Another rank: reads it too. Throws when it is not what rank 0 sees.
  void join(const abi::Program&, const std::vector<std::string>& arguments, const RunOptions&, std::uint64_t attempt,
            std::uint64_t digest);

  std::uint64_t attempt() const { return header_.attempt; }
  std::uint64_t digest() const { return known_ == nullptr ? 0 : known_->digest; }

  // Each rank of this process; before it runs.
  void keep(Node&);
  void finished() const;

 private:
  void read(const abi::Program&, const std::vector<std::string>& arguments, const RunOptions&);
  void say(const RunOptions&) const;
  Header header_;
  std::unique_ptr<Folder> folder_;
  std::shared_ptr<const Known> known_;
};

}  // namespace tessera::runtime::journal
