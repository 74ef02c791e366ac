// The profile's file: TOML, with a checksum of everything before it as the last key, so that half
// a file is recognised as such.
#include <toml++/toml.h>

#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "balancer/profile.hpp"
#include "files/whole_file.hpp"

namespace tessera::balancer {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kEnd = "\n[end]\n";

std::string hex(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, x);
  return text;
}

std::uint64_t checksum(std::string_view text) {  // FNV-1a
  std::uint64_t h = 14695981039346656037u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char text[8];
      std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(c));
      out += text;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string real(double x) {
  char text[40];
  std::string s(text, std::to_chars(text, text + sizeof text, x).ptr);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

std::string to_text(const Profile& p) {
  std::ostringstream out;
  out << "# Weights of the groups of a fragmented program, measured by `tessera run "
         "--save-groups`.\n"
      << "version = " << kVersion << "\n"
      << "program = " << quoted(p.program) << "\n"
      << "hash = \"" << hex(p.hash[0]) << hex(p.hash[1]) << "\"\n";
  for (const ProfileGroup& g : p.groups) {
    out << "\n[[group]]\n"
        << "label = " << quoted(g.label) << "\n"
        << "position = " << quoted(g.position) << "\n"
        << "count = " << g.count << "\n"
        << "mean_ns = " << g.mean << "\n"
        << "variance_ns2 = " << real(g.variance) << "\n"
        << "bytes = " << g.bytes << "\n"
        << "moved = " << g.moved << "\n"
        << "worth_moving = " << (g.worth_moving ? "true" : "false") << "\n";
  }
  std::string text = out.str();
  const std::uint64_t sum = checksum(text);
  return text + std::string(kEnd) + "checksum = \"" + hex(sum) + "\"\n";
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ProfileError("profile '" + path + "' " + why);
}

template <class T>
T need(const std::string& path, const toml::table& table, const char* key) {
  const std::optional<T> value = table[key].value<T>();
  if (!value) refuse(path, std::string("lacks a valid '") + key + "'");
  return *value;
}

std::array<std::uint64_t, 2> parse_hash(const std::string& path, const std::string& text) {
  std::array<std::uint64_t, 2> hash{};
  for (std::size_t i = 0; i < 2; ++i) {
    const char* begin = text.data() + 16 * i;
    if (text.size() != 32 || std::from_chars(begin, begin + 16, hash[i], 16).ptr != begin + 16) {
      refuse(path, "lacks a valid 'hash'");
    }
  }
  return hash;
}

ProfileGroup parse_group(const std::string& path, const toml::table& t) {
  ProfileGroup g;
  g.label = need<std::string>(path, t, "label");
  g.position = need<std::string>(path, t, "position");
  g.count = need<std::int64_t>(path, t, "count");
  g.mean = need<std::int64_t>(path, t, "mean_ns");
  g.variance = need<double>(path, t, "variance_ns2");
  g.bytes = need<std::int64_t>(path, t, "bytes");
  g.moved = need<std::int64_t>(path, t, "moved");
  g.worth_moving = need<bool>(path, t, "worth_moving");
  if (g.count < 0 || g.mean < 0 || !(g.variance >= 0) || g.bytes < 0 || g.moved < 0) {
    refuse(path, "has a negative number in group '" + g.label + "'");
  }
  return g;
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) refuse(path, "does not exist");
  if (!fs::is_regular_file(path, error)) refuse(path, "is not a file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    if (fs::file_size(path, error) == 0 && !error) refuse(path, "is empty");
    refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  }
  return text.str();
}

}  // namespace

void save_profile(const std::string& path, const Profile& profile) {
  const std::string wrong = files::write_whole(path, to_text(profile));
  if (!wrong.empty()) refuse(path, "cannot be written: " + wrong);
}

Profile load_profile(const std::string& path, const std::array<std::uint64_t, 2>& hash, const std::string& program,
                     bool anyway) {
  const std::string text = read_file(path);
  if (text.empty()) refuse(path, "is empty");
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    std::ostringstream why;
    why << "is broken or truncated: line " << e.source().begin.line << ": " << e.description();
    refuse(path, why.str());
  }
  if (!table.contains("version") || !table.contains("hash")) {
    refuse(path, "is not a profile: it has no 'version' and 'hash'");
  }
  const auto version = need<std::int64_t>(path, table, "version");
  if (version != kVersion) {
    refuse(path, "has version " + std::to_string(version) + " of the format; this tessera reads " +
                     std::to_string(kVersion) + ". Make a new one with --save-groups");
  }
  const std::size_t end = text.rfind(kEnd);
  if (end == std::string::npos) refuse(path, "is truncated: its end is missing");
  const auto stated = table["end"]["checksum"].value<std::string>();
  if (!stated) refuse(path, "is truncated: its checksum is missing");
  if (*stated != hex(checksum(std::string_view(text).substr(0, end)))) {
    refuse(path, "is damaged: its checksum does not match (was it edited?)");
  }

  Profile p;
  p.program = need<std::string>(path, table, "program");
  p.hash = parse_hash(path, need<std::string>(path, table, "hash"));
  if (p.hash != hash && !anyway) {
    refuse(path, p.program == program ? "belongs to another version of '" + program +
                                            "'; make a new one with --save-groups, or use --load-groups-anyway"
                                      : "belongs to program '" + p.program + "', not to '" + program +
                                            "'; use --load-groups-anyway to load it all the same");
  }
  if (const toml::array* groups = table["group"].as_array()) {
    for (const toml::node& node : *groups) {
      const toml::table* t = node.as_table();
      if (t == nullptr) refuse(path, "has a 'group' that is no table");
      p.groups.push_back(parse_group(path, *t));
    }
  }
  return p;
}

}  // namespace tessera::balancer
