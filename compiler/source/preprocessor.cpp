#include "compiler/source/preprocessor.hpp"

#include <algorithm>

#include "compiler/source/scan.hpp"

namespace tessera::compiler {
namespace {

constexpr std::size_t kDeepestInclude = 64;
constexpr std::size_t kMostIncludes = 10'000;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::size_t skip_blanks(std::string_view text, std::size_t pos) {
  while (pos < text.size() && is_blank(text[pos])) ++pos;
  return pos;
}

}  // namespace

Preprocessor::Preprocessor(Sources& sources, Diagnostics& diagnostics, const Options& options, MappedText& out)
    : sources_(sources), diagnostics_(diagnostics), options_(options), out_(out), macros_(sources, diagnostics) {
  std::string text;
  for (const auto& [name, value] : options.defines) text += "-D " + name + "=" + value + "\n";
  if (options.defines.empty()) return;
  const std::uint32_t number = sources_.add("<command line>", text);
  std::uint32_t offset = 3;
  for (const auto& [name, value] : options.defines) {
    if (name.empty() || end_of_name(name, 0) != name.size()) {
      error("T101", {number, offset}, 1,
            "-D " + quote(name) + ": a macro's name has letters, digits and underscores only");
    }
    macros_.define(name, {false, {}, value.empty() ? "1" : value, {number, offset}});
    offset += static_cast<std::uint32_t>(name.size() + value.size()) + 5;
  }
}

void Preprocessor::error(std::string_view code, Place place, std::uint32_t length, std::string text) {
  diagnostics_.error(code, sources_.span(place, length), std::move(text));
}

bool Preprocessor::run(std::uint32_t number) {
  file(number);
  flush();
  return !macros_.too_much() && !cut_short_;
}

void Preprocessor::flush() {
  macros_.expand(pending_, out_);
  pending_ = {};
}

void Preprocessor::file(std::uint32_t number) {
  const std::size_t outer_conditions = conditions_.size();
  including_.push_back(number);
  const std::string text = sources_.file(number).text;  // a copy: includes may move the files
  std::size_t k = 0;
  if (text.compare(0, 2, "#!") == 0) k = std::min(text.find('\n'), text.size());
  bool line_start = true;
  while (k < text.size() && !cut_short_) {
    const char c = text[k];
    const Place here{number, static_cast<std::uint32_t>(k)};
    std::size_t end = k + 1;
    if (c == '#' && line_start) {
      k = directive(number, k);
      continue;
    }
    if ((c == '/' && k + 1 < text.size() && (text[k + 1] == '/' || text[k + 1] == '*')) || c == '`') {
      k = comment(number, k, false);
      if (reading()) pending_.add(' ', here);
      continue;
    }
    if (c == '"') {
      const auto closed = end_of_string(text, k);
      if (!closed && reading()) error("T102", here, 1, "this string is never closed");
      end = closed.value_or(text.size());
    } else if (c == '$') {
      if (const auto foreign = foreign_at(text, k)) {
        if (foreign->after == 0 && reading()) {
          error("T103", here, 3,
                foreign->terminator.empty()
                    ? "`${<` must be followed by the text that ends the block, and `}`: `${<END} ... END`"
                    : "this block is never closed by " + quote(foreign->terminator));
        }
        end = foreign->after == 0 ? text.size() : foreign->after;
      }
    }
    if (reading()) {
      for (std::size_t j = k; j < end; ++j) {
        pending_.add(text[j], {number, static_cast<std::uint32_t>(j)});
      }
    } else {
      skipped_.append(text, k, end - k);
    }
    line_start = c == '\n' || (line_start && is_blank(c));
    k = end;
  }
  // Keep the last word of one file apart from the first word of the next.
  if (!text.empty()) pending_.add('\n', {number, static_cast<std::uint32_t>(text.size() - 1)});
  while (conditions_.size() > outer_conditions) {
    if (!cut_short_) error("T104", conditions_.back().place, 1, "this condition is never closed by `#endif`");
    conditions_.pop_back();
  }
  including_.pop_back();
}

std::size_t Preprocessor::comment(std::uint32_t number, std::size_t pos, bool in_directive) {
  const std::string& text = sources_.file(number).text;
  if (const auto end = end_of_comment(text, pos)) return *end;
  if (reading() || in_directive) {
    error("T105", {number, static_cast<std::uint32_t>(pos)}, 2, "this comment is never closed");
  }
  return text.size();
}

MappedText Preprocessor::line_of(std::uint32_t number, std::size_t& pos) {
  const std::string& text = sources_.file(number).text;
  MappedText line;
  while (pos < text.size() && text[pos] != '\n') {
    const Place here{number, static_cast<std::uint32_t>(pos)};
    const char c = text[pos];
    const char next = pos + 1 < text.size() ? text[pos + 1] : '\0';
    if (c == '\\' && (next == '\n' || (next == '\r' && text.compare(pos + 2, 1, "\n") == 0))) {
      line.add(' ', here);
      pos += next == '\n' ? 2 : 3;
    } else if (c == '`' || (c == '/' && (next == '/' || next == '*'))) {
      pos = comment(number, pos, true);
      line.add(' ', here);
    } else if (c == '"') {
      const std::size_t end = end_of_string(text, pos).value_or(text.size());
      for (; pos < end; ++pos) line.add(text[pos], {number, static_cast<std::uint32_t>(pos)});
    } else {
      line.add(c, here);
      ++pos;
    }
  }
  return line;
}

std::size_t Preprocessor::directive(std::uint32_t number, std::size_t pos) {
  const MappedText line = line_of(number, pos);
  skipped_ += line.text + '\n';
  std::size_t k = skip_blanks(line.text, 1);
  const std::size_t end = end_of_name(line.text, k);
  const std::string word = line.text.substr(k, end - k);
  k = skip_blanks(line.text, end);
  const std::string name = line.text.substr(k, end_of_name(line.text, k) - k);
  const bool needs_name = word == "define" || word == "undef" || word == "ifdef" || word == "ifndef";
  flush();
  if (needs_name && name.empty()) {
    if (reading()) error("T106", line.at[0], 1, "`#" + word + "` needs a macro's name");
    if (word[0] != 'i') return pos;
  }
  if (word == "ifdef" || word == "ifndef" || word == "else" || word == "endif") {
    condition(word, name, line);
  } else if (!reading()) {
    return pos;
  } else if (word == "define") {
    define(line, k);
  } else if (word == "undef") {
    macros_.undefine(name);
  } else if (word == "include") {
    include(line, k, number);
  } else {
    error("T107", line.at[0], static_cast<std::uint32_t>(end),
          "unknown directive " + quote("#" + word) +
              did_you_mean(word, {"define", "undef", "ifdef", "ifndef", "else", "endif", "include"}));
  }
  return pos;
}

void Preprocessor::condition(const std::string& word, const std::string& name, const MappedText& line) {
  if (word == "ifdef" || word == "ifndef") {
    const bool holds = macros_.defined(name) == (word == "ifdef");
    conditions_.push_back({reading() && holds, reading(), false, line.at[0]});
    return;
  }
  if (conditions_.empty() || conditions_.back().place.file != line.at[0].file) {
    error("T108", line.at[0], static_cast<std::uint32_t>(word.size() + 1),
          "`#" + word + "` without `#ifdef` or `#ifndef`");
    return;
  }
  Condition& c = conditions_.back();
  if (word == "endif") {
    conditions_.pop_back();
    return;
  }
  if (c.seen_else) {
    error("T108", line.at[0], 5, "a second `#else` for the same condition");
  }
  c.seen_else = true;
  c.taken = c.outer_taken && !c.taken;
}

void Preprocessor::define(const MappedText& line, std::size_t k) {
  Macro macro;
  macro.defined = line.at[k];
  std::size_t end = end_of_name(line.text, k);
  const std::string name = line.text.substr(k, end - k);
  if (end < line.text.size() && line.text[end] == '(') {
    macro.has_parameters = true;
    const std::size_t open = end;
    ++end;
    while (true) {
      end = skip_blanks(line.text, end);
      const std::size_t stop = end_of_name(line.text, end);
      const std::string parameter = line.text.substr(end, stop - end);
      const auto& all = macro.parameters;
      if (std::find(all.begin(), all.end(), parameter) != all.end()) {
        error("T109", line.at[end], static_cast<std::uint32_t>(stop - end),
              "macro " + quote(name) + " has two parameters " + quote(parameter));
      }
      if (stop != end) macro.parameters.push_back(parameter);
      const std::size_t sign = skip_blanks(line.text, stop);
      if (sign >= line.text.size() || (line.text[sign] != ',' && line.text[sign] != ')') ||
          (stop == end && (line.text[sign] == ',' || !macro.parameters.empty()))) {
        error("T109", line.at[open], 1,
              "the parameters of a macro are names between commas: `#define " + name + "(a, b) ...`");
        return;
      }
      end = sign + 1;
      if (line.text[sign] == ')') break;
    }
  }
  std::size_t begin = skip_blanks(line.text, end);
  std::size_t last = line.text.size();
  while (last > begin && is_blank(line.text[last - 1])) --last;
  macro.body = line.text.substr(begin, last - begin);
  if (including_.size() == 1) defined_.emplace_back(name, macro.defined);
  macros_.define(name, std::move(macro));
}

// A file of the library is found in the library only, so that no file of the user's can take its
// place, and it is inserted once, so that it needs no #ifndef.
void Preprocessor::include_library(const MappedText& line, std::size_t k) {
  const std::size_t end = line.text.find('>', k);
  if (end == std::string::npos) {
    error("T117", line.at[0], 8, "this `#include <` has no `>`");
    return;
  }
  const std::string name = line.text.substr(k + 1, end - k - 1);
  const std::uint32_t known = sources_.size();
  const auto number = options_.library.empty() || name.empty() ? std::nullopt : sources_.load(options_.library / name);
  if (!number) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.library, ignored)) {
      if (entry.path().extension() == ".fa")
        names.push_back(entry.path().lexically_relative(options_.library).string());
    }
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
    const std::string guess = did_you_mean(name, names);
    error("T119", line.at[k], static_cast<std::uint32_t>(end - k + 1),
          "the library has no " + quote(name) +
              (!guess.empty() ? guess
               : std::filesystem::path(name).extension() != ".fa"
                   ? "; C++ headers are included in `C++ head` texts and kernel files"
               : all.empty() ? "; a file of your own is included by `#include \"" + name + "\"`"
                             : "; it has " + all));
    return;
  }
  if (*number < known) return;
  sources_.mark_library(*number);
  insert(*number, line.at[k], static_cast<std::uint32_t>(end - k + 1));
}

void Preprocessor::insert(std::uint32_t number, Place place, std::uint32_t length) {
  inserted_ += sources_.file(number).text.size();
  if (++includes_ > kMostIncludes || inserted_ > Sources::kMostText) {
    error("T122", place, length,
          "with this the program has " +
              (includes_ > kMostIncludes
                   ? "more than " + std::to_string(kMostIncludes) + " includes"
                   : "more than " + std::to_string(Sources::kMostText >> 20) + " MiB of included text") +
              ": do files include others twice? `#ifndef NAME`, `#define NAME` and `#endif` around a file's text "
              "insert it once");
    cut_short_ = true;
    return;
  }
  file(number);
  flush();
}

void Preprocessor::include(const MappedText& line, std::size_t k, std::uint32_t from) {
  if (k < line.text.size() && line.text[k] == '<') return include_library(line, k);
  const auto end = k < line.text.size() && line.text[k] == '"' ? end_of_string(line.text, k) : std::nullopt;
  if (!end) {
    error("T117", line.at[0], 8,
          "`#include` needs a path in quotes, `#include \"file.fa\"`, or a file of the library, "
          "`#include <std/base.fa>`");
    return;
  }
  const Place place = line.at[k];
  const auto length = static_cast<std::uint32_t>(*end - k);
  const std::filesystem::path path = line.text.substr(k + 1, *end - k - 2);
  std::vector<std::filesystem::path> places;
  if (path.is_absolute()) {
    places.push_back(path);
  } else {
    places.push_back(sources_.file(from).path.parent_path() / path);
    for (const auto& folder : options_.include_path) places.push_back(folder / path);
  }
  std::string tried;
  for (const auto& candidate : places) {
    std::string why;
    if (const auto number = sources_.load(candidate, &why)) {
      if (std::find(including_.begin(), including_.end(), *number) != including_.end()) {
        error("T118", place, length,
              quote(path.string()) + " includes itself: move what both need into a file of its own");
      } else if (including_.size() >= kDeepestInclude) {
        error("T118", place, length, "includes are nested too deeply: does a file include itself?");
      } else {
        insert(*number, place, length);
      }
      return;
    }
    tried += (tried.empty() ? "" : ", ") + candidate.string() + (why.empty() ? "" : ", which is " + why);
  }
  error("T119", place, length,
        "can't read " + quote(path.string()) + " (tried " + tried + "); --path DIR adds a folder");
}

}  // namespace tessera::compiler
