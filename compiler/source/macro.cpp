#include "compiler/source/macro.hpp"

#include <algorithm>

#include "compiler/source/scan.hpp"

namespace tessera::compiler {
namespace {

constexpr std::size_t kMostProduced = 4u << 20;  // bytes; a program of macros that double stops here
constexpr std::size_t kDeepest = 200;            // macros inside macros
constexpr std::size_t kMostUses = 20000;         // of macros, by one use in the program's text
constexpr std::size_t kSkipped = 2000;           // bytes of arguments of what is no macro
constexpr std::size_t kShown = 60;               // bytes of a macro's text, in messages
constexpr std::size_t kMostErrors = 300;         // as many as are shown; each may have read all the text

bool is_blank_or_newline(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

MappedText trimmed(const MappedText& in) {
  std::size_t begin = 0;
  std::size_t end = in.text.size();
  while (begin < end && is_blank_or_newline(in.text[begin])) ++begin;
  while (end > begin && is_blank_or_newline(in.text[end - 1])) --end;
  MappedText out;
  out.add(in, begin, end);
  return out;
}

// escaped: a backslash at `k` makes the next character one of the text, not of the macro call.
bool escaped(std::string_view text, std::size_t k) {
  return text[k] == '\\' && k + 1 < text.size() && std::string_view(",()[]\\").find(text[k + 1]) != text.npos;
}

// unescaped drops the backslashes that no use inside the argument has taken.
MappedText unescaped(const MappedText& in) {
  if (in.text.find('\\') == in.text.npos) return in;
  MappedText out;
  for (std::size_t k = 0; k < in.text.size(); ++k) {
    if (in.text[k] == '"') {
      const std::size_t end = end_of_string(in.text, k).value_or(in.text.size());
      out.add(in, k, end);
      k = end - 1;
      continue;
    }
    if (escaped(in.text, k)) ++k;
    out.add(in.text[k], in.at[k]);
  }
  return out;
}

std::string stands_for(const std::string& name, const std::string& body) {
  const std::string text =
      "`$" + name + "` stands for " +
      (body.empty() ? "nothing" : quote(body.substr(0, kShown) + (body.size() > kShown ? "..." : "")));
  return text + (body.ends_with(';') ? ", with the `;`: a macro ends where its line ends" : "");
}

}  // namespace

void MacroExpander::error(std::string_view code, Place place, std::string text) {
  diagnostics_.error(code, sources_.span(place, 1), std::move(text));
  if (diagnostics_.error_count() > kMostErrors) too_much_ = true;
}

void MacroExpander::define(std::string name, Macro macro) {
  const auto old = macros_.find(name);
  if (old != macros_.end() && (old->second.body != macro.body || old->second.parameters != macro.parameters)) {
    diagnostics_
        .warning("T110", sources_.span(macro.defined, static_cast<std::uint32_t>(name.size())),
                 "macro " + quote(name) + " is defined again with another meaning; `#undef` it first if that is meant")
        .note(sources_.span(old->second.defined, 1), "it was defined here");
  }
  macro.note = std::make_shared<const Note>(
      Note{sources_.span(macro.defined, static_cast<std::uint32_t>(name.size())), stands_for(name, macro.body)});
  macros_.insert_or_assign(std::move(name), std::move(macro));
}

void MacroExpander::undefine(std::string_view name) {
  const auto it = macros_.find(name);
  if (it != macros_.end()) macros_.erase(it);
}

void MacroExpander::expand(const MappedText& in, MappedText& out) {
  const std::string_view text = in.text;
  std::size_t k = 0;
  while (k < text.size() && !too_much_) {
    std::size_t stop = text.find_first_of("\"$", k);
    if (stop == text.npos) stop = text.size();
    out.add(in, k, stop);
    k = stop;
    if (k == text.size()) break;
    if (text[k] == '"') {
      const std::size_t end = end_of_string(text, k).value_or(text.size());
      out.add(in, k, end);
      k = end;
    } else if (const auto foreign = foreign_at(text, k)) {
      const std::size_t end = foreign->after == 0 ? text.size() : foreign->after;
      out.add(in, k, end);
      k = end;
    } else {
      k = use(in, k, out);
    }
  }
}

MacroExpander::Arguments MacroExpander::arguments(const MappedText& in, std::size_t open) {
  const std::string_view text = in.text;
  Arguments result;
  MappedText current;
  int depth = 0;
  std::size_t k = open + 1;
  while (k < text.size()) {
    const char c = text[k];
    if (escaped(text, k)) {
      // Inside brackets it may be meant for a use that stands there: `$F($G(a\, b))`.
      if (depth > 0) current.add(c, in.at[k]);
      current.add(text[k + 1], in.at[k + 1]);
      k += 2;
      continue;
    }
    if (c == '"') {
      const std::size_t end = end_of_string(text, k).value_or(text.size());
      current.add(in, k, end);
      k = end;
      continue;
    }
    if (c == ')' && depth == 0) {
      result.closed = true;
      result.after = k + 1;
      break;
    }
    if (c == ',' && depth == 0) {
      result.list.push_back(trimmed(current));
      current = {};
    } else {
      if (c == '(' || c == '[') ++depth;
      if ((c == ')' || c == ']') && depth > 0) --depth;
      current.add(c, in.at[k]);
    }
    ++k;
  }
  current = trimmed(current);
  if (!result.list.empty() || !current.text.empty()) result.list.push_back(std::move(current));
  return result;
}

MappedText MacroExpander::with_arguments(const Macro& macro, const std::vector<MappedText>& values, Place place) {
  MappedText out;
  const std::string_view body = macro.body;
  std::size_t k = 0;
  while (k < body.size()) {
    if (body[k] == '"') {
      const std::size_t end = end_of_string(body, k).value_or(body.size());
      for (; k < end; ++k) out.add(body[k], place);
      continue;
    }
    if (body[k] == '$') {
      const std::size_t end = end_of_name(body, k + 1);
      const auto name = body.substr(k + 1, end - k - 1);
      const auto found = std::find(macro.parameters.begin(), macro.parameters.end(), name);
      if (found != macro.parameters.end()) {
        out.add(values[static_cast<std::size_t>(found - macro.parameters.begin())]);
        k = end;
        continue;
      }
    }
    out.add(body[k++], place);
  }
  return out;
}

std::size_t MacroExpander::use(const MappedText& in, std::size_t pos, MappedText& out) {
  const Place place = in.at[pos];
  const std::size_t end = end_of_name(in.text, pos + 1);
  const std::string name = in.text.substr(pos + 1, end - pos - 1);
  const auto give_up = [&](std::size_t behind) {
    out.add('0', place);  // reads as an expression: no second message for the same mistake
    return behind;
  };
  if (name.empty()) {
    error("T111", place, "`$` must be followed by a macro's name, `{{` or `{<TERM}`");
    return pos + 1;
  }
  const auto it = macros_.find(name);
  // A use that can't be substituted is left out with its arguments, unless they are very long.
  const auto behind_arguments = [&] {
    if (end >= in.text.size() || in.text[end] != '(') return end;
    MappedText some;
    some.add(in, end, std::min(in.text.size(), end + kSkipped));
    const Arguments given = arguments(some, 0);
    return given.closed ? end + given.after : end;
  };
  const auto too_much = [&] {
    if (!too_much_) error("T116", place, "macro " + quote(name) + " expands to too much text: use a loop or a `sub`");
    too_much_ = true;
    return give_up(end);
  };
  uses_ = active_.empty() ? 0 : uses_ + 1;
  if (uses_ > kMostUses || depth_ > kDeepest) return too_much();
  if (it == macros_.end()) {
    std::vector<std::string> known;
    for (const auto& entry : macros_) known.push_back(entry.first);
    const std::string guess = did_you_mean(name, known);
    error("T112", place,
          "macro " + quote(name) + " is not defined" +
              (guess.empty() ? "; `#define` it above, or give -D " + name + "=..." : guess));
    return give_up(behind_arguments());
  }
  if (std::find(active_.begin(), active_.end(), name) != active_.end()) {
    error("T113", place, "macro " + quote(name) + " expands to itself: give one of them another name");
    return give_up(behind_arguments());
  }
  const Macro& macro = it->second;
  std::size_t after = end;
  std::vector<MappedText> values;
  if (macro.has_parameters) {
    std::size_t open = end;
    while (open < in.text.size() && is_blank_or_newline(in.text[open])) ++open;
    Arguments given;
    if (open < in.text.size() && in.text[open] == '(') given = arguments(in, open);
    if (!given.closed) {
      error("T114", place, "macro " + quote(name) + " needs its arguments in brackets: `$" + name + "(...)`");
      return give_up(end);
    }
    after = given.after;
    if (given.list.size() < macro.parameters.size() && macro.parameters.size() == 1) {
      given.list.resize(1);  // `$F()` for one parameter: an empty argument
    }
    if (given.list.size() != macro.parameters.size()) {
      error("T115", place,
            "macro " + quote(name) + " takes " + count_of(macro.parameters.size(), "argument") + ", " +
                std::to_string(given.list.size()) + " given");
      return give_up(after);
    }
    ++depth_;
    for (const MappedText& raw : given.list) {
      MappedText value;
      expand(raw, value);
      values.push_back(unescaped(value));
    }
    --depth_;
  }
  const MappedText body = with_arguments(macro, values, place);
  produced_ += body.text.size();
  if (produced_ > kMostProduced || active_.size() >= kDeepest) return too_much();
  if (active_.empty() && depth_ == 0) diagnostics_.substituted(place, macro.note);
  active_.push_back(name);
  expand(body, out);
  active_.pop_back();
  return after;
}

}  // namespace tessera::compiler
