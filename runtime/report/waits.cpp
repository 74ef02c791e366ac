#include "runtime/report/waits.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/fragment/input_names.hpp"
#include "runtime/fragment/output_names.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

// Nothing that it makes assigns the name, which it has in hand perhaps as another parameter as well.
bool only_reads(const abi::Cf* c, const abi::Name& n) {
  const abi::Block& b = *c->block;
  int as_read = 0, in_hand = 0;
  for (unsigned v = 0; v < b.var_count; ++v) {
    as_read += b.vars[v].kind == 'o' && abi::frame_name(c, b.vars[v].word).id == n.id ? 1 : 0;
  }
  for (const abi::Name& other : names_in_hand(c)) in_hand += other.id == n.id ? 1 : 0;
  return as_read == in_hand;
}

// A call of a kernel that runs once, and has only to run. (One that repeats assigns what its later turns do, too.)
bool only_calls(const abi::Program& program, const abi::Block& b) {
  const bool last = b.index + 1 == program.block_count || program.blocks[b.index + 1]->group != b.group;
  return b.kind == abi::Kind::atomic && (b.flags & abi::kRepeats) == 0 && last;
}

// A record knows the names that it has in hand, but not which of them is written as what. Those that make its inputs
// are found by trying; an output written with the same name is one of that. The others are of what remains, among which
// may be names whose values it has had.
void add_outputs(const abi::Cf* c, const std::vector<abi::Name>& hand, const std::vector<Indices>& indices,
                 const std::vector<int>& base, WaitingFragment& w) {
  const abi::Block& b = *c->block;
  std::vector<unsigned> unknown;
  for (unsigned o = b.input_count; o < static_cast<unsigned>(b.input_count) + b.output_count; ++o) {
    int from = -1;
    for (unsigned k = 0; k < b.input_count; ++k) {
      if (std::strcmp(b.slots[k].base, b.slots[o].base) == 0) from = std::max(from, base[k]);
    }
    if (from >= 0) {
      w.gives.push_back(element(hand[static_cast<std::size_t>(from)], indices[o]).id.lo);
    } else {
      unknown.push_back(o);
    }
  }
  std::vector<abi::Name> rest;
  for (std::size_t h = 0; h < hand.size(); ++h) {
    if (std::find(base.begin(), base.end(), static_cast<int>(h)) == base.end()) rest.push_back(hand[h]);
  }
  const bool certain =
      std::all_of(unknown.begin(), unknown.end(), [&](unsigned o) { return indices[o] == indices[unknown.front()]; });
  for (const unsigned o : unknown) {
    for (const abi::Name& n : rest) (certain ? w.gives : w.may_give).push_back(element(n, indices[o]).id.lo);
  }
}

}  // namespace

std::uint64_t name_of_input(const abi::Cf* c, unsigned slot) { return InputNames(c)[slot].id.lo; }

WaitingFragment waits_of(const abi::Program& program, const abi::Cf* c, const std::vector<unsigned>& slots) {
  WaitingFragment w;
  const std::vector<abi::Name> hand = names_in_hand(c);
  const InputNames names(c);
  std::vector<int> base(c->block->input_count, -1);  // number in hand
  std::vector<Indices> indices;
  try {
    indices = indices_of(c);
    for (unsigned k = 0; k < names.size(); ++k) {
      for (std::size_t h = 0; h < hand.size() && base[k] < 0; ++h) {
        if (element(hand[h], indices[k]).id == names[k].id) base[k] = static_cast<int>(h);
      }
    }
  } catch (const ProgramError&) {
    indices.clear();  // an output that it could not assign
  }
  for (const unsigned k : slots) {
    const abi::Id of = base[k] < 0 ? names[k].id : hand[static_cast<std::size_t>(base[k])].id;
    w.needs.push_back({names[k].id.lo, of.lo});
  }
  if (only_calls(program, *c->block) && !indices.empty()) {
    add_outputs(c, hand, indices, base, w);
  } else if (!only_calls(program, *c->block)) {
    for (const abi::Name& n : hand) {
      if (!only_reads(c, n)) w.may_give.push_back(n.id.lo);
    }
  }
  return w;
}

}  // namespace tessera::runtime
