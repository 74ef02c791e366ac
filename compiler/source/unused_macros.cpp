#include "compiler/source/unused_macros.hpp"

#include <set>

#include "compiler/source/scan.hpp"

namespace tessera::compiler {
namespace {

std::string name_at(const std::string& text, std::size_t k) { return text.substr(k, end_of_name(text, k) - k); }

}  // namespace

void check_macros(const Sources& sources, const std::vector<std::pair<std::string, Place>>& defined,
                  Diagnostics& diagnostics) {
  if (defined.empty()) return;
  std::set<std::string> mentioned;
  for (std::uint32_t number = 0; number < sources.size(); ++number) {
    const std::string& text = sources.file(number).text;
    for (std::size_t k = text.find('$'); k != text.npos; k = text.find('$', k + 1)) {
      if (text.compare(k, 2, "$$") == 0) return;
      mentioned.insert(name_at(text, k + 1));
    }
    for (std::size_t k = text.find("def"); k != text.npos; k = text.find("def", k + 1)) {
      const bool asks = k > 0 && (text[k - 1] == 'f' || (k > 1 && text.compare(k - 2, 2, "fn") == 0));
      if (!asks) continue;  // neither `ifdef` nor `ifndef`
      std::size_t name = k + 3;
      while (name < text.size() && (text[name] == ' ' || text[name] == '\t')) ++name;
      mentioned.insert(name_at(text, name));
    }
  }
  for (const auto& [name, place] : defined) {
    if (name[0] == '_' || mentioned.count(name) != 0) continue;
    diagnostics.warning(
        "T250", sources.span(place, static_cast<std::uint32_t>(name.size())),
        "macro " + quote(name) + " is never used; remove it, or write " + quote("$" + name) + " where it is meant");
  }
}

}  // namespace tessera::compiler
