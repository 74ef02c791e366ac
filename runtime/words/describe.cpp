#include "runtime/words/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/words/program_error.hpp"

namespace tessera::runtime {

const char* type_name(abi::Type t) {
  switch (t) {
    case abi::Type::none:
      return "nothing";
    case abi::Type::integer:
      return "an int";
    case abi::Type::longint:
      return "a long";
    case abi::Type::real:
      return "a real";
    case abi::Type::string:
      return "a string";
    case abi::Type::bytes:
      return "opaque bytes";
    case abi::Type::memo:
      return "a memo of a journal";
  }
  return "unknown";
}

std::string place(const abi::Program& program, abi::Pos pos) {
  const auto file = static_cast<std::uint32_t>(pos >> 48);
  const auto line = static_cast<std::uint32_t>(pos >> 16);
  const char* name = file < program.file_count ? program.files[file] : program.name;
  return fmt::format("{}:{}", name, line);
}

std::string called_at(const abi::Program& program, const abi::Block& b) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> places;
  for (const abi::Pos* p = b.callers; p != nullptr && *p != 0; ++p) {
    std::string at = place(program, *p);
    if (std::find(places.begin(), places.end(), at) == places.end()) places.push_back(std::move(at));
  }
  std::string text;
  const bool nested = (b.flags & abi::kInlined) != 0;
  for (std::size_t i = 0; i < std::min(places.size(), kMost); ++i) {
    const bool last = i > 0 && i + 1 == places.size();
    text += (i == 0 || nested ? ", called at " : last ? " or " : ", ") + places[i];
  }
  if (places.size() > kMost && !nested) text += fmt::format(" or {} more", places.size() - kMost);
  return text;
}

std::string describe(const abi::Program& program, const abi::Block& b) {
  return fmt::format("`{}` at {}{}", b.label, place(program, b.pos), called_at(program, b));
}

std::string describe(const abi::Program& program, const abi::Cf* c) {
  const abi::Block& b = *c->block;
  std::string vars;
  for (unsigned i = 0; i < b.var_count; ++i) {
    const abi::VarInfo& v = b.vars[i];
    std::string text;
    if (v.kind == 'i' || v.kind == 'l') {
      text = fmt::format("{}={}", v.name, abi::frame_int(c, v.word));
    } else if (v.kind == 'r') {
      text = fmt::format("{}={}", v.name, abi::frame_real(c, v.word));
    } else if (v.kind == 's' && abi::frame_value(c, v.word) != nullptr) {
      const abi::Value* s = abi::frame_value(c, v.word);
      text = fmt::format("{}=\"{:.40}\"", v.name, static_cast<const char*>(s->data));
    }
    if (!text.empty()) vars += (vars.empty() ? "" : ", ") + text;
  }
  if (!vars.empty()) vars = " (" + vars + ")";
  return fmt::format("`{}` at {}{}{}", b.text, place(program, b.pos), vars, called_at(program, b));
}

std::string slot_text(const abi::Cf* c, unsigned slot) {
  const abi::Block& b = *c->block;
  if (slot >= static_cast<unsigned>(b.input_count) + b.output_count) return "?";
  unsigned all = 0, before = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(b.input_count) + b.output_count; ++i) {
    if (i < slot) before += b.slots[i].indices;
    all += b.slots[i].indices;
  }
  std::string text = b.slots[slot].base;
  if (b.indices == nullptr || b.slots[slot].indices == 0) return text;
  std::vector<std::int64_t> values(all);
  b.indices(c, values.data());
  for (unsigned i = 0; i < b.slots[slot].indices; ++i) {
    text += fmt::format("[{}]", values[before + i]);
  }
  return text;
}

bool calls_kernel(const abi::Program& program, std::uint32_t group) {
  for (std::uint32_t i = group; i < program.block_count && program.blocks[i]->group == group; ++i) {
    if (program.blocks[i]->kind == abi::Kind::atomic) return true;
  }
  return false;
}

}  // namespace tessera::runtime
