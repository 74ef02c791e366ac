#include "cli/host_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "cli/failure.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

// The words of a line, `slots = 4` as one.
std::vector<std::string> words_of_line(std::string line) {
  line.resize(std::min(line.find('#'), line.size()));
  std::string close;
  for (const char c : line) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (blank && !close.empty() && close.back() == '=') continue;
    if (c == '=') close.resize(close.find_last_not_of(" \t\r") + 1);
    close += c;
  }
  std::istringstream in(close);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The number of `slots=4`, or of what means the same to mpirun; nothing: this word says something else.
std::optional<std::int32_t> slots_in(const std::string& word, const std::string& place) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  if (equals == word.npos || (key != "slots" && key != "cpu" && key != "count")) return std::nullopt;
  std::int32_t n = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data() + equals + 1, last, n);
  if (error != std::errc() || end != last || n < 1) {
    throw usage_error(place + ": `" + word + "` is no number of ranks; write `slots=4`");
  }
  return n;
}

// `user@h1` is the host `h1`, and `h1.cluster` may be called `h1`.
std::string short_name(const std::string& host) {
  const std::size_t at = host.find('@');
  std::string name = at == host.npos ? host : host.substr(at + 1);
  if (name.find_first_not_of("0123456789.") == name.npos) return name;  // an address
  return name.substr(0, name.find('.'));
}

// To mpirun they are one, for which it takes one number of slots.
bool same_host(const std::string& a, const std::string& b) {
  if (a == b) return true;
  std::array<char, HOST_NAME_MAX + 1> own{};
  gethostname(own.data(), own.size() - 1);
  const auto here = [&](const std::string& name) {
    return name == "localhost" || name.rfind("127.", 0) == 0 || short_name(name) == short_name(own.data());
  };
  return here(a) && here(b);
}

}  // namespace

HostFile::HostFile(const fs::path& file) {
  std::ifstream in(file);
  if (!in || fs::is_directory(file)) throw usage_error("--hostfile: can't read " + file.string());
  int at = 0;
  for (std::string line; std::getline(in, line);) {
    ++at;
    const std::vector<std::string> words = words_of_line(line);
    if (words.empty()) continue;
    Host host{words[0], 1, ""};
    for (std::size_t k = 1; k < words.size(); ++k) {
      if (const auto n = slots_in(words[k], file.string() + ":" + std::to_string(at))) {
        host.slots = *n;
      } else {
        host.rest += " " + words[k];
      }
    }
    // mpirun knows of one line for a host only; it may have several here, one for each rank.
    const auto same =
        std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& h) { return same_host(h.name, host.name); });
    if (same == hosts_.end()) {
      hosts_.push_back(std::move(host));
    } else {
      same->slots += host.slots;
    }
  }
  if (hosts_.empty())
    throw usage_error("--hostfile: " + file.string() + " has no hosts; write lines like `h1 slots=4`");
}

std::int32_t HostFile::slots() const {
  std::int32_t all = 0;
  for (const Host& h : hosts_) all += h.slots;
  return all;
}

std::int32_t HostFile::leave_out(const std::string& host) {
  const auto is_it = [&](const Host& h) { return short_name(h.name) == short_name(host); };
  if (std::all_of(hosts_.begin(), hosts_.end(), is_it)) return 0;
  const std::int32_t before = slots();
  std::erase_if(hosts_, is_it);
  return before - slots();
}

std::string HostFile::text(Form form) const {
  std::string text;
  for (const Host& h : hosts_) {
    text += form == Form::slots ? fmt::format("{} slots={}{}\n", h.name, h.slots, h.rest)
                                : fmt::format("{}:{}\n", h.name, h.slots);
  }
  return text;
}

}  // namespace tessera::cli
