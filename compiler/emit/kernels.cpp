// In-place kernels: `C++ head` and `C++ sub` texts as functions that the program calls.
#include "compiler/emit/program.hpp"

namespace tessera::compiler::emit {
namespace {

// line_directive makes the C++ compiler speak of the user's file.
std::string line_directive(const Context& context, Extent at) {
  Place place = at.begin < context.text.at.size() ? context.text.at[at.begin] : Place{};
  return "#line " + std::to_string(context.sources.line_column(place).line) + " " +
         literal(context.sources.file(place.file).name) + "\n";
}

// in_column puts the text, with what stands before it in place of `${{`, where it stands in the user's line.
std::string in_column(const Context& context, Extent at, const std::string& before) {
  const Place place = at.begin < context.text.at.size() ? context.text.at[at.begin] : Place{};
  const auto column = static_cast<std::size_t>(context.sources.line_column(place).column);
  return std::string(column > before.size() ? column - 1 - before.size() : 0, ' ') + before;
}

// lacks_braces: the text is what stands inside a function. `${{` leaves the braces out; behind `${<END}` they
// may be left out, too.
bool lacks_braces(const semantics::ForeignText& body) {
  if (body.braces) return true;
  const std::string& text = body.text;
  std::size_t k = 0;
  for (;;) {
    k = text.find_first_not_of(" \t\r\n\v\f", k);
    if (k == text.npos) return true;
    const bool line = text.compare(k, 2, "//") == 0;
    if (!line && text.compare(k, 2, "/*") != 0) return text[k] != '{';
    const std::size_t end = line ? text.find('\n', k) : text.find("*/", k + 2);
    if (end == text.npos) return true;
    k = end + (line ? 1 : 2);
  }
}

const char* c_type(semantics::ParameterType t) {
  switch (t) {
    case semantics::ParameterType::integer:
      return "int ";
    case semantics::ParameterType::longint:
      return "long ";
    case semantics::ParameterType::real:
      return "double ";
    case semantics::ParameterType::string:
      return "const char *";
    case semantics::ParameterType::value:
      return "const InputDF &";
    case semantics::ParameterType::name:
      return "OutputDF &";
  }
  return "";
}

}  // namespace

std::string kernels_text(const Context& context, const semantics::Model& model) {
  if (model.heads.empty() && model.in_place.empty()) return "";
  std::string out = "#include \"ucenv.h\"\n";
  for (const semantics::ForeignText& head : model.heads) {
    out += line_directive(context, head.at) + in_column(context, head.at, "") + head.text + "\n";
  }
  for (const semantics::InPlaceKernel& k : model.in_place) {
    std::string list;
    for (std::size_t p = 0; p < k.kernel->parameters.size(); ++p) {
      list += (p == 0 ? "" : ", ") + std::string(c_type(k.kernel->parameters[p])) + k.kernel->parameter_names[p];
    }
    out += line_directive(context, k.kernel->at);
    out += "extern \"C\" void " + k.kernel->symbol + "(" + list + ")";
    out += "\n" + line_directive(context, k.body.at);
    const bool braces = lacks_braces(k.body);
    out += in_column(context, k.body.at, braces ? "{" : "") + k.body.text +
           (k.body.braces ? "}\n"
            : braces      ? "\n}\n"
                          : "\n");
  }
  return out;
}

}  // namespace tessera::compiler::emit
