// Profiles: what one run learned of a program's groups, for the next (`--save-groups`,
// `--load-groups`). docs/profiles.md describes the file.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "balancer/policy.hpp"

namespace tessera::balancer {

struct ProfileGroup {
  std::string position;      // `matmul.fa:24:5`; empty when unknown
  std::string label;         // `mul`
  std::int64_t count = 0;    // completed
  Time mean = 0;             // weight, ns
  double variance = 0;       // ns^2
  std::int64_t bytes = 0;    // of inputs, per fragment
  std::int64_t moved = 0;    // fragments that changed rank
  bool worth_moving = true;  // false: moving costs more than running; the group is not reported
  friend bool operator==(const ProfileGroup&, const ProfileGroup&) = default;
};

struct Profile {
  std::array<std::uint64_t, 2> hash{};  // abi::Program::hash
  std::string program;                  // its name, for people
  std::vector<ProfileGroup> groups;
  friend bool operator==(const Profile&, const Profile&) = default;
};

// ProfileError says, for a person, why a profile file cannot be used or written.
struct ProfileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// save_profile writes the file whole or not at all (a temporary file beside it, renamed).
void save_profile(const std::string& path, const Profile&);

// load_profile reads a file and refuses, by ProfileError, one that is missing, broken, truncated,
// of another version of the format, or of a program with another hash (unless `anyway`). It never
// touches the file.
Profile load_profile(const std::string& path, const std::array<std::uint64_t, 2>& hash, const std::string& program,
                     bool anyway);

// apply_profile fills the profile_* fields and never_moved of the groups it knows and leaves the
// others as new. GroupInfo::label says label and position, `mul at matmul.fa:24`; several
// statements with one label on one line are told apart by their order. Returns how many it knew.
std::size_t apply_profile(const Profile&, std::vector<GroupInfo>& groups);

}  // namespace tessera::balancer
