// Reading a policy's parameters: the text of `Settings`, or the parameter's default.
#pragma once

#include <string_view>

#include "balancer/policy.hpp"

namespace tessera::balancer {

// SettingsReader reads the parameters of one policy. The settings have passed check_settings; a
// parameter that the policy does not list is a bug and throws std::logic_error.
//
//   SettingsReader read(central_info(), setup.settings);
//   Time gap = read.duration("report_gap");
class SettingsReader {
 public:
  SettingsReader(const PolicyInfo& info, const Settings& settings)
      : info_(info), settings_(settings) {}

  std::string text(std::string_view parameter) const {
    return setting(info_, settings_, parameter);
  }
  bool is_auto(std::string_view parameter) const { return text(parameter) == "auto"; }
  bool boolean(std::string_view parameter) const { return text(parameter) == "true"; }
  double number(std::string_view parameter) const;
  std::vector<double> numbers(std::string_view parameter) const;  // empty: auto
  std::int64_t integer(std::string_view parameter) const;
  Time duration(std::string_view parameter) const;  // the parameter is in seconds

 private:
  const PolicyInfo& info_;
  const Settings& settings_;
};

constexpr Time kSecond = 1'000'000'000;
constexpr Time kMillisecond = 1'000'000;
constexpr Time kMicrosecond = 1'000;

}  // namespace tessera::balancer
