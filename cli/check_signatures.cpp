#include "cli/check_signatures.hpp"

#include <algorithm>
#include <set>

#include "cli/signatures.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

bool agree(const std::string& type, Passed p) {
  if (p == Passed::unknown) return true;
  if (type == "int") return p == Passed::integer || p == Passed::integer_ref;
  if (type == "long") return p == Passed::long_integer || p == Passed::long_ref;
  if (type == "real") return p == Passed::real || p == Passed::real_ref;
  if (type == "string") return p == Passed::text;
  if (type == "value") return p == Passed::fragment || p == Passed::const_fragment;
  return p == Passed::fragment;
}

const char* cxx_type(const std::string& type) {
  if (type == "int") return "int";
  if (type == "long") return "long";
  if (type == "real") return "double";
  if (type == "string") return "const char *";
  return type == "value" ? "const InputDF &" : "OutputDF &";
}

std::string counted(std::size_t n) { return std::to_string(n) + (n == 1 ? " parameter" : " parameters"); }

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& p : parts) text += (text.empty() ? "" : ", ") + p;
  return text;
}

// Difference: what is wrong, for the first parameter that is; an empty text when nothing is.
struct Difference {
  std::string text;
  bool harmful = true;  // no: all arguments are where the function looks for them
};

bool passed_alike(const std::string& type, const Signature::Parameter& p) {
  return p.where == (type == "real" ? Register::floating : Register::general);
}

Difference difference(const compiler::Import& i, const Signature& s) {
  const std::size_t n = i.parameters.size();
  const std::size_t m = s.parameters.size();
  Difference first;
  first.harmful = m > n;
  for (std::size_t k = 0; k < std::min(n, m); ++k) {
    const Signature::Parameter& p = s.parameters[k];
    if (agree(i.parameters[k], p.passed)) continue;
    const bool alike = passed_alike(i.parameters[k], p);
    if (!first.text.empty() && alike) continue;
    first.text = "parameter " + std::to_string(k + 1) + " is imported as `" + i.parameters[k] +
                 "`, which a kernel takes as `" + cxx_type(i.parameters[k]) + "`; this one takes it as `" + p.text +
                 "`";
    if (alike) continue;
    first.harmful = true;
    break;
  }
  if (first.text.empty() && n != m && !s.variadic) {
    first.text = "it is imported with " + counted(n) + ", and has " + std::to_string(m);
  }
  return first;
}

// Below the current folder a path is shown as a person there would write it.
std::string shown(const fs::path& file) {
  std::error_code failed;
  const fs::path near = fs::proximate(file, failed);
  return failed || near.empty() || *near.begin() == ".." ? file.string() : near.string();
}

compiler::Diagnostic mismatch(const compiler::Import& i, const Signature& s, const Difference& what) {
  compiler::Diagnostic d;
  d.severity = what.harmful ? compiler::Severity::error : compiler::Severity::warning;
  d.code = what.harmful ? "T215" : "T217";
  d.span = i.span;
  d.text = "the import of `" + i.symbol + "` does not fit its C++ function: " + what.text;
  if (!what.harmful) d.text += "; it works only if the function does not use that (-Wno-error=T217)";
  std::vector<std::string> types;
  for (const Signature::Parameter& p : s.parameters) types.push_back(p.text);
  std::vector<std::string> wanted;
  for (const std::string& p : i.parameters) wanted.emplace_back(cxx_type(p));
  compiler::Note note;
  note.span = {shown(s.file), s.line, std::max(s.column, 1), static_cast<int>(i.symbol.size())};
  note.text = "the function is `" + i.symbol + "(" + joined(types) + ")`; the import means `" + i.symbol + "(" +
              joined(wanted) + ")`";
  d.notes.push_back(note);
  return d;
}

// One letter per parameter: & for a number that is taken by reference.
std::string references(const compiler::Import& i, const Signature& s) {
  std::string letters;
  for (std::size_t k = 0; k < std::min(i.parameters.size(), s.parameters.size()); ++k) {
    const Passed p = s.parameters[k].passed;
    const bool reference = p == Passed::integer_ref || p == Passed::long_ref || p == Passed::real_ref;
    letters += agree(i.parameters[k], p) && reference ? '&' : ' ';
  }
  return letters;
}

}  // namespace

SignatureCheck check_signatures(const compiler::Output& translated, const fs::path& program) {
  std::set<std::string> names;
  for (const compiler::Import& i : translated.imports) names.insert(i.symbol);
  SignatureCheck result;
  if (names.empty()) return result;
  const std::vector<Signature> functions = read_signatures(program, names);
  for (const compiler::Import& i : translated.imports) {
    for (const Signature& s : functions) {
      if (s.name != i.symbol) continue;
      if (const Difference what = difference(i, s); !what.text.empty()) {
        (what.harmful ? result.wrong : result.doubtful).push_back(mismatch(i, s, what));
        if (what.harmful) break;
      }
      const std::string letters = references(i, s);
      if (letters.find('&') != std::string::npos) result.by_reference[i.symbol] = letters;
    }
  }
  return result;
}

}  // namespace tessera::cli
