#include "runtime/node/input_sums.hpp"

#include <fmt/format.h>

#include <string_view>

#include "runtime/fragment/cf.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/report/describe.hpp"
#include "runtime/report/program_error.hpp"

namespace tessera::runtime {
namespace {

bool has_bytes(const abi::Value* v) { return v != nullptr && (v->type == abi::Type::bytes || v->type == abi::Type::string); }
std::uint64_t sum_of(const abi::Value* v) {
  return !has_bytes(v) ? 0 : std::hash<std::string_view>()({static_cast<const char*>(v->data), v->size});
}

}  // namespace

void InputSums::note(const abi::Cf* c) {
  if ((c->flags & kGathered) == 0 || c->block->kind != abi::Kind::atomic) return;
  for (unsigned k = 0; k < c->block->input_count; ++k) sums_.push_back(sum_of(abi::input(c, *c->block, k)));
}

void InputSums::compare(const abi::Block* block, const abi::Cf* c) const {
  for (unsigned k = 0; k < sums_.size(); ++k) {
    const abi::Value* v = abi::input(c, *block, k);
    if (!has_bytes(v)) continue;
    const bool outside = overrun(v) != Overrun::none;
    if (!outside && sum_of(v) == sums_[k]) continue;
    throw ProgramError(0, coded(fmt::format("the kernel wrote {} its input `{}`, which others read as well: take it as a const, and write to a "
                                            "copy",
                                            outside ? "outside" : "to", block->slots[k].text),
                                "T417"));
  }
}

}  // namespace tessera::runtime
