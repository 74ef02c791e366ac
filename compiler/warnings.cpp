#include "compiler/warnings.hpp"

#include <algorithm>

#include "compiler/catalogue/catalogue.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler {
namespace {

bool cut(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string unknown(std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& e : catalogue()) {
    if (e.severity == Severity::warning) names.emplace_back(e.name);
  }
  return "there is no warning " + quote(name) + did_you_mean(name, names) + " (`tessera explain` lists them all)";
}

}  // namespace

std::string Warnings::set(std::string_view flag) {
  if (flag == "error") {
    strict = true;
    return "";
  }
  std::string_view name = flag;
  const bool no_error = cut(name, "no-error=");
  const bool error = !no_error && cut(name, "error=");
  const bool no = !no_error && !error && cut(name, "no-");
  const Entry* entry = find_entry(name);
  if (entry == nullptr) return unknown(name);
  const std::string code(entry->code);
  if (entry->severity == Severity::error) {
    return code + " (" + std::string(entry->name) + ") is an error, no warning: it is always on";
  }
  off.erase(code);
  if (no) {
    off.insert(code);
  } else if (error) {
    never_errors.erase(code);
    errors.insert(code);
  } else if (no_error) {
    errors.erase(code);
    never_errors.insert(code);
  }
  return "";
}

void Warnings::apply(std::vector<Diagnostic>& diagnostics) const {
  std::erase_if(diagnostics,
                [&](const Diagnostic& d) { return d.severity == Severity::warning && off.count(d.code) != 0; });
  for (Diagnostic& d : diagnostics) {
    if (d.severity != Severity::warning || never_errors.count(d.code) != 0) continue;
    if (strict || errors.count(d.code) != 0) d.severity = Severity::error;
  }
}

std::string Warnings::text() const {
  std::string out = strict ? "strict" : "";
  for (const auto& [prefix, codes] : {std::pair("-", &off), std::pair("!", &errors), std::pair("~", &never_errors)}) {
    for (const std::string& code : *codes) out += prefix + code;
  }
  return out;
}

}  // namespace tessera::compiler
