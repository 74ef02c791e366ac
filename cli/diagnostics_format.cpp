#include "cli/diagnostics_format.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/catalogue/catalogue.hpp"
#include "version.hpp"

namespace tessera::cli {
namespace {

using compiler::Diagnostic;
using compiler::Entry;
using compiler::Severity;
using compiler::Span;
using Json = nlohmann::ordered_json;

const char* word(Severity s) { return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note"; }

// Lines reads the files that diagnostics point into, each once.
class Lines {
 public:
  const std::string& line(const Span& span) {
    static const std::string kNone;
    const auto [it, fresh] = files_.try_emplace(span.file);
    if (fresh) {
      std::ifstream in(span.file, std::ios::binary);
      for (std::string text; std::getline(in, text);) {
        if (!text.empty() && text.back() == '\r') text.pop_back();
        it->second.push_back(text);
      }
    }
    const auto number = static_cast<std::size_t>(span.line);
    return number >= 1 && number <= it->second.size() ? it->second[number - 1] : kNone;
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

struct Columns {  // 1-based, in characters; end is behind the last one
  int begin = 1;
  int end = 2;
};

// columns counts characters where a span counts bytes, and ends with the line.
Columns columns(const Span& span, const std::string& line) {
  const auto characters = [&](std::size_t bytes) {
    int n = 0;
    for (std::size_t k = 0; k < std::min(bytes, line.size()); ++k) {
      if ((static_cast<unsigned char>(line[k]) & 0xC0u) != 0x80u) ++n;
    }
    return n;
  };
  const auto begin = static_cast<std::size_t>(std::max(1, span.column) - 1);
  const auto length = static_cast<std::size_t>(std::max(1, span.length));
  Columns c;
  c.begin = characters(begin) + 1;
  c.end = std::max(c.begin + 1, characters(begin + length) + 1);
  return c;
}

Json place(const Span& span, Lines& lines) {
  Json j;
  j["file"] = span.file;
  if (span.line > 0) {
    const Columns c = columns(span, lines.line(span));
    j["line"] = span.line;
    j["column"] = c.begin;
    j["endColumn"] = c.end;
  }
  return j;
}

// A path as a URI reference: relative paths stay relative to where the command ran.
std::string uri(const std::string& path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = !path.empty() && path[0] == '/' ? "file://" : "";
  for (const char c : path) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || (c != '\0' && std::string_view("-._~/").find(c) != std::string_view::npos)) {
      out += c;
    } else {
      out += {'%', kHex[u >> 4u], kHex[u & 15u]};
    }
  }
  return out;
}

bool is_file(const Span& span) { return !span.file.empty() && span.file[0] != '<'; }

Json location(const Span& span, Lines& lines) {
  Json j;
  j["physicalLocation"]["artifactLocation"]["uri"] = uri(span.file);
  if (span.line > 0) {
    const Columns c = columns(span, lines.line(span));
    j["physicalLocation"]["region"] = {
        {"startLine", span.line}, {"startColumn", c.begin}, {"endLine", span.line}, {"endColumn", c.end}};
  }
  return j;
}

Json rule(const Entry& e) {
  Json j;
  j["id"] = std::string(e.code);
  j["name"] = std::string(e.name);
  j["shortDescription"]["text"] = std::string(e.title);
  j["fullDescription"]["text"] = std::string(e.text);
  j["help"]["text"] = compiler::explanation(e);
  j["defaultConfiguration"]["level"] = word(e.severity);
  return j;
}

// dump never fails: a source line need not be UTF-8.
std::string dump(const Json& j) { return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string as_json(const std::vector<Diagnostic>& diagnostics) {
  Lines lines;
  Json all = Json::array();
  int errors = 0;
  int warnings = 0;
  for (const Diagnostic& d : diagnostics) {
    errors += d.severity == Severity::error ? 1 : 0;
    warnings += d.severity == Severity::warning ? 1 : 0;
    const Entry* entry = compiler::find_entry(d.code);
    Json j = {{"code", d.code},
              {"name", entry == nullptr ? "" : std::string(entry->name)},
              {"severity", word(d.severity)},
              {"message", d.text}};
    j.update(place(d.span, lines));
    j["notes"] = Json::array();
    for (const compiler::Note& n : d.notes) {
      Json note = {{"message", n.text}};
      note.update(place(n.span, lines));
      j["notes"].push_back(std::move(note));
    }
    all.push_back(std::move(j));
  }
  return dump({{"version", 1}, {"errors", errors}, {"warnings", warnings}, {"diagnostics", all}});
}

std::string as_sarif(const std::vector<Diagnostic>& diagnostics) {
  Lines lines;
  Json rules = Json::array();
  std::map<std::string, std::size_t> rule_index;
  Json results = Json::array();
  for (const Diagnostic& d : diagnostics) {
    Json j = {{"ruleId", d.code}};
    if (const Entry* entry = compiler::find_entry(d.code); entry != nullptr) {
      const auto [it, fresh] = rule_index.try_emplace(d.code, rules.size());
      if (fresh) rules.push_back(rule(*entry));
      j["ruleIndex"] = it->second;
    }
    j["level"] = word(d.severity);
    j["message"]["text"] = d.text;
    j["locations"] = Json::array();
    if (is_file(d.span)) j["locations"].push_back(location(d.span, lines));
    Json related = Json::array();
    for (const compiler::Note& n : d.notes) {
      if (!is_file(n.span)) continue;
      Json l = {{"id", related.size()}};
      l.update(location(n.span, lines));
      l["message"]["text"] = n.text;
      related.push_back(std::move(l));
    }
    if (!related.empty()) j["relatedLocations"] = std::move(related);
    results.push_back(std::move(j));
  }
  Json run;
  run["tool"]["driver"] = {{"name", "tessera"}, {"version", TESSERA_VERSION}, {"rules", rules}};
  run["columnKind"] = "unicodeCodePoints";
  run["results"] = std::move(results);
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({run})}});
}

}  // namespace tessera::cli
