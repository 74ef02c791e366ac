// The words of transcripts: ranks, groups, amounts and times, the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

std::string name(Rank r);
std::string name(Group g);
std::string list(const std::vector<GroupCount>& fragments);
std::string list(const std::vector<GroupLoad>& ready);
std::string list(const std::vector<GroupDone>& finished);
std::string number(std::uint64_t n);
std::string decimal(double x);
std::string bandwidth_text(double b);
// seconds_text prints ns as seconds, exactly: 1500000 is `0.0015`.
std::string seconds_text(Time);

}  // namespace tessera::balancer
