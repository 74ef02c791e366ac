#include "compiler/diagnostics.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "files/nearest.hpp"

namespace tessera::compiler {
namespace {

// More than this and the first ones are what the person has to look at anyway.
constexpr std::size_t kMostMessages = 300;
constexpr std::size_t kMostRemarks = 100;

}  // namespace

Diagnostics& Diagnostics::add(Severity severity, std::string_view code, Span span, std::string text) {
  std::size_t& count = severity == Severity::error ? errors_ : warnings_;
  muted_ = count++ >= kMostMessages;  // each kind for itself: warnings hide no error
  for (const Diagnostic& d : all_) {  // one message per place and text
    if (d.span.line == span.line && d.span.column == span.column && d.text == text && d.span.file == span.file) {
      muted_ = true;
    }
  }
  if (!muted_) all_.push_back({severity, std::string(code), std::move(span), std::move(text), {}});
  return *this;
}

Diagnostics& Diagnostics::error(std::string_view code, Span span, std::string text) {
  return add(Severity::error, code, std::move(span), std::move(text));
}
Diagnostics& Diagnostics::error(std::string_view code, Extent extent, std::string text) {
  add(Severity::error, code, span(extent), std::move(text));
  if (const std::optional<Place> use = macro_use(extent)) {
    const auto of = std::find_if(uses_.begin(), uses_.end(), [&](const auto& u) { return u.first == *use; });
    if (of != uses_.end()) note(of->second->span, of->second->text);
  }
  return *this;
}
Diagnostics& Diagnostics::mistyped(std::string_view code, Extent extent, std::string text) {
  ++mistyped_;
  return error(code, extent, std::move(text));
}
Diagnostics& Diagnostics::warning(std::string_view code, Span span, std::string text) {
  return add(Severity::warning, code, std::move(span), std::move(text));
}
Diagnostics& Diagnostics::warning(std::string_view code, Extent extent, std::string text) {
  return add(Severity::warning, code, span(extent), std::move(text));
}
Diagnostics& Diagnostics::remark(std::string_view code, Extent extent, std::string text) {
  muted_ = all_.size() >= kMostRemarks;
  return muted_ ? *this : add(Severity::note, code, span(extent), std::move(text));
}
Diagnostics& Diagnostics::note(Extent extent, std::string text) { return note(span(extent), std::move(text)); }
Diagnostics& Diagnostics::note(Span span, std::string text) {
  if (!muted_ && !all_.empty()) all_.back().notes.push_back({std::move(span), std::move(text)});
  return *this;
}

bool Diagnostics::from_macro(Extent extent) const { return macro_use(extent).has_value(); }

// A byte of a macro's body is placed at the macro's use, which begins with a dollar sign.
std::optional<Place> Diagnostics::macro_use(Extent extent) const {
  for (std::uint32_t k = extent.begin; k < extent.end; ++k) {
    const Place at = text_.at[k];
    const std::string& text = sources_.file(at.file).text;
    if (at.offset < text.size() && text[at.offset] == '$') return at;
  }
  return std::nullopt;
}

bool Diagnostics::in_main_file(Extent extent) const {
  return extent.begin < text_.at.size() && text_.at[extent.begin].file == 0;  // files are numbered as read
}

bool Diagnostics::in_library(Extent extent) const {
  return extent.begin < text_.at.size() && sources_.file(text_.at[extent.begin].file).library;
}

std::vector<Diagnostic> Diagnostics::take() {
  std::map<std::string, std::uint32_t> order;
  for (std::uint32_t k = 0; k < sources_.size(); ++k) order.emplace(sources_.file(k).name, k);
  std::stable_sort(all_.begin(), all_.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::tuple(order[a.span.file], a.span.line, a.span.column) <
           std::tuple(order[b.span.file], b.span.line, b.span.column);
  });
  return std::move(all_);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : "; did you mean " + quote(best) + "?";
}

std::string count_of(std::size_t n, std::string_view noun) {
  return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

}  // namespace tessera::compiler
