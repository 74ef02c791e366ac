// Hulls: what a `while` holds for who waits for what it gives out.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/block/hulls.hpp"
#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using syntax::Operator;

// One `while` may begin where another has ended, so many times.
constexpr int kMostInARow = 8;

bool all_known(const Expr& e, const Hulls::Names& known, const Variable* also) {
  if (e.variable != nullptr && e.variable != also && known.count(e.variable) == 0) return false;
  return std::all_of(e.kids.begin(), e.kids.end(), [&](const ExprPtr& k) { return all_known(*k, known, also); });
}

// As the variable becomes larger: does the bound (1), become smaller (-1), or neither?
std::optional<int> way(const Expr& e, const Variable* v) {
  if (e.kind == Expr::Kind::variable) return e.variable == v ? 1 : 0;
  if (e.kind == Expr::Kind::integer) return 0;
  if (e.kind != Expr::Kind::binary) return std::nullopt;
  auto a = way(*e.kids[0], v), b = way(*e.kids[1], v);
  if (!a || !b) return std::nullopt;
  const auto left = constant_of(*e.kids[0]), right = constant_of(*e.kids[1]);
  const auto times = [](int goes, std::int64_t by) { return by > 0 ? goes : by < 0 ? -goes : 0; };
  switch (e.op) {
    case Operator::sub:
      b = -*b;
      [[fallthrough]];
    case Operator::add:
      if (*a != 0 && *b != 0 && *a != *b) return std::nullopt;
      return *a != 0 ? a : b;
    case Operator::mul:
      if (*a == 0 && *b == 0) return 0;
      if (!left && !right) return std::nullopt;
      return right ? times(*a, *right) : times(*b, *left);
    case Operator::div:
      if (*a == 0 && *b == 0) return 0;
      if (!right || *right <= 0) return std::nullopt;
      return a;
    default:
      return *a == 0 && *b == 0 ? std::optional(0) : std::nullopt;
  }
}

}  // namespace

// `once`: the outermost body in which this one, of a block of `c`, is made once, on no condition. `known`: further out.
void Hulls::find_ends(const Chain& c, const Body& b, const Body& once, Names known) {
  known.insert(c.parameters.begin(), c.parameters.end());
  known.insert(c.temporaries.begin(), c.temporaries.end());
  if (c.last().counter != nullptr) known.insert(c.last().counter);
  for (const Declared& d : b.names) declared_in_[d.variable] = {&b, &once};
  for (const Step& step : b.steps) {
    if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) find_ends(c, (*when)->body, (*when)->body, known);
    const auto* spawn = std::get_if<Spawn>(&step);
    if (spawn == nullptr || spawn->owned == nullptr) continue;
    const Block& last = spawn->owned->last();
    if (last.kind == Kind::loop && last.out[0].indices.empty())
      ends_[last.out[0].base] = {spawn->owned.get(), &once, known};
    for (const auto& block : spawn->owned->blocks) {
      if (block->body) find_ends(*spawn->owned, *block->body, last.kind == Kind::eval ? once : *block->body, known);
    }
  }
}

void Hulls::find_inputs(const Chain& c) {
  const auto in = [&](const Chain& chain) {
    for (const auto& b : chain.blocks) {
      for (std::size_t k = 0; k < b->inputs.size(); ++k) {
        const NameUse& of = b->inputs[k].name;
        if (b->inputs[k].when != nullptr || !of.indices.empty() || ends_.count(of.base) == 0) continue;
        const Variable* v = program_.temporary('i', of.base->name, of.at);
        inputs_[b.get()][static_cast<std::int64_t>(k)] = v;
        given_out_[v] = of.base;
      }
    }
  };
  in(c);
  for (const auto& b : c.blocks) {
    if (b->body) for_each_chain(*b->body, in);
  }
}

// What one `while` holds for others is what they would, as of the end of another, which then holds that, too.
void Hulls::find_after() {
  if (inputs_.empty()) return;
  for (int round = 0; round < kMostInARow; ++round) {
    more_after_ = false;
    const auto all = [&](const Chain& c) {
      for (std::size_t k = 0; k < c.blocks.size(); ++k) of(c, k);
    };
    for (const auto& sub : program_.subs) {
      all(*sub);
      for (const auto& b : sub->blocks) {
        if (b->body) for_each_chain(*b->body, all);
      }
    }
    if (!more_after_) return;
  }
  inputs_.clear();
  after_.clear();
}

bool Hulls::is_handed(const Variable* base, const Variable* out) const {
  const auto a = declared_in_.find(base), b = declared_in_.find(out);
  return a != declared_in_.end() && b != declared_in_.end() && a->second.body == b->second.body;
}

Boxes Hulls::after(const Chain& loop, bool handed) const {
  Boxes out;
  const auto it = after_.find(&loop);
  if (it == after_.end()) return out;
  for (const auto& [base, boxes] : it->second) {
    if (is_handed(base, loop.last().out[0].base) == handed) out[base] = boxes;
  }
  return out;
}

// An end that nobody knows yet, of those the box is told by.
const Variable* Hulls::late_in(const Box& box) const {
  for (const Side& s : box) {
    for (const ExprPtr& e : {s.first, s.last}) {
      if (const Variable* v = e == nullptr ? nullptr : mentioned(*e, late_)) return v;
    }
  }
  return nullptr;
}

// Is that box what a `while` holds for others? Then who would hold it holds what the `while` gives out.
bool Hulls::holds_end(const Variable* base, const Box& box, Boxes& out) {
  const Variable* late = late_in(box);
  if (late == nullptr) return false;
  const Variable* given_out = given_out_.at(late);
  const End& of = ends_.at(given_out);
  const auto declared = declared_in_.find(base);
  if (declared == declared_in_.end() || declared->second.once != of.body) return false;
  const Chain& loop = *of.loop;
  Known then;
  then[late].first = then[late].last = as_bound(loop.last().counter, loop.at);
  Box as_of(kMostIndices);
  bool told = false;
  std::swap(known_, then);
  for (std::size_t k = 0; k < kMostIndices; ++k) {
    // Only such as becomes smaller with each turn, and is known where the `while` is.
    const auto side = [&](const ExprPtr& e, bool upper) -> ExprPtr {
      if (e == nullptr || !all_known(*e, of.known, late)) return nullptr;
      const auto goes = way(*e, late);
      if (!goes || *goes == (upper ? 1 : -1)) return nullptr;
      told = told || *goes != 0;
      return end(e, upper);
    };
    as_of[k] = {side(box[k].first, false), side(box[k].last, true)};
  }
  std::swap(known_, then);
  if (!told) return false;
  std::vector<Box>& boxes = after_[&loop][base];
  if (std::none_of(boxes.begin(), boxes.end(), [&](const Box& b) { return within(as_of, b); })) {
    put(boxes, std::move(as_of));
    more_after_ = true;
  }
  if (is_handed(base, given_out) && out[given_out].empty()) out[given_out].emplace_back(kMostIndices);
  return true;
}

}  // namespace tessera::compiler::block
