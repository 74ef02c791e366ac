#include "runtime/node/arguments.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace tessera::runtime {
namespace {

template <class T>
bool parse(const std::string& text, T& out) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && at == end && !text.empty();
}

}  // namespace

std::string parameters_of_main(const abi::Program& p) {
  std::string text;
  for (std::uint32_t i = 0; i < p.main_params; ++i) {
    const char kind = p.main_layout[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                        kind == 'i'   ? "int"
                        : kind == 'l' ? "long"
                        : kind == 'r' ? "real"
                        : kind == 's' ? "string"
                        : kind == 'v' ? "value"
                                      : "name",
                        p.main_names[i]);
  }
  return text;
}

const char* wanted_by(char kind) {
  switch (kind) {
    case 'i':
      return "an int";
    case 'l':
      return "a long";
    case 'r':
      return "a real";
    default:
      return "a string";
  }
}

std::string check_arguments(const abi::Program& p, const std::vector<std::string>& arguments) {
  if (std::string_view(p.main_layout).find_first_of("vn") != std::string_view::npos) {
    return fmt::format(
        "{}: `main` has values or names among its parameters, which only another program can give: it is a "
        "library (docs/library.md)",
        p.name);
  }
  const std::string usage = parameters_of_main(p);
  if (arguments.size() != p.main_params) {
    return fmt::format("{}: main({}) takes {} program argument{}, but {} {} given{}", p.name, usage, p.main_params,
                       p.main_params == 1 ? "" : "s", arguments.size(), arguments.size() == 1 ? "was" : "were",
                       !arguments.empty() && arguments[0] == "--" ? ": a built program takes them without `--`" : "");
  }
  for (std::uint32_t i = 0; i < p.main_params; ++i) {
    std::int32_t n = 0;
    std::int64_t l = 0;
    double r = 0;
    const char kind = p.main_layout[i];
    if ((kind == 'i' && !parse(arguments[i], n)) || (kind == 'l' && !parse(arguments[i], l)) ||
        (kind == 'r' && !parse(arguments[i], r))) {
      return fmt::format("{}: program argument {} is `{}`, but main({}) needs {} for `{}`", p.name, i + 1, arguments[i],
                         usage, wanted_by(kind), p.main_names[i]);
    }
  }
  return {};
}

void set_main_arguments(const abi::Program& p, const std::vector<std::string>& arguments,
                        const std::vector<ValueRef>* given, abi::Cf* main) {
  unsigned word = 0;  // names are not in the frame: they are declared around `main`
  for (std::uint32_t i = 0; i < p.main_params; ++i) {
    const char kind = p.main_layout[i];
    if (kind == 'n') continue;
    if (kind == 'i') {
      std::int32_t n = 0;
      parse(arguments[i], n);
      abi::frame_int(main, word) = n;
    } else if (kind == 'l') {
      parse(arguments[i], abi::frame_int(main, word));
    } else if (kind == 'r') {
      parse(arguments[i], abi::frame_real(main, word));
    } else if (kind == 'v') {
      abi::frame_value(main, word) = abi::retain((*given)[i].get());
    } else {
      abi::frame_value(main, word) = abi::value_string(arguments[i].data(), arguments[i].size());
    }
    ++word;
  }
}

}  // namespace tessera::runtime
