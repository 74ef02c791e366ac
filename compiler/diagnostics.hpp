// Diagnostics collects what is wrong with the user's program; nothing is printed here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/compiler.hpp"
#include "compiler/source/sources.hpp"

namespace tessera::compiler {

// One translation's messages. The stage that reports gives an extent of the preprocessed text (or
// a span); notes belong to the message reported last.
class Diagnostics {
 public:
  Diagnostics(const Sources& sources, const MappedText& text) : sources_(sources), text_(text) {}

  Diagnostics& error(std::string_view code, Span span, std::string text);
  Diagnostics& error(std::string_view code, Extent extent, std::string text);
  // mistyped is an error in an expression whose value is taken for unknown from then on: what else can be said of the
  // program holds all the same.
  Diagnostics& mistyped(std::string_view code, Extent extent, std::string text);
  Diagnostics& warning(std::string_view code, Span span, std::string text);
  Diagnostics& warning(std::string_view code, Extent extent, std::string text);
  // remark: nothing is wrong; only `tessera check` shows it.
  Diagnostics& remark(std::string_view code, Extent extent, std::string text);
  Diagnostics& note(Extent extent, std::string text);
  Diagnostics& note(Span span, std::string text);
  // At this use a macro has been substituted: an error in what it stands for has this note.
  void substituted(Place use, std::shared_ptr<const Note> note) { uses_.emplace_back(use, std::move(note)); }

  bool failed() const { return errors_ != 0; }
  bool only_mistyped() const { return errors_ == mistyped_; }
  std::size_t error_count() const { return errors_; }
  std::string_view written(Extent extent) const { return text_.view(extent); }
  Span span(Extent extent) const { return sources_.span(text_, extent); }
  bool from_macro(Extent extent) const;  // does any of it come from a macro?
  bool in_main_file(Extent extent) const;
  bool in_library(Extent extent) const;
  // take returns the messages in order of position (file as read, line, column).
  std::vector<Diagnostic> take();

 private:
  Diagnostics& add(Severity, std::string_view code, Span, std::string text);
  std::optional<Place> macro_use(Extent extent) const;

  const Sources& sources_;
  const MappedText& text_;
  std::vector<Diagnostic> all_;
  std::vector<std::pair<Place, std::shared_ptr<const Note>>> uses_;
  std::size_t errors_ = 0;
  std::size_t mistyped_ = 0;  // of these
  std::size_t warnings_ = 0;
  bool muted_ = false;  // the last message was dropped; its notes go with it
};

// did_you_mean returns "; did you mean `x`?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

inline std::string quote(std::string_view name) { return "`" + std::string(name) + "`"; }

// "1 argument", "2 arguments".
std::string count_of(std::size_t n, std::string_view noun);

}  // namespace tessera::compiler
