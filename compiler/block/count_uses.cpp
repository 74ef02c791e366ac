#include "compiler/block/count_uses.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "compiler/block/boxes.hpp"
#include "compiler/block/equations.hpp"
#include "compiler/block/undecided.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;

// What every assignment evaluates is to stay small, and abi::Places has room for no more.
constexpr std::size_t kMostReaders = 16;
class Counting {
 public:
  explicit Counting(Program& program) : program_(program) {}

  void run() {
    for (auto& sub : program_.subs) chain(*sub, nullptr);
    for (auto& [variable, of_name] : names_) {
      const bool deleted = std::any_of(of_name.deleted.begin(), of_name.deleted.end(),
                                       [&n = of_name](std::size_t d) { return has(n.dimensions, d); });
      if (of_name.dimensions.empty() || deleted) continue;
      if (of_name.known() && solve(of_name)) {
        finish(variable, of_name);
      } else {
        tell(variable, of_name);
      }
    }
  }

 private:
  struct OfName {
    std::size_t depth = 0;      // length of the path where it is declared
    bool declared = false;      // around what is looked at now
    const char* why = nullptr;  // its uses are not counted; "": it has advice that frees
    Extent at;                  // where that is seen
    bool known() const { return why == nullptr; }
    void unknown(const char* because, Extent where) {
      if (why == nullptr) why = because, at = where;
    }
    std::vector<Block*> deleters;
    std::vector<std::size_t> deleted;  // the numbers of indices in a `delete` of who does not read
    std::vector<ReadAt> reads;
    std::vector<Uses::Reader> readers;  // the same, solved
    std::vector<AssignedAt> assigned;
    std::vector<std::size_t> dimensions;  // that assignments have
  };

  static bool has(const std::vector<std::size_t>& list, std::size_t n) {
    return std::find(list.begin(), list.end(), n) != list.end();
  }
  static bool same(const NameUse& a, const NameUse& b) {
    return a.base == b.base &&
           std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(), equal);
  }
  void unknown(const NameUse& n, const char* why) {
    if (const auto it = names_.find(n.base); it != names_.end()) it->second.unknown(why, n.at);
  }
  void unknown(const std::vector<NameUse>& list, const char* why) {
    for (const NameUse& n : list) unknown(n, why);
  }

  // A `delete` counts only where it is about what is assigned: x[i] is not x[i][0].
  void deleted(const NameUse& n) {
    if (const auto it = names_.find(n.base); it != names_.end()) it->second.deleted.push_back(n.indices.size());
  }
  void deleted(const std::vector<NameUse>& list) {
    for (const NameUse& n : list) deleted(n);
  }

  void body(const Body& b) {
    for (const Declared& d : b.names) {
      OfName& n = names_[d.variable];
      n.depth = path_.size();
      n.declared = true;
      if (d.variable->counted) n.unknown("", d.variable->at);
      if (program_.once.count(d.variable) == 0)
        n.unknown("two statements, or iterations, might assign the same of it", d.variable->at);
    }
    deleted(b.deletes);
    for (const Step& step : b.steps) {
      if (const auto* spawn = std::get_if<Spawn>(&step)) {
        for (const semantics::Argument& a : spawn->arguments) {
          if (a.type == semantics::ParameterType::name)
            unknown(a.name, "here it is passed to a sub that calls itself, is large, or takes advice");
        }
        unknown(spawn->done, "`>>` assigns it");
        deleted(spawn->deletes);
        if (spawn->owned != nullptr) chain(*spawn->owned, spawn);
      } else if (const auto* count = std::get_if<CountReads>(&step)) {
        unknown(count->name, "");
      } else if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        Around condition;
        condition.condition = (*when)->condition;
        if (condition.condition != nullptr) {
          inside(condition, (*when)->body);
        } else {
          body((*when)->body);
        }
      }
    }
    for (const Declared& d : b.names) names_[d.variable].declared = false;
  }

  void inside(Around around, const Body& b) {
    path_.push_back(std::move(around));
    body(b);
    path_.pop_back();
  }

  void chain(const Chain& c, const Spawn* spawn) {
    if (c.kind == Kind::loop) return loop(c, *spawn);
    for (std::size_t at = 0; at < c.blocks.size(); ++at) {
      Block& b = *c.blocks[at];
      for (std::size_t k = 0; k < b.inputs.size(); ++k) read(c, at, k);
      assigns(b);
      if (!b.body) continue;
      Around around;
      if (b.kind == Kind::branch) {
        around.decided = &b;
        inside(around, *b.body);
      } else if (b.kind == Kind::range) {
        around.counter = b.counter;
        around.first = spawn->arguments[0].value;
        around.last = spawn->arguments[1].value;
        inside(around, *b.body);
      } else {
        body(*b.body);
      }
    }
  }

  void loop(const Chain& c, const Spawn& spawn) {
    While w;
    w.block = c.blocks.back().get();
    w.turns.counter = w.block->counter;
    w.turns.first = spawn.arguments[0].value;
    w.turns.decided = w.block;
    w.path = path_;
    for (const auto& [v, n] : names_) {
      if (n.declared) w.names.insert(v);
    }
    const auto [it, fresh] = outputs_.emplace(w.block->out.front().base, w);
    if (!fresh) it->second.reset();
    path_.push_back(w.turns);
    const std::size_t outside = path_.size() - 1;
    if (const ExprPtr bound = bound_of(c)) {
      path_.back().last = bound;
      path_.back().decided = nullptr;
      const syntax::Operator op = w.block->condition->op;
      const bool turn_at_bound = op == syntax::Operator::le || op == syntax::Operator::ge;
      if (!turn_at_bound) path_.emplace_back().condition = w.block->condition;
    }
    in_condition_ = true;
    for (std::size_t at = 0; at < c.blocks.size(); ++at) {
      for (std::size_t k = 0; k < c.blocks[at]->inputs.size(); ++k) read(c, at, k);
      assigns(*c.blocks[at]);
    }
    in_condition_ = false;
    body(*w.block->body);
    path_.resize(outside);
  }

  // `while i <= e, i = .. out w`, where `e` is an int and no data: a `for` by another name. That bound; or null.
  static ExprPtr bound_of(const Chain& c) {
    const Block& b = *c.blocks.back();
    if (c.blocks.size() > 1 || !b.inputs.empty() || b.condition->kind != Expr::Kind::binary) return nullptr;
    const std::set<const Variable*, ById> counter{b.counter};
    const auto counts = [&](const ExprPtr& e) { return e->kind == Expr::Kind::variable && e->variable == b.counter; };
    const ExprPtr &left = b.condition->kids[0], &right = b.condition->kids[1];
    const syntax::Operator op = b.condition->op;
    const bool up = op == syntax::Operator::le || op == syntax::Operator::lt;
    const bool down = op == syntax::Operator::ge || op == syntax::Operator::gt;
    if (!(up && counts(left)) && !(down && counts(right))) return nullptr;
    const ExprPtr& bound = up ? right : left;
    const bool is_int = bound->type == semantics::Type::integer;
    return is_int && mentioned(*bound, counter) == nullptr ? bound : nullptr;
  }

  void assigns(Block& b) {
    if (b.call) {
      for (const semantics::Argument& a : b.call->arguments) {
        if (a.type != semantics::ParameterType::name) continue;
        const auto it = names_.find(a.name.base);
        if (it == names_.end()) continue;
        it->second.assigned.push_back({a.name, path_});
        if (!has(it->second.dimensions, a.name.indices.size())) it->second.dimensions.push_back(a.name.indices.size());
      }
    }
    for (const auto& count : b.counts) unknown(count.name, "");
    unknown(b.out, "`out` assigns it");
    unknown(b.done, "`>>` assigns it");
    // Who reads what he deletes comes after its assignment: if nothing is left to delete, all have read it (finish).
    for (const NameUse& n : b.deletes) {
      const bool reads =
          std::any_of(b.inputs.begin(), b.inputs.end(), [&](const Input& in) { return same(in.name, n); });
      if (!reads) deleted(n);
      if (const auto it = names_.find(n.base); it != names_.end()) it->second.deleters.push_back(&b);
    }
  }

  void read(const Chain& c, std::size_t at, std::size_t input) {
    Block& b = *c.blocks[at];
    const Input& in = b.inputs[input];
    const auto it = names_.find(in.name.base);
    if (it == names_.end() || !it->second.known()) return;
    OfName& n = it->second;
    if (n.reads.size() == kMostReaders) {
      n.unknown("more than 16 statements read it, the last of them here", in.name.at);
      return;
    }
    ReadAt r{in, path_, c.locator, &b, input, in_condition_, {}};
    for (const ExprPtr& i : in.name.indices) r.by_outputs.push_back(out_index(c, at, i));
    n.reads.push_back(std::move(r));
  }

  // All readers, or none.
  bool solve(OfName& n) {
    std::vector<Undecided> all;
    for (const ReadAt& read : n.reads) {
      Uses::Reader& r = n.readers.emplace_back();
      r.block = read.block;
      r.input = read.number;
      if (const char* why = solve(read, r, all.emplace_back(program_, outputs_, n.assigned, n.depth))) {
        n.unknown(why, read.input.name.at);
        return false;
      }
    }
    for (std::size_t k = 0; k < all.size(); ++k) all[k].take_back(n.readers[k]);
    return true;
  }

  // Says why it can't be counted, or null.
  static const char* solve(const ReadAt& read, Uses::Reader& r, Undecided& undecided) {
    if (const char* why = undecided.begin(read, r)) return why;
    Equations equations(r.name.indices, r);
    if (!equations.solve() || !equations.narrow()) return "the indices do not tell which iterations read it here";
    if (const char* why = undecided.solved(r)) return why;
    // Bounds and conditions may ask for what is known where they stand.
    const auto known = [&](const Variable* v) { return equations.knows(v); };
    const bool all = made_of(r.when, known) && std::all_of(r.around.begin(), r.around.end(), [&](const Around& a) {
                       return made_of(a.condition, known);
                     });
    if (!all) return "it is read here under a condition on what its indices do not tell";
    if (made_of(read.locator, known)) r.locator = read.locator;
    return nullptr;
  }

  static bool makes_several(const Around& a) { return a.counter != nullptr; }
  // A loop whose number of turns stands in the program, and is no large one, makes no name grow.
  static bool makes_many(const Around& a) {
    constexpr std::int64_t kFew = 1000;
    if (!makes_several(a)) return false;
    const auto number = [](const ExprPtr& e) {
      return e != nullptr && e->kind == semantics::Expr::Kind::integer ? std::optional(e->integer) : std::nullopt;
    };
    const auto first = number(a.first), last = number(a.last);
    return !first || !last || *last > *first + kFew;
  }

  // Where a name grows with a loop, and nobody has said when it goes.
  void tell(const Variable* variable, const OfName& n) {
    const auto in_loop = [&](bool (*of)(const Around&)) {
      return std::any_of(n.assigned.begin(), n.assigned.end(), [&](const AssignedAt& a) {
        return std::any_of(a.path.begin() + static_cast<std::ptrdiff_t>(n.depth), a.path.end(), of);
      });
    };
    if (!in_loop(makes_several) || n.why == nullptr || *n.why == 0 || !n.deleters.empty() || !n.deleted.empty()) return;
    program_.long_lived.push_back({variable, n.why, n.at, in_loop(makes_many)});
  }

  void finish(const Variable* variable, OfName& n) {
    std::sort(n.dimensions.begin(), n.dimensions.end());
    auto& list = program_.uses[variable];
    std::erase_if(n.deleters, [&](Block* b) {
      return std::erase_if(b->deletes, [&](const NameUse& x) {
               return x.base == variable && !has(n.dimensions, x.indices.size());
             }) != 0;
    });
    const bool deleted = !n.deleters.empty() && read_once_each(n);
    // It goes with the last of them: a `delete` that comes sooner would be too early.
    for (Block* b : n.deleters) {
      if (!deleted) std::erase_if(b->deletes, [variable](const NameUse& x) { return x.base == variable; });
    }
    for (const std::size_t d : n.dimensions) {
      Uses u;
      u.dimensions = d;
      u.deleted = deleted;
      for (const Uses::Reader& reader : n.readers) {
        if (reader.name.indices.size() == d) u.readers.push_back(reader);
      }
      parameters(u);
      list.push_back(std::move(u));
    }
  }

  // One statement reads the name, and each element once: so it may as well delete it.
  static bool read_once_each(const OfName& n) {
    if (n.readers.size() != 1) return false;
    const Uses::Reader& r = n.readers.front();
    if (std::any_of(r.around.begin(), r.around.end(), [](const Around& a) { return a.decided != nullptr; }))
      return false;
    const auto counters =
        std::count_if(r.around.begin(), r.around.end(), [](const Around& a) { return a.counter != nullptr; });
    const auto once = std::count_if(r.tried.begin(), r.tried.end(), [](const Uses::Tried& t) { return t.once; });
    return counters == once + static_cast<std::ptrdiff_t>(r.solved.size());
  }

  static void parameters(Uses& u) {
    for (const Uses::Reader& r : u.readers) {
      for (const auto* list : {&r.solved, &r.checks}) {
        for (const Uses::Solved& s : *list) u.add_parameters(r, s.rest);
      }
      for (const Uses::Narrowed& n : r.narrowed) u.add_parameters(r, n.bound);
      for (const Uses::Tried& t : r.tried) {
        for (const Uses::Split& s : t.splits) {
          u.add_parameters(r, s.offset);
          u.add_parameters(r, s.rest);
          u.add_parameters(r, s.by);
        }
      }
      for (const auto& [index, value] : r.equal) u.add_parameters(r, value);
      for (const Around& a : r.around) {
        u.add_parameters(r, a.first);
        u.add_parameters(r, a.last);
        u.add_parameters(r, a.condition);
      }
      u.add_parameters(r, r.when);
    }
  }

  Program& program_;
  std::vector<Around> path_;
  bool in_condition_ = false;
  Undecided::Outputs outputs_;
  std::map<const Variable*, OfName, ById> names_;
};

}  // namespace

void count_uses(Program& program, Diagnostics&) { Counting(program).run(); }

}  // namespace tessera::compiler::block
