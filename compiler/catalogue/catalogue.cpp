#include "compiler/catalogue/catalogue.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tessera::compiler {
namespace {

constexpr std::string_view kFamilies[][2] = {
    {"T1", "Syntax and preprocessor"}, {"T2", "Names and types"}, {"T3", "Data flow"}, {"T4", "Run time"}};

const char* word(Severity s) { return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note"; }

// head: severity and name, the name between marks.
std::string head(const Entry& e, std::string_view mark) {
  const std::string m(mark);
  std::string text = word(e.severity);
  text += " " + m + std::string(e.name) + m;
  return text;
}

std::string indented(std::string_view text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n";
}

// each_example calls f(title, text) for the examples an entry has.
template <class F>
void each_example(const Entry& e, F f) {
  if (!e.wrong.empty()) f(e.by == Entry::By::command ? "For example" : "Wrong", e.wrong);
  if (!e.right.empty()) f("Right", e.right);
}

}  // namespace

const std::vector<Entry>& catalogue() {
  static const std::vector<Entry> kAll = [] {
    std::vector<Entry> all;
    for (const auto part : {preprocessor_entries(), syntax_entries(), name_entries(), type_entries(), advice_entries(),
                            unused_entries(), flow_entries(), run_time_entries()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kAll;
}

const Entry* find_entry(std::string_view wanted) {
  std::string lower(wanted);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string code = lower;
  if (!code.empty() && code[0] == 't') code[0] = 'T';
  for (const Entry& e : catalogue()) {
    if (e.code == code || e.name == lower) return &e;
  }
  return nullptr;
}

std::string explanation(const Entry& e) {
  std::string out =
      std::string(e.code) + ": " + std::string(e.title) + " (" + head(e, "") + ")\n\n" + std::string(e.text) + "\n";
  each_example(e, [&](const char* title, std::string_view text) {
    out += std::string("\n") + title + ":\n\n" + indented(text);
  });
  if (e.severity == Severity::warning) out += "\nTo turn this warning off: -Wno-" + std::string(e.name) + "\n";
  return out;
}

std::string catalogue_list() {
  std::string out;
  for (const auto& [prefix, family] : kFamilies) {
    out += (out.empty() ? "" : "\n") + std::string(family) + "\n";
    for (const Entry& e : catalogue()) {
      if (e.code.substr(0, 2) != prefix) continue;
      out += "  " + std::string(e.code) + (e.severity == Severity::warning ? "  warning  " : "  error    ") +
             std::string(e.title) + "\n";
    }
  }
  return out;
}

// place: what a heading is called in links.
std::string place(std::string_view heading) {
  std::string name;
  for (const char c : heading) name += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::string catalogue_page() {
  std::string out =
      "<!-- Generated from compiler/catalogue/: change it there, then `tessera explain --markdown "
      "> "
      "docs/diagnostics.md`. -->\n"
      "# Diagnostics\n\n"
      "Each message of Tessera about a program ends with its code, `[T206]`. `tessera explain "
      "T206` prints what stands\n"
      "here. A code never changes its meaning.\n\n"
      "Errors stop the program before it runs; those of the family T4xx end it while it runs. "
      "Warnings do not:\n"
      "`-Wno-NAME` or `-Wno-CODE` turns one off, `-Werror=NAME` makes one an error, `--strict` all "
      "of them\n"
      "(`tessera check`, `run` and `build`).\n\n"
      "The examples are whole programs, or statements of a `sub main`. They use these two "
      "kernels:\n\n"
      "```\n"
      "C++ sub init(int v, name x) ${{ x = v; $}}\n"
      "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
      "```\n\n";
  for (const auto& [prefix, family] : kFamilies) {
    out += "- [" + std::string(family) + "](#" + place(family) + "): " + std::string(prefix) + "xx\n";
  }
  for (const auto& [prefix, family] : kFamilies) {
    bool first = true;
    for (const Entry& e : catalogue()) {
      if (e.code.substr(0, 2) != prefix) continue;
      if (std::exchange(first, false)) out += "\n## " + std::string(family) + "\n";
      out += "\n### " + std::string(e.code) + ": " + std::string(e.title) + "\n\n*" + word(e.severity) + "* `" +
             std::string(e.name) + "`\n\n" + std::string(e.text) + "\n";
      each_example(e, [&](const char* title, std::string_view text) {
        out += std::string("\n") + title + ":\n\n```\n" + std::string(text) + "\n```\n";
      });
    }
  }
  return out;
}

std::string complete(std::string_view example) {
  const auto has = [&](std::string_view text) { return example.find(text) != example.npos; };
  std::string out;
  if (has("init(") && !has("sub init(")) out += "C++ sub init(int v, name x) ${{ x = v; $}}\n";
  if (has("show(") && !has("sub show(")) out += "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n";
  const bool whole = has("sub ") || has("#define");
  out += whole ? std::string(example) : "sub main() {\n" + std::string(example) + "\n}";
  return out + "\n";
}

}  // namespace tessera::compiler
