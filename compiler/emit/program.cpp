#include "compiler/emit/program.hpp"

#include <set>

#include "compiler/emit/block.hpp"
#include "compiler/emit/uses.hpp"

namespace tessera::compiler::emit {
namespace {

const char* bound_type(semantics::ParameterType t) {
  switch (t) {
    case semantics::ParameterType::integer: return "int";
    case semantics::ParameterType::real: return "double";
    case semantics::ParameterType::string: return "const char*";
    default: return "tessera::abi::Df*";
  }
}

// A kernel is declared under a name of ours and bound to its symbol: a kernel called `log` or `add`
// then meets neither the compiler's built-in function nor a name of the ABI. One that takes numbers
// by reference (& in `references`) gets a function before it that is called with values.
std::string declaration(const semantics::Kernel& k, const std::string& references) {
  std::string list, declared, passed;
  for (std::size_t i = 0; i < k.parameters.size(); ++i) {
    const std::string type = bound_type(k.parameters[i]);
    const std::string name = "p" + std::to_string(i);
    const std::string comma = i == 0 ? "" : ", ";
    const bool reference = i < references.size() && references[i] == '&';
    declared += comma + (reference ? "const " + type + "&" : type);
    list += comma + type + " " + name;
    passed += comma + name;
  }
  const std::string bound = "(" + declared + ") __asm__(\"" + k.symbol + "\");\n";
  if (references.empty()) return "extern \"C\" void k_" + k.symbol + bound;
  return "extern \"C\" void r_" + k.symbol + bound + "static inline void k_" + k.symbol + "(" + list +
         ") { r_" + k.symbol + "(" + passed + "); }\n";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& i : items) out += (out.empty() ? "" : ", ") + i;
  return out;
}

}  // namespace

std::string program_text(const Context& context, const semantics::Model& model,
                         const std::uint64_t (&hash)[2],
                         const std::map<std::string, std::string>& by_reference) {
  const block::Program& program = context.program;
  std::string out = "// Translated by tessera from " +
                    context.sources.file(0).path.filename().string() +
                    "; the contract is in tessera/abi.hpp.\n#include \"tessera/abi.hpp\"\n\n";
  std::set<std::string> declared;
  std::vector<std::string> blocks;
  for (const block::Chain* chain : program.chains) {
    for (const auto& b : chain->blocks) {
      blocks.push_back("B" + std::to_string(b->index));
      if (b->call && declared.insert(b->call->kernel->symbol).second) {
        const auto references = by_reference.find(b->call->kernel->symbol);
        out += declaration(*b->call->kernel, references == by_reference.end() ? "" : references->second);
      }
    }
  }
  out +=
      "\nnamespace tessera::abi {\nnamespace {\n\n"
      "[[maybe_unused]] constexpr Pos at(std::uint32_t line, std::uint32_t column, "
      "std::uint32_t file = 0) {\n  return make_pos(file, line, column);\n}\n"
      "[[maybe_unused]] TESSERA_HOT int whole(const Cf* c, unsigned word) {\n"
      "  return static_cast<int>(frame_int(c, word));\n}\n"
      "[[maybe_unused]] inline void replace(Value*& word, Value* v) {\n"
      "  release(word);\n  word = v;\n}\n\n";
  out += "extern const Block " + list_of(blocks) + ";\n\n";
  out += uses_text(context, program);
  for (const block::Chain* chain : program.chains) {
    for (std::size_t k = 0; k < chain->blocks.size(); ++k) out += block_text(context, *chain, k);
  }
  std::vector<std::string> addresses;
  for (const std::string& b : blocks) addresses.push_back("&" + b);
  std::vector<std::string> files;
  for (std::uint32_t k = 0; k < context.sources.size(); ++k) {
    files.push_back(literal(context.sources.file(k).name));
  }
  std::string layout;
  std::vector<std::string> names;
  for (const semantics::Variable* v : model.main->parameters) {
    layout += v->letter;
    names.push_back(literal(v->name));
  }
  const bool none = names.empty();
  out += "const Block* const all_blocks[] = {" + list_of(addresses) + "};\n";
  out += "const char* const all_files[] = {" + list_of(files) + "};\n";
  if (!none) out += "const char* const main_names[] = {" + list_of(names) + "};\n";
  out += "const Program the_program = {kAbiVersion, " + std::to_string(blocks.size()) +
         ", all_blocks, all_files, " + std::to_string(files.size()) + ", {" +
         std::to_string(hash[0]) + "u, " + std::to_string(hash[1]) + "u}, " + files[0] + ", &B" +
         std::to_string(program.subs.front()->group()) + ", \"" + layout + "\", " +
         (none ? "nullptr" : "main_names") + ", " + std::to_string(names.size()) + "};\n";
  out +=
      "\n}  // namespace\n}  // namespace tessera::abi\n\n"
      "extern \"C\" const tessera::abi::Program* tessera_program() {\n"
      "  return &tessera::abi::the_program;\n}\n";
  return out;
}

}  // namespace tessera::compiler::emit
