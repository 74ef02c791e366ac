#include "compiler/emit/program.hpp"

#include <set>

#include "compiler/emit/block.hpp"
#include "compiler/emit/uses.hpp"

namespace tessera::compiler::emit {
namespace {

const char* bound_type(semantics::ParameterType t) {
  switch (t) {
    case semantics::ParameterType::integer:
      return "int";
    case semantics::ParameterType::longint:
      return "long";
    case semantics::ParameterType::real:
      return "double";
    case semantics::ParameterType::string:
      return "const char*";
    default:
      return "tessera::abi::Df*";
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
  return "extern \"C\" void r_" + k.symbol + bound + "static inline void k_" + k.symbol + "(" + list + ") { r_" +
         k.symbol + "(" + passed + "); }\n";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& i : items) out += (out.empty() ? "" : ", ") + i;
  return out;
}

// Stands where the namespace is opened.
constexpr char kStartMark[] = "\1";

// So much text of functions one file has; it takes the C++ compiler some seconds.
constexpr std::size_t kMostFunctions = std::size_t{256} << 10;

std::string start_of(const Context& context, const std::map<std::string, std::string>& by_reference,
                     const std::vector<std::string>& blocks, const std::string& uses) {
  std::string out = "// Translated by tessera from " + context.sources.file(0).path.filename().string() +
                    "; the contract is in tessera/abi.hpp.\n#include \"tessera/abi.hpp\"\n\n";
  std::set<std::string> declared;
  for (const block::Chain* chain : context.program.chains) {
    for (const auto& b : chain->blocks) {
      if (b->call && declared.insert(b->call->kernel->symbol).second) {
        const auto references = by_reference.find(b->call->kernel->symbol);
        out += declaration(*b->call->kernel, references == by_reference.end() ? "" : references->second);
      }
    }
  }
  return out + kStartMark +
         "[[maybe_unused]] constexpr Pos at(std::uint32_t line, std::uint32_t column, "
         "std::uint32_t file = 0) {\n  return make_pos(file, line, column);\n}\n"
         "[[maybe_unused]] TESSERA_HOT int whole(const Cf* c, unsigned word) {\n"
         "  return static_cast<int>(frame_int(c, word));\n}\n"
         "[[maybe_unused]] inline void replace(Value*& word, Value* v) {\n"
         "  release(word);\n  word = v;\n}\n\n"
         "extern const Block " +
         list_of(blocks) + ";\n\n" + uses;
}

// table_of is the table of blocks, and all that is known of the program as a whole.
std::string table_of(const Context& context, const semantics::Model& model, const std::uint64_t (&hash)[2],
                     const std::vector<std::string>& blocks, bool deletes) {
  std::string out;
  std::vector<std::string> addresses;
  for (const std::string& b : blocks) addresses.push_back("&" + b);
  std::vector<std::string> files;
  for (std::uint32_t k = 0; k < context.sources.size(); ++k) {
    files.push_back(literal(context.sources.file(k).name));
  }
  std::string layout;
  std::vector<std::string> names;
  for (const semantics::Variable* v : model.main_parameters) {
    layout += v->letter;
    names.push_back(literal(v->name));
  }
  const bool none = names.empty();
  out += "const Block* const all_blocks[] = {" + list_of(addresses) + "};\n";
  out += "const char* const all_files[] = {" + list_of(files) + "};\n";
  if (!none) out += "const char* const main_names[] = {" + list_of(names) + "};\n";
  return out + "const Program the_program = {kAbiVersion, " + std::to_string(blocks.size()) +
         ", all_blocks, all_files, " + std::to_string(files.size()) + ", {" + std::to_string(hash[0]) + "u, " +
         std::to_string(hash[1]) + "u}, " + files[0] + ", &B" + std::to_string(context.program.subs.front()->group()) +
         ", \"" + layout + "\", " + (none ? "nullptr" : "main_names") + ", " + std::to_string(names.size()) +
         (deletes ? ", true" : ", false") + "};\n";
}

}  // namespace

std::vector<std::string> program_texts(Context context, const semantics::Model& model, const std::uint64_t (&hash)[2],
                                       const std::map<std::string, std::string>& by_reference) {
  const block::Program& program = context.program;
  std::vector<std::string> blocks;
  for (const block::Chain* chain : program.chains) {
    for (const auto& b : chain->blocks) blocks.push_back("B" + std::to_string(b->index));
  }
  const UsesFunctions uses = uses_functions(context, program);
  context.uses = &uses.names;
  // Twice, not kept in between: the functions of a large program take a lot of memory.
  Alike alike;
  for (const block::Chain* chain : program.chains) {
    for (std::size_t k = 0; k < chain->blocks.size(); ++k)
      alike.add(chain->blocks[k]->index, block_functions(context, *chain, k));
  }
  std::vector<std::string> parts(1);
  std::set<std::uint32_t> here;  // blocks whose functions this part knows
  bool deletes = false;
  std::size_t functions = 0;
  for (const block::Chain* chain : program.chains) {
    for (std::size_t k = 0; k < chain->blocks.size(); ++k) {
      const BlockText text = block_text(context, *chain, k, alike);
      if (functions > 0 && functions + text.functions.size() > kMostFunctions) {
        parts.emplace_back();
        here.clear();
        functions = 0;
      }
      functions += text.functions.size();
      for (const char* const call : {"hint_delete", "scope_delete"})
        deletes = deletes || text.functions.find(call) != std::string::npos;
      if (here.insert(text.of).second && text.functions.empty()) parts.back() += text.declarations;
      ((parts.back() += text.functions) += text.tables);
    }
  }
  const std::string start = start_of(context, by_reference, blocks, uses.text);
  parts.front() += table_of(context, model, hash, blocks, deletes);
  // Names of several files are theirs only, as those of one are.
  const bool one = parts.size() == 1;
  const std::string open =
      one ? "\nnamespace tessera::abi {\nnamespace {\n\n"
          : "\n#pragma GCC visibility push(hidden)\nnamespace tessera::abi {\ninline namespace translated {\n\n";
  const std::string close =
      one ? "\n}  // namespace\n}  // namespace tessera::abi\n\n"
          : "\n}  // namespace translated\n}  // namespace tessera::abi\n#pragma GCC visibility pop\n\n";
  const std::size_t mark = start.find(kStartMark);
  const std::string head = start.substr(0, mark) + open + start.substr(mark + 1);
  for (std::string& part : parts) part.insert(0, head) += close;
  parts.front() +=
      "extern \"C\" const tessera::abi::Program* tessera_program() {\n"
      "  return &tessera::abi::the_program;\n}\n";
  return parts;
}

}  // namespace tessera::compiler::emit
