// The file of --config, as in configs/balancer:
//
//     balancer = "central"
//     threads = 4
//     [settings]
//     jobs_left_threshold = 2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "balancer/policy.hpp"

namespace tessera::launch {

struct ConfigFile {
  std::string path;
  std::optional<std::string> balancer;
  std::optional<std::int32_t> threads;
  balancer::Settings settings;                // parameter -> text, dashes written as underscores
  std::map<std::string, std::string> places;  // parameter -> "file:line", for messages
  std::string balancer_place;
};

// read_config throws OptionsError naming file and line: no such file, not TOML, an unknown key, a
// value of the wrong type.
ConfigFile read_config(const std::string& path);

}  // namespace tessera::launch
