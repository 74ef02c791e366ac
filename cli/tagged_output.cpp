#include "cli/tagged_output.hpp"

#include <algorithm>
#include <cctype>

namespace tessera::cli {
namespace {

enum class Tag { none, perhaps, whole };

// Whether `[1,3]<stdout>:` stands at the beginning, as far as the text goes; how long it is.
Tag find_tag(std::string_view text, std::size_t& size) {
  std::size_t at = 0;
  const auto word = [&](std::string_view w) {
    const std::size_t n = std::min(w.size(), text.size() - at);
    if (text.substr(at, n) != w.substr(0, n)) return Tag::none;
    at += n;
    return n == w.size() ? Tag::whole : Tag::perhaps;
  };
  const auto number = [&] {
    const std::size_t from = at;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
    return at == text.size() ? Tag::perhaps : at > from ? Tag::whole : Tag::none;
  };
  for (const char* part : {"[", "", ",", "", "]<std"}) {
    if (const Tag t = *part == '\0' ? number() : word(part); t != Tag::whole) return t;
  }
  const std::size_t here = at;
  for (const char* part : {"out>:", "err>:"}) {
    at = here;
    const Tag t = word(part);
    size = at;
    if (t != Tag::none) return t;
  }
  return Tag::none;
}

}  // namespace

std::string TaggedOutput::pass(std::string_view piece) {
  std::string out;
  const std::string text = unread_ + std::string(piece);
  unread_.clear();
  std::size_t from = 0;
  for (std::size_t at = text.find('['); at != text.npos; at = text.find('[', at)) {
    std::size_t size = 0;
    const Tag tag = find_tag(std::string_view(text).substr(at), size);
    if (tag == Tag::none) {
      ++at;
      continue;
    }
    write(std::string_view(text).substr(from, at - from), out);
    from = at;
    if (tag == Tag::perhaps) {
      unread_ = text.substr(at);
      return out;
    }
    writer_ = text.substr(at, size);
    from = at += size;
  }
  write(std::string_view(text).substr(from), out);
  return out;
}

void TaggedOutput::write(std::string_view text, std::string& out) {
  if (text.empty()) return;
  waiting_[writer_] += text;
  if (!any_open_ || open_ == writer_) settle(out);
  // mpirun's tags begin each line of a rank; a line without one is its own.
  if (text.back() == '\n') writer_.clear();
}

// The open line goes on as far as there is more of it; then come all lines that are complete, and one that is not.
void TaggedOutput::settle(std::string& out) {
  const auto lines = [&](std::string& text) {
    const std::size_t end = text.rfind('\n') + 1;  // npos + 1 is 0
    out += text.substr(0, end);
    text.erase(0, end);
    return end != 0;
  };
  if (any_open_) {
    std::string& text = waiting_[open_];
    if (!lines(text)) {
      out += text;
      text.clear();
      return;
    }
    any_open_ = false;
  }
  for (auto& [writer, text] : waiting_) lines(text);
  for (auto& [writer, text] : waiting_) {
    if (text.empty()) continue;
    out += text;
    text.clear();
    open_ = writer;
    any_open_ = true;
    return;
  }
}

std::string TaggedOutput::rest() {
  std::string out;
  write(unread_, out);
  unread_.clear();
  if (any_open_) {
    out += waiting_[open_];
    waiting_.erase(open_);
    any_open_ = false;
    if (!waiting_.empty() && std::any_of(waiting_.begin(), waiting_.end(), [](const auto& w) { return !w.second.empty(); })) out += '\n';
  }
  for (auto& [writer, text] : waiting_) {
    out += text;
    if (!text.empty() && text.back() != '\n') out += '\n';
  }
  waiting_.clear();
  return out;
}

}  // namespace tessera::cli
