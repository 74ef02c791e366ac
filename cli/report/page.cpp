#include "cli/report/page.hpp"

#include <stdexcept>

#include "cli/report/run_data.hpp"

namespace tessera::cli {
namespace {

using PageJson = nlohmann::json;

// As the content of a script element, which `</script` ends, and `<!--` has end elsewhere.
std::string in_script(const std::string& text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string page_part(const std::string& name) {
  for (const PagePart& p : kPageParts) {
    if (p.name == name) return p.text;
  }
  throw std::logic_error("the page has no part " + name);
}

}  // namespace

std::string page_of(const std::vector<RunRecord>& runs) {
  PageJson all = PageJson::array();
  for (const RunRecord& r : runs) all.push_back(RunData(r).json());
  std::string script, page = page_part("page.html");
  for (const PagePart& p : kPageParts) {
    if (std::string(p.name).ends_with(".js")) script += p.text;
  }
  const auto fill = [&](const std::string& mark, const std::string& text) {
    const std::size_t at = page.find(mark);
    if (at == std::string::npos) throw std::logic_error("the page has no place for " + mark);
    page.replace(at, mark.size(), text);
  };
  fill("/*STYLE*/", page_part("style.css"));
  fill("/*SCRIPT*/", script);
  // Names of files and statements are whatever somebody wrote: replace what is no UTF-8.
  fill("/*DATA*/", in_script(all.dump(-1, ' ', false, PageJson::error_handler_t::replace)));
  return page;
}

}  // namespace tessera::cli
