#include "runtime/fragment/output_names.hpp"

namespace tessera::runtime {

std::vector<abi::Name> names_in_hand(const abi::Cf* c) {
  std::vector<abi::Name> names;
  for_each_name(c, [&](const abi::Name& n) { names.push_back(n); });
  return names;
}

Indices all_indices(const abi::Cf* c) {
  const abi::Block& b = *c->block;
  unsigned all = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(b.input_count) + b.output_count; ++i) all += b.slots[i].indices;
  Indices values(all);
  if (b.indices != nullptr && all > 0) b.indices(c, values.data());
  return values;
}

std::vector<Indices> indices_of(const abi::Cf* c) {
  const Indices values = all_indices(c);
  std::vector<Indices> each;
  auto at = values.begin();
  for (unsigned i = 0; i < static_cast<unsigned>(c->block->input_count) + c->block->output_count; ++i) {
    each.emplace_back(at, at + c->block->slots[i].indices);
    at += c->block->slots[i].indices;
  }
  return each;
}

}  // namespace tessera::runtime
