#include "balancer/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "balancer/units.hpp"
#include "files/nearest.hpp"

namespace tessera::balancer {
namespace {

// `--jobs_left_threshold` and `--jobs-left-threshold` are the same parameter.
std::string canonical(std::string_view name) {
  std::string s(name);
  std::replace(s.begin(), s.end(), '-', '_');
  return s;
}

const Parameter* find_parameter(std::span<const Parameter> parameters, std::string_view name) {
  const std::string wanted = canonical(name);
  for (const Parameter& p : parameters) {
    if (p.name == wanted) return &p;
  }
  return nullptr;
}

std::string unknown_parameter(const std::string& owner, std::span<const Parameter> parameters, std::string_view name) {
  const std::string wanted = canonical(name);
  std::string text = owner + " has no parameter '" + std::string(name) + "'";
  if (parameters.empty()) return text + "; it has none";
  std::vector<std::string_view> names;
  std::string list;
  for (const Parameter& p : parameters) {
    names.push_back(p.name);
    list += (list.empty() ? "" : ", ") + std::string(p.name);
  }
  if (const std::string meant = nearest(wanted, names); !meant.empty()) text += "; did you mean '" + meant + "'?";
  return text + " (known: " + list + ")";
}

// Several of them with commas between, at least one; blanks around a number are allowed.
std::optional<std::vector<double>> parse_numbers(const std::string& text) {
  std::vector<double> list;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::size_t first = std::min(text.find_first_not_of(' ', from), comma);
    std::size_t last = comma;
    while (last > first && text[last - 1] == ' ') --last;
    const auto number = parse_number(text.substr(first, last - first));
    if (!number) return std::nullopt;
    list.push_back(*number);
    from = comma + 1;
  }
  return list;
}

std::string shown(double x) {
  if (x == static_cast<double>(static_cast<std::int64_t>(x)) && x < 1e15 && x > -1e15) {
    return std::to_string(static_cast<std::int64_t>(x));
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return std::string(buffer, end);
}

std::string expected(const Parameter& p) {
  std::string text;
  switch (p.kind) {
    case Parameter::Kind::boolean:
      return "true or false";
    case Parameter::Kind::choice:
      for (std::size_t i = 0; i < p.choices.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == p.choices.size() ? " or " : ", ");
        text += p.choices[i];
      }
      return text;
    case Parameter::Kind::integer:
      text = "a whole number";
      break;
    case Parameter::Kind::number:
      text = "a number";
      break;
    case Parameter::Kind::numbers:
      text = "numbers like 3,3,2, each";
      break;
    case Parameter::Kind::duration:
      text = "a time with its unit (20us, 1.5ms, 2s)";
      return p.min > 0 ? text + ", at least " + shown(p.min) + "ns" : text;
    case Parameter::Kind::bytes:
      return "a size (100, 4kB, 2MB)";
  }
  const std::string_view comma = p.kind == Parameter::Kind::numbers ? "" : ",";
  text += p.max >= 1e18 ? std::string(comma) + " at least " + shown(p.min)
                        : " from " + shown(p.min) + " to " + shown(p.max);
  return p.may_be_auto ? text + ", or auto" : text;
}

bool valid(const Parameter& p, const std::string& value) {
  if (p.may_be_auto && value == "auto") return true;
  if (p.kind == Parameter::Kind::boolean) return value == "true" || value == "false";
  if (p.kind == Parameter::Kind::choice) {
    return std::find(p.choices.begin(), p.choices.end(), value) != p.choices.end();
  }
  if (p.kind == Parameter::Kind::numbers) {
    const auto list = parse_numbers(value);
    return list && std::all_of(list->begin(), list->end(), [&](double x) { return x >= p.min && x <= p.max; });
  }
  if (p.kind == Parameter::Kind::bytes) return parse_bytes(value).has_value();
  if (p.kind == Parameter::Kind::duration) {
    const auto t = parse_duration(value);
    return t && static_cast<double>(*t) >= p.min && static_cast<double>(*t) <= p.max;
  }
  const auto number = parse_number(value);
  if (!number || *number < p.min || *number > p.max) return false;
  return p.kind == Parameter::Kind::number || *number == static_cast<double>(static_cast<std::int64_t>(*number));
}

}  // namespace

std::vector<std::string> check_parameters(const std::string& owner, std::span<const Parameter> parameters,
                                          const Settings& settings) {
  std::vector<std::string> errors;
  Settings seen;
  for (const auto& [name, value] : settings) {
    const Parameter* p = find_parameter(parameters, name);
    if (p == nullptr) {
      errors.push_back(unknown_parameter(owner, parameters, name));
    } else if (!valid(*p, value)) {
      errors.push_back("parameter '" + name + "' of " + owner + " is '" + value + "'; expected " + expected(*p));
    } else if (!seen.emplace(canonical(name), value).second && seen[canonical(name)] != value) {
      errors.push_back("parameter '" + canonical(name) + "' is given twice: '" + seen[canonical(name)] + "' and '" +
                       value + "'");
    }
  }
  return errors;
}

bool has_parameter(const PolicyInfo& policy, std::string_view name) {
  return find_parameter(policy.parameters, name) != nullptr;
}

std::vector<std::string> check_settings(const PolicyInfo& info, const Settings& settings) {
  return check_parameters("balancer '" + std::string(info.name) + "'", info.parameters, settings);
}

std::string setting(const PolicyInfo& info, const Settings& settings, std::string_view parameter) {
  return SettingsReader(info, settings).text(parameter);
}

std::string SettingsReader::text(std::string_view parameter) const {
  const Parameter* p = find_parameter(parameters_, parameter);
  if (p == nullptr) {
    throw std::logic_error(owner_ + " does not list parameter '" + std::string(parameter) + "'");
  }
  const std::string wanted = canonical(parameter);
  for (const auto& [name, value] : settings_) {
    if (canonical(name) == wanted) return value;
  }
  return std::string(p->default_value);
}

double SettingsReader::number(std::string_view parameter) const { return parse_number(text(parameter)).value_or(0); }

std::vector<double> SettingsReader::numbers(std::string_view parameter) const {
  return parse_numbers(text(parameter)).value_or(std::vector<double>{});
}

std::int64_t SettingsReader::integer(std::string_view parameter) const {
  return static_cast<std::int64_t>(number(parameter));
}

Time SettingsReader::duration(std::string_view parameter) const {
  const Parameter* p = find_parameter(parameters_, parameter);
  if (p != nullptr && p->kind == Parameter::Kind::duration) {
    return parse_duration(text(parameter)).value_or(0);
  }
  const double ns = number(parameter) * static_cast<double>(kSecond);
  return ns >= 9e18 ? Time{9'000'000'000'000'000'000} : static_cast<Time>(ns);
}

std::int64_t SettingsReader::bytes(std::string_view parameter) const {
  return parse_bytes(text(parameter)).value_or(0);
}

}  // namespace tessera::balancer
