#include "compiler/block/undecided.hpp"

#include <algorithm>

#include "compiler/block/equations.hpp"
#include "compiler/block/sum.hpp"
#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using syntax::Operator;

// A larger step from a turn to what it assigns, or reads, is not looked at.
constexpr std::int64_t kFarthest = 1 << 10;

ExprPtr plus(const ExprPtr& a, std::int32_t n) {
  return n == 0 ? a : binary(Operator::add, a, semantics::make_integer(n, a->at));
}

bool same_place(const Around& a, const Around& b) {
  if (a.counter != nullptr)
    return a.counter == b.counter;  // of one loop, also where its end is known here and not there
  return b.counter == nullptr && a.condition == b.condition && a.decided == b.decided;
}

bool same(const NameUse& a, const NameUse& b) {
  return a.base == b.base && std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(), equal);
}

// `a - b`, if that is a number.
std::optional<std::int32_t> difference(const ExprPtr& a, const ExprPtr& b) {
  const auto x = sum_of(*a), y = sum_of(*b);
  if (!x || !y) return std::nullopt;
  Sum d = *x;
  d.add(*y, -1);
  if (!d.terms.empty() || std::abs(d.constant) > kFarthest) return std::nullopt;
  return static_cast<std::int32_t>(d.constant);
}

}  // namespace

std::optional<OutIndex> out_index(const Chain& chain, std::size_t position, const ExprPtr& e) {
  if (e->kind != Expr::Kind::variable || e->variable->kind != Variable::Kind::temporary) return std::nullopt;
  for (std::size_t k = 0; k < position; ++k) {
    const Block& b = *chain.blocks[k];
    for (const Set& s : b.sets) {
      if (s.variable != e->variable) continue;
      OutIndex out;
      const Expr* value = s.value.get();
      const bool adds = value->kind == Expr::Kind::binary && (value->op == Operator::add || value->op == Operator::sub);
      if (adds && value->kids[1]->kind == Expr::Kind::integer && std::abs(value->kids[1]->integer) <= kFarthest) {
        const auto more = static_cast<std::int32_t>(value->kids[1]->integer);  // at most kFarthest
        out.more = value->op == Operator::add ? more : -more;
        value = value->kids[0].get();
      }
      if (value->kind != Expr::Kind::input) return std::nullopt;
      const Input& in = b.inputs[static_cast<std::size_t>(value->integer)];
      if (in.when != nullptr) return std::nullopt;
      out.out = in.name;
      return out;
    }
  }
  return std::nullopt;
}

const char* Undecided::begin(const ReadAt& read, Uses::Reader& r) {
  after_ = nullptr;
  in_condition_ = read.in_condition;
  r.name = read.input.name;
  r.when = read.input.when;
  r.around.assign(read.path.begin() + static_cast<std::ptrdiff_t>(depth_), read.path.end());
  for (std::size_t k = 0; k < r.name.indices.size(); ++k) {
    if (!read.by_outputs[k]) continue;
    if (const char* why = begin_after(*read.by_outputs[k], read, r)) return why;
    r.name.indices[k] =
        plus(semantics::make_variable(after_->turns.counter, r.name.indices[k]->at), read.by_outputs[k]->more);
  }
  while_.reset();
  branches_ = false;
  for (std::size_t k = 0; k < r.around.size(); ++k) {
    if (r.around[k].decided == nullptr) continue;
    if (r.around[k].counter == nullptr) {
      branches_ = true;
    } else if (while_) {
      return "it is read here in a `while` in a `while`";
    } else {
      while_ = k;
    }
  }
  r.perhaps = branches_ || after_ != nullptr;
  return nullptr;
}

// Puts the `while` that gave out the index around the reader.
const char* Undecided::begin_after(const OutIndex& index, const ReadAt& read, Uses::Reader& r) {
  static constexpr const char* kData = "only when the program runs it is known which of them is read here";
  const auto it = outputs_.find(index.out.base);
  if (it == outputs_.end() || !it->second || program_.once.count(index.out.base) == 0) return kData;
  const While& w = *it->second;
  if ((after_ != nullptr && after_ != &w) || w.names.count(r.name.base) == 0) return kData;
  if (!same(w.block->out.front(), index.out)) return kData;
  // The reader may be in more loops than the `while`, which then is the same for all of their iterations.
  const bool begins = w.path.size() >= depth_ && w.path.size() <= read.path.size() &&
                      std::equal(w.path.begin(), w.path.end(), read.path.begin(), same_place);
  if (!begins) return kData;
  if (after_ != nullptr) return nullptr;
  after_ = &w;
  const auto at = r.around.begin() + static_cast<std::ptrdiff_t>(w.path.size() - depth_);
  const bool decided = std::any_of(at, r.around.end(), [](const Around& a) { return a.decided != nullptr; });
  if (decided) return "it is read here after a `while`, under a condition that reads data fragments";
  r.around.insert(at, w.turns);
  return nullptr;
}

// What somebody takes back should come to be, most of the time: else it is remembered until its scope ends.
bool Undecided::is_assigned_anyway() const {
  std::size_t perhaps = 0;
  for (const AssignedAt& a : assigned_) {
    const bool decided = std::any_of(a.path.begin() + static_cast<std::ptrdiff_t>(depth_), a.path.end(),
                                     [](const Around& b) { return b.decided != nullptr && b.counter == nullptr; });
    if (!decided || ++perhaps > 1) return true;
  }
  return false;
}

const char* Undecided::solved(const Uses::Reader& r) {
  if (branches_ && !is_assigned_anyway()) return "it is assigned and read under conditions that read data fragments";
  if (while_ && !ends_rows(r)) return "the `while` around the reader does not go through it row by row";
  return nullptr;
}

// Which rows of the name are there when the `while` ends? Some index must be its counter and so much more, for the
// reader and for all that its turns assign; for what is assigned before it, its start and so much more.
bool Undecided::ends_rows(const Uses::Reader& r) {
  const Around& turns = r.around[*while_];
  const auto counter = semantics::make_variable(turns.counter, r.name.at);
  for (std::size_t k = 0; k < r.name.indices.size(); ++k) {
    const auto read = difference(r.name.indices[k], counter);
    if (!read) continue;
    std::optional<std::int32_t> most;
    bool known = true;
    for (const AssignedAt& a : assigned_) {
      if (a.name.indices.size() != r.name.indices.size()) continue;
      const bool turn =
          std::any_of(a.path.begin(), a.path.end(), [&](const Around& b) { return same_place(b, turns); });
      auto row = difference(a.name.indices[k], turn ? counter : turns.first);
      if (row && !turn) ++*row;  // as if the turn before the first had assigned it
      known = known && row;
      if (known) most = std::max(most.value_or(*row), *row);
    }
    if (!known || !most) continue;
    // Ends at t: turn t - 1 was the last, so rows go to t - 1 + most; turn s reads row s + read.
    ahead_ = *most - 1 - *read;
    return true;
  }
  return false;
}

// What is around the reader from there on. A `while` would turn from its start on.
std::vector<Around> Undecided::within(const Uses::Reader& r, std::size_t from) const {
  std::vector<Around> out;
  for (std::size_t k = from; k < r.around.size(); ++k) {
    Around a = r.around[k];
    if (a.counter == nullptr && a.condition == nullptr) continue;
    if (a.decided != nullptr) a.last = plus(a.first, ahead_);
    out.push_back(std::move(a));
  }
  return out;
}

void Undecided::take_back(const Uses::Reader& r) const {
  for (std::size_t k = 0; k < r.around.size(); ++k) {
    const Around& by = r.around[k];
    if (by.decided == nullptr) continue;
    if (by.counter == nullptr) {
      by.decided->otherwise.push_back({within(r, k + 1), r.when, r.name});
      continue;
    }
    const auto counter = semantics::make_variable(by.counter, r.name.at);
    const auto would_turn = [&](std::int32_t first, std::int32_t last) {
      Around turns;
      turns.counter = by.counter;
      turns.first = plus(counter, first);
      turns.last = plus(counter, last);
      TakenBack t{within(r, k + 1), r.when, r.name};
      t.around.insert(t.around.begin(), std::move(turns));
      return t;
    };
    // At its end the condition has been asked, and who reads what the `while` gives out is to come.
    const std::int32_t first = in_condition_ || after_ != nullptr ? 1 : 0;
    if (ahead_ >= first) by.decided->otherwise.push_back(would_turn(first, ahead_));
    if (after_ == nullptr) continue;
    // It did not end in the turn before. (Not: in this turn. Not all of what that reads is there yet.)
    TakenBack before = would_turn(-1, -1);
    Around begun;
    begun.condition = binary(Operator::ge, counter, by.first);
    before.around.insert(before.around.begin() + 1, std::move(begun));
    by.decided->otherwise.push_back(before);
    by.decided->each_turn.push_back(std::move(before));
  }
}

}  // namespace tessera::compiler::block
