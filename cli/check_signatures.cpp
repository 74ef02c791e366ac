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
  if (type == "real") return p == Passed::real || p == Passed::real_ref;
  if (type == "string") return p == Passed::text;
  if (type == "value") return p == Passed::fragment || p == Passed::const_fragment;
  return p == Passed::fragment;
}

const char* cxx_type(const std::string& type) {
  if (type == "int") return "int";
  if (type == "real") return "double";
  if (type == "string") return "const char *";
  return type == "value" ? "const InputDF &" : "OutputDF &";
}

std::string counted(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " parameter" : " parameters");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& p : parts) text += (text.empty() ? "" : ", ") + p;
  return text;
}

// What is wrong, for the first parameter that is; empty when nothing is.
std::string difference(const compiler::Import& i, const Signature& s) {
  const std::size_t n = i.parameters.size();
  for (std::size_t k = 0; k < std::min(n, s.parameters.size()); ++k) {
    if (agree(i.parameters[k], s.parameters[k].passed)) continue;
    return "parameter " + std::to_string(k + 1) + " is imported as `" + i.parameters[k] +
           "`, which a kernel takes as `" + cxx_type(i.parameters[k]) +
           "`; this one takes it as `" + s.parameters[k].text + "`";
  }
  if (n == s.parameters.size() || s.variadic) return "";
  return "it is imported with " + counted(n) + ", and has " + std::to_string(s.parameters.size());
}

// Below the current folder a path is shown as a person there would write it.
std::string shown(const fs::path& file) {
  std::error_code failed;
  const fs::path near = fs::proximate(file, failed);
  return failed || near.empty() || *near.begin() == ".." ? file.string() : near.string();
}

compiler::Diagnostic mismatch(const compiler::Import& i, const Signature& s,
                              const std::string& what) {
  compiler::Diagnostic d;
  d.code = "T215";
  d.span = i.span;
  d.text = "the import of `" + i.symbol + "` does not fit its C++ function: " + what;
  std::vector<std::string> types;
  for (const Signature::Parameter& p : s.parameters) types.push_back(p.text);
  std::vector<std::string> wanted;
  for (const std::string& p : i.parameters) wanted.emplace_back(cxx_type(p));
  compiler::Note note;
  note.span = {shown(s.file), s.line, std::max(s.column, 1), static_cast<int>(i.symbol.size())};
  note.text = "the function is `" + i.symbol + "(" + joined(types) + ")`; the import means `" +
              i.symbol + "(" + joined(wanted) + ")`";
  d.notes.push_back(note);
  return d;
}

// One letter per parameter: & for a number that is taken by reference.
std::string references(const Signature& s) {
  std::string letters;
  for (const Signature::Parameter& p : s.parameters) {
    letters += p.passed == Passed::integer_ref || p.passed == Passed::real_ref ? '&' : ' ';
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
      if (const std::string what = difference(i, s); !what.empty()) {
        result.wrong.push_back(mismatch(i, s, what));
        break;
      }
      const std::string letters = references(s);
      if (letters.find('&') != std::string::npos) result.by_reference[i.symbol] = letters;
    }
  }
  return result;
}

}  // namespace tessera::cli
