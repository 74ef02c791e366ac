#include "balancer/units.hpp"

#include <charconv>
#include <span>

namespace tessera::balancer {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}};
constexpr Unit kBytes[] = {{"", 1},     {"B", 1},        {"kB", 1e3},        {"MB", 1e6},
                           {"GB", 1e9}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
constexpr Unit kBandwidths[] = {{"B/s", 1},      {"kB/s", 1e3},     {"MB/s", 1e6},    {"GB/s", 1e9},
                                {"kbit/s", 125}, {"Mbit/s", 125e3}, {"Gbit/s", 125e6}};

std::optional<double> with_unit(std::string_view text, std::span<const Unit> units) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value >= 0 && value < 1e300)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Unit& u : units) {
    if (u.name == unit) return value * u.factor;
  }
  return std::nullopt;
}

// `x` with three digits.
std::string digits(double x, std::string_view unit) {
  const int decimals = x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::fixed, decimals).ptr;
  return std::string(buffer, end).append(" ").append(unit);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || text.empty() || !(value == value)) return std::nullopt;
  return value;
}

std::optional<Time> parse_duration(std::string_view text) {
  if (text == "0") return 0;
  const auto ns = with_unit(text, kTimes);
  if (!ns || *ns >= 9e18) return std::nullopt;
  return static_cast<Time>(*ns + 0.5);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const auto bytes = with_unit(text, kBytes);
  if (!bytes || *bytes >= 9e18) return std::nullopt;
  return static_cast<std::int64_t>(*bytes + 0.5);
}

std::optional<double> parse_bandwidth(std::string_view text) { return with_unit(text, kBandwidths); }

std::string duration_text(Time ns) {
  const auto t = static_cast<double>(ns);
  if (t < 1e3) return std::to_string(ns) + " ns";
  if (t < 1e6) return digits(t / 1e3, "us");
  if (t < 1e9) return digits(t / 1e6, "ms");
  return digits(t / 1e9, "s");
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return std::to_string(static_cast<std::int64_t>(bytes)) + " B";
  if (bytes < 1e6) return digits(bytes / 1e3, "kB");
  if (bytes < 1e9) return digits(bytes / 1e6, "MB");
  return digits(bytes / 1e9, "GB");
}

}  // namespace tessera::balancer
