#include "runtime/launch/config_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "files/nearest.hpp"
#include "runtime/launch/options.hpp"

namespace tessera::launch {
namespace {

std::string place(const std::string& path, const toml::source_region& at) {
  return path + ":" + std::to_string(at.begin.line);
}

[[noreturn]] void unknown_key(const std::string& at, const std::string& key, const std::vector<std::string>& known) {
  const std::string guess = nearest(key, known);
  std::string text = at + ": unknown key `" + key + "`";
  if (!guess.empty()) {
    text += "; did you mean `" + guess + "`?";
  } else {
    text += "; a configuration has `balancer`, `threads` and a table [settings]";
  }
  throw OptionsError(text);
}

// A parameter's value as the text that --set would give it.
std::string text_of(const toml::node& value, const std::string& at, const std::string& key) {
  if (const auto s = value.value_exact<std::string>()) return *s;
  if (const auto b = value.value_exact<bool>()) return *b ? "true" : "false";
  if (const auto i = value.value_exact<std::int64_t>()) return std::to_string(*i);
  if (const auto d = value.value_exact<double>()) {
    std::ostringstream out;
    out.precision(17);
    out << *d;
    return out.str();
  }
  throw OptionsError(at + ": `" + key + "` must be a number, a text or true/false");
}

void read_settings(const toml::node& node, ConfigFile& config) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    throw OptionsError(place(config.path, node.source()) + ": `settings` must be a table: [settings]");
  }
  for (const auto& [key, value] : *table) {
    std::string name(key.str());
    std::replace(name.begin(), name.end(), '-', '_');
    const std::string at = place(config.path, key.source());
    config.settings[name] = text_of(value, at, name);
    config.places[name] = at;
  }
}

}  // namespace

ConfigFile read_config(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw OptionsError("--config: no such file: " + path);
  if (std::filesystem::is_directory(path, ignored)) {
    throw OptionsError("--config: " + path + " is a directory");
  }
  ConfigFile config;
  config.path = path;
  toml::table root;
  try {
    root = toml::parse_file(path);
  } catch (const toml::parse_error& e) {
    const std::string why(e.description());
    const bool open = why.find("control character") != why.npos;
    throw OptionsError(place(path, e.source()) + ": " + why + (open ? "; is there no `\"` where the text ends?" : ""));
  }
  for (const auto& [key, value] : root) {
    const std::string at = place(path, key.source());
    if (key == "balancer") {
      config.balancer = value.value_exact<std::string>();
      config.balancer_place = at;
      if (!config.balancer) throw OptionsError(at + ": `balancer` must be a text, like \"central\"");
    } else if (key == "threads") {
      const auto n = value.value_exact<std::int64_t>();
      if (!n || *n < 0 || *n > 4096) {
        throw OptionsError(at + ": `threads` must be a whole number from 0 to 4096");
      }
      config.threads = static_cast<std::int32_t>(*n);
    } else if (key == "settings") {
      read_settings(value, config);
    } else {
      unknown_key(at, std::string(key.str()), {"balancer", "threads", "settings"});
    }
  }
  return config;
}

}  // namespace tessera::launch
