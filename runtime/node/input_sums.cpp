#include "runtime/node/input_sums.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/report/ending.hpp"
#include "runtime/run.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

bool has_bytes(const abi::Value* v) {
  return v != nullptr && (v->type == abi::Type::bytes || v->type == abi::Type::string);
}
std::size_t sum_of(const abi::Value* v) {
  return std::hash<std::string_view>()({static_cast<const char*>(v->data), v->size});
}

bool damaged(const abi::Value& now, const abi::Value& was) {
  return now.type != was.type || now.size != was.size || now.data != was.data ||
         overrun_of_block(&now) != Overrun::none;
}

}  // namespace

void InputSums::note(const abi::Cf* c) {
  if ((c->flags & kGathered) == 0 || c->block->kind != abi::Kind::atomic) return;
  for (unsigned k = 0; k < c->block->input_count; ++k) {
    const abi::Value* v = abi::input(c, *c->block, k);
    // Whoever has damaged it before is told when it returns.
    if (has_bytes(v) && overrun_of_block(v) == Overrun::none)
      seen_.push_back({c->block->slots[k].text, v, *v, sum_of(v)});
  }
}

void InputSums::compare() {
  for (const Seen& s : std::exchange(seen_, {})) {
    const bool outside = damaged(*s.value, s.was);
    if (!outside && sum_of(s.value) == s.sum) continue;
    const std::string text = coded(
        fmt::format(
            "the kernel wrote {} its input `{}`, which others read as well: take it as a const, and write to a copy",
            outside ? "outside" : "to", s.name),
        "T417");
    if (outside) end_saying(text, "tessera: error: " + text, kExitProgram);
    throw ProgramError(0, text);
  }
}

}  // namespace tessera::runtime
