// What a process does about the journal of its run, from before the ranks agree until the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/journal/folder.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/run.hpp"
#include "runtime/start/card.hpp"
#include "runtime/start/facts.hpp"
#include "runtime/start/members.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime::journal {

// Of what the program was translated to: the same passes make the same.
std::uint64_t digest_of_blocks(const abi::Program&);

class OfRun {
 public:
  // Rank 0: takes the folder, reads what is there, and says so. Returns why there can be no run, for a person, or "".
  std::string open(const abi::Program&, const std::vector<std::string>& arguments, const RunOptions&);
  JournalSeen seen() const;
  // What the runs before have learned of groups.
  balancer::Profile learned() const;
  // Another rank: reads it too. Returns why it can't take part: it is not what rank 0 sees.
  std::string join(const abi::Program&, const std::vector<std::string>& arguments, const RunOptions&,
                   const JournalSeen& by_rank_0);

  // Of each rank of this process, before it runs; null: there is none.
  std::unique_ptr<Journal> of(const RunFacts&, const Members&, const Crew&, std::function<SeriesPlaces()>,
                              std::function<HostLinks()>) const;
  void finished() const;

 private:
  void read(const abi::Program&, const RunOptions&);
  void say(const RunOptions&) const;
  Header header_;
  std::unique_ptr<Folder> folder_;    // rank 0
  std::unique_ptr<Writing> writing_;  // others
  std::shared_ptr<const Known> known_;
  std::uint64_t damaged_ = 0;  // bytes that can't be read
  std::string token_;          // of the folder
  bool marked_ = false;        // JournalSeen::marked
};

}  // namespace tessera::runtime::journal
