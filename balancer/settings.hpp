// Reading a policy's parameters: the text of `Settings`, or the parameter's default.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/policy.hpp"

namespace tessera::balancer {

// check_parameters returns one message per setting that is not in `parameters`, out of range or
// given twice. `owner` has them, in the messages: "balancer 'central'".
std::vector<std::string> check_parameters(const std::string& owner, std::span<const Parameter> parameters,
                                          const Settings& settings);

// SettingsReader reads the parameters of one policy (or workload). The settings have passed the
// check; a parameter that is not listed is a bug and throws std::logic_error.
//
//   SettingsReader read(central_info(), setup.settings);
//   Time gap = read.duration("report_gap");
class SettingsReader {
 public:
  SettingsReader(const PolicyInfo& info, const Settings& settings)
      : SettingsReader("balancer '" + std::string(info.name) + "'", info.parameters, settings) {}
  SettingsReader(std::string owner, std::span<const Parameter> parameters, const Settings& settings)
      : owner_(std::move(owner)), parameters_(parameters), settings_(settings) {}

  std::string text(std::string_view parameter) const;
  bool is_auto(std::string_view parameter) const { return text(parameter) == "auto"; }
  bool boolean(std::string_view parameter) const { return text(parameter) == "true"; }
  double number(std::string_view parameter) const;
  std::vector<double> numbers(std::string_view parameter) const;  // empty: auto
  std::int64_t integer(std::string_view parameter) const;
  // In ns; a plain number is in seconds, a Kind::duration says its unit.
  Time duration(std::string_view parameter) const;
  std::int64_t bytes(std::string_view parameter) const;

 private:
  std::string owner_;
  std::span<const Parameter> parameters_;
  const Settings& settings_;
};

constexpr Time kSecond = 1'000'000'000;
constexpr Time kMillisecond = 1'000'000;
constexpr Time kMicrosecond = 1'000;

}  // namespace tessera::balancer
