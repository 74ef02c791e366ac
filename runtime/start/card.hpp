// What ranks say of themselves before a run, and what rank 0 answers. A rank of another version of Tessera must
// understand as much as that it is refused: so the version stands first, and the answer's code and text, and nothing
// behind is read unless they fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/profile.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

struct Card {
  std::string version;  // of Tessera, and of what it exchanges
  std::string host;
  std::uint64_t hash[2] = {0, 0};  // of the program
  std::string program;             // its name
  std::vector<std::string> arguments;
  std::string environment;        // its own TESSERA_OPTIONS
  std::int32_t refusal_code = 0;  // it can't take part ...
  std::string refusal;            // ... for this reason
};

// What rank 0 sees of the folder of --journal.
struct JournalSeen {
  std::uint64_t attempt = 0;          // the number of this run
  std::uint64_t digest = 0;           // of what the runs before have written
  std::uint64_t kernels[2] = {0, 0};  // of the program, as rank 0 has them
  std::string token;                  // of the folder
  bool marked = false;                // `tessera` passes on what is printed, and takes out marks
};

struct Verdict {
  std::int32_t exit_code = 0;
  std::string text;                // why not; rank 0 says it
  std::string options;             // of the run, for all ranks
  balancer::Profile profile;       // of --load-groups
  std::vector<std::string> hosts;  // by rank
  JournalSeen journal;
};

// The version of this build.
std::string exchange_version();

Parcel encode(const Card&);
Parcel encode(const Verdict&);
// Of a card of another version only the version is read.
Card decode_card(const Parcel&);
Verdict decode_verdict(const Parcel&);

}  // namespace tessera::runtime
