#include "compiler/block/sweep_names.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "compiler/block/hulls.hpp"
#include "compiler/block/same_names.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using Names = Hulls::Names;

constexpr std::size_t kMostKeys = 2;
// Of one record; where there are more, nothing is swept.
constexpr std::size_t kMostHulls = 64;  // as abi::Hulls

bool mentions(const ExprPtr& e, const Names& variables) { return e != nullptr && mentioned(*e, variables) != nullptr; }

class Sweeping {
 public:
  Sweeping(Program& program, Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}

  void run() {
    for (auto& sub : program_.subs) chain(*sub, sub == program_.subs.front());
    pass_on();
    if (!names_.empty()) {
      Hulls hulls(program_, names_, writes_, parameters_);
      for (auto& sub : program_.subs) look_for_loops(*sub, {});
      for (auto& sub : program_.subs) look(hulls, *sub, {});
      choose(hulls);
      for_each_chain(program_, [&](const Chain& c) { follow(hulls, c); });
      if (!program_.swept.empty()) {
        for (auto& sub : program_.subs) tell_subs(*sub);
        for_each_chain(program_, [&](Chain& c) { tell(hulls, c); });
        if (too_many_) clear();
      }
    }
    for (const LongLived& l : program_.long_lived) {
      if (l.many) report(l);
    }
  }

 private:
  // ---- which names go together: what is passed, and what it is passed as

  const Variable* of(const Variable* v) { return same_.of(v); }
  void exclude(const NameUse& n) { excluded_.insert(n.base); }

  void chain(const Chain& c, bool once = false) {
    once = once && c.kind != Kind::range && c.kind != Kind::loop && c.last().last == nullptr;
    for (const auto& b : c.blocks) {
      for (const auto& count : b->counts) exclude(count.name);
      if (b->body) body(*b->body, once);
    }
  }

  void body(const Body& b, bool once) {
    for (const Declared& d : b.names) {
      declared_.insert(d.variable);
      if (once) once_.insert(d.variable);
      if (d.variable->counted || program_.uses.count(d.variable) != 0) excluded_.insert(d.variable);
    }
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        body((*when)->body, once);
      } else if (const auto* count = std::get_if<CountReads>(&step)) {
        exclude(count->name);
      } else if (const auto* spawn = std::get_if<Spawn>(&step)) {
        for (const NameUse& n : spawn->done) late_.insert(n.base);
        for (std::size_t k = 0; k < spawn->arguments.size(); ++k) {
          const semantics::Argument& a = spawn->arguments[k];
          if (a.type != semantics::ParameterType::name) continue;
          passed_.push_back({&a.name, spawn->chain->parameters[k], spawn->owned != nullptr});
        }
        if (spawn->owned != nullptr) chain(*spawn->owned, once);
      }
    }
  }

  // A parameter has the same number of indices in all calls, where names with fewer of them have so many in front that
  // nobody knows (`df l` in `r(name a)`, called with `l` and with `x[t]`). Else its names are left alone.
  std::map<const Variable*, std::size_t, ById> prefixes() {
    std::map<const Variable*, std::vector<std::pair<const Variable*, std::int64_t>>, ById> beside;
    for (const Passed& p : passed_) {
      const auto n = static_cast<std::int64_t>(p.name->indices.size());
      beside[p.name->base].emplace_back(p.parameter, n);
      beside[p.parameter].emplace_back(p.name->base, -n);
    }
    std::map<const Variable*, std::size_t, ById> out;
    for (const Variable* first : declared_) {
      if (out.count(first) != 0) continue;
      std::map<const Variable*, std::int64_t, ById> at{{first, 0}};
      std::vector<const Variable*> open{first};
      while (!open.empty()) {
        const Variable* v = open.back();
        open.pop_back();
        for (const auto& [to, n] : beside[v]) {
          const auto [it, fresh] = at.emplace(to, at[v] + n);
          if (fresh) open.push_back(to);
          if (it->second != at[v] + n) excluded_.insert(to);
        }
      }
      const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
      const std::int64_t least = std::min_element(at.begin(), at.end(), less)->second;
      for (const auto& [v, n] : at) {
        out[v] = static_cast<std::size_t>(n - least);
        if (out[v] > kMostIndices) excluded_.insert(v);
      }
    }
    return out;
  }

  void pass_on() {
    for (const Passed& p : passed_) {
      same_.are_same(p.name->base, p.parameter);
      if (p.loop) exclude(*p.name);  // where a `while` puts its last counter, found once
    }
    const std::map<const Variable*, std::size_t, ById> prefix = prefixes();
    Names out;
    for (const Variable* v : excluded_) out.insert(of(v));
    for (const auto& [v, n] : prefix) {
      if (v->counted) out.insert(of(v));
    }
    Names twice;
    for (const Variable* v : declared_) {
      if (program_.once.count(v) == 0) twice.insert(of(v));
    }
    // Nobody is left who holds what it will assign.
    for (const Variable* v : late_) {
      if (twice.count(of(v)) != 0) out.insert(of(v));
    }
    for (const auto& [v, n] : prefix) {
      if (out.count(of(v)) != 0) continue;
      names_.insert(v);
      if (twice.count(of(v)) != 0) writes_.insert(v);
      const bool declared = declared_.count(v) != 0;
      if (declared && n == 0) continue;
      Hulls::Parameter p{n, {}};
      for (std::size_t k = 0; k < n; ++k)
        p.given.push_back(declared ? nullptr : program_.temporary('h', v->name, v->at));
      parameters_[v] = std::move(p);
    }
  }

  // ---- which indices tell

  // Is it a loop, and of what does it show how far it is?
  static Names moves_on(const Chain& c, const Hulls& hulls) {
    if (c.kind == Kind::range) return {c.parameters[0]};
    if (c.kind == Kind::loop || c.last().last != nullptr) return {c.last().counter};
    Names out;
    if (c.kind == Kind::sub && hulls.is_recursive(&c)) {
      for (const Variable* v : c.parameters) {
        if (v->letter == 'i') out.insert(v);
      }
    }
    return out;
  }

  // Of the subs' parameters: what is passed in a loop (`in`), there or further out.
  void look_for_loops(const Chain& c, bool in) {
    in = in || c.kind == Kind::range || c.kind == Kind::loop || c.last().last != nullptr;
    for (const auto& b : c.blocks) {
      if (b->body) look_for_loops(*b->body, in);
    }
  }
  void look_for_loops(const Body& b, bool in) {
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) look_for_loops((*when)->body, in);
      const auto* spawn = std::get_if<Spawn>(&step);
      if (spawn == nullptr) continue;
      if (spawn->owned != nullptr) {
        look_for_loops(*spawn->owned, in);
        continue;
      }
      bool more = false;
      for (std::size_t k = 0; k < spawn->arguments.size(); ++k) {
        const semantics::Argument& a = spawn->arguments[k];
        if (a.type == semantics::ParameterType::name && (in || in_loop_.count(a.name.base) != 0))
          more = in_loop_.insert(spawn->chain->parameters[k]).second || more;
      }
      if (more) look_for_loops(*spawn->chain, in);
    }
  }

  // `around`: names that a loop further out grows with.
  void look(Hulls& hulls, Chain& c, Names around) {
    const Names counters = moves_on(c, hulls);
    if (!counters.empty()) {
      const Boxes boxes = hulls.of(c, 0);
      for (const auto& [base, list] : boxes) {
        const bool outermost = around.count(base) == 0;
        around.insert(base);
        if (outermost && std::none_of(list.begin(), list.end(), [&](const Box& b) {
              return std::any_of(b.begin(), b.end(), [&](const Side& s) {
                return mentions(s.first, counters) || mentions(s.last, counters);
              });
            }))
          scores_[of(base)].stays = true;
        const bool grows = assigns(c, base), steps = grows && reads(c, base);
        for (std::size_t k = 0; k < kMostIndices; ++k) {
          const bool moves = std::any_of(list.begin(), list.end(), [&](const Box& b) {
            return mentions(b[k].first, counters) || mentions(b[k].last, counters);
          });
          if (!moves || any_is_all(list)) continue;
          ++scores_[of(base)].by_index[k];
          if (outermost) scores_[of(base)].read.insert(k);
          if (outermost && grows) scores_[of(base)].top.insert(k);
          if (outermost && steps && in_loop_.count(base) == 0) scores_[of(base)].steps.insert(k);
        }
      }
      look_at_tokens(c, counters, boxes, around);
    }
    for (auto& b : c.blocks) {
      if (b->body) look(hulls, *b->body, around);
    }
  }
  void look(Hulls& hulls, Body& b, const Names& around) {
    for (Step& step : b.steps) {
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) look(hulls, (*when)->body, around);
      auto* spawn = std::get_if<Spawn>(&step);
      if (spawn != nullptr && spawn->owned != nullptr) look(hulls, *spawn->owned, around);
    }
  }
  // What says that something is done may be read by nobody in the loop, and counted it is never.
  void look_at_tokens(const Chain& c, Names counters, const Boxes& boxes, Names& around) {
    if (c.kind == Kind::range) counters = {c.last().counter};
    Names here;
    for_each_token(c, [&](const NameUse& n) {
      if (names_.count(n.base) == 0 || boxes.count(n.base) != 0 || around.count(n.base) != 0) return;
      const auto p = parameters_.find(n.base);
      const std::size_t before = p == parameters_.end() ? 0 : p->second.prefix;
      for (std::size_t k = 0; k < n.indices.size() && before + k < kMostIndices; ++k) {
        if (!mentions(n.indices[k], counters)) continue;
        Score& score = scores_[of(n.base)];
        ++score.by_index[before + k];
        score.top.insert(before + k);
        here.insert(n.base);
      }
    });
    around.insert(here.begin(), here.end());
  }
  template <class F>
  static void for_each_token(const Chain& c, const F& f) {
    for_each_within(c, [&](const Chain& within) {
      for (const auto& b : within.blocks) {
        std::for_each(b->done.begin(), b->done.end(), f);
        if (b->body) for_each_spawn(*b->body, [&](const Spawn& s) { std::for_each(s.done.begin(), s.done.end(), f); });
      }
    });
  }
  static bool any_is_all(const std::vector<Box>& list) {
    return std::any_of(list.begin(), list.end(), [](const Box& b) {
      return std::all_of(b.begin(), b.end(), [](const Side& s) { return s.first == nullptr && s.last == nullptr; });
    });
  }

  // May something in it assign the name, or others of its class? (What is passed on may be assigned there.)
  bool assigns(Chain& c, const Variable* base) {
    bool found = false;
    const auto in = [&](Chain& x) {
      for (const auto& b : x.blocks) {
        for (const NameUse* n : b->outputs()) found = found || (names_.count(n->base) != 0 && of(n->base) == of(base));
        if (b->body) found = found || passes(*b->body, base);
      }
    };
    in(c);
    for (auto& b : c.blocks) {
      if (b->body) for_each_chain(*b->body, in);
    }
    return found;
  }
  // The same of reading.
  bool reads(Chain& c, const Variable* base) {
    bool found = false;
    const auto in = [&](Chain& x) {
      for (const auto& b : x.blocks) {
        found = found || std::any_of(b->inputs.begin(), b->inputs.end(), [&](const Input& i) {
                  return names_.count(i.name.base) != 0 && of(i.name.base) == of(base);
                });
        if (b->body) found = found || passes(*b->body, base);
      }
    };
    in(c);
    for (auto& b : c.blocks) {
      if (b->body) for_each_chain(*b->body, in);
    }
    return found;
  }
  bool passes(const Body& b, const Variable* base) {
    return std::any_of(b.steps.begin(), b.steps.end(), [&](const Step& step) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) return passes((*when)->body, base);
      const auto* spawn = std::get_if<Spawn>(&step);
      if (spawn == nullptr) return false;
      if (std::any_of(spawn->done.begin(), spawn->done.end(),
                      [&](const NameUse& n) { return names_.count(n.base) != 0 && of(n.base) == of(base); }))
        return true;
      if (spawn->owned != nullptr) return false;
      return std::any_of(spawn->arguments.begin(), spawn->arguments.end(), [&](const semantics::Argument& a) {
        return a.type == semantics::ParameterType::name && of(a.name.base) == of(base);
      });
    });
  }

  using Keys = std::map<const Variable*, std::vector<std::size_t>, ById>;
  // By class: those first by which an outermost loop moves on, and first of these, where it makes what it reads.
  void choose(const Hulls& hulls) {
    Keys keys;
    // What one loop makes and another goes through, for as long as the program runs.
    for (const LongLived& l : program_.long_lived) {
      if (names_.count(l.variable) == 0 || once_.count(l.variable) == 0) continue;
      const auto it = scores_.find(of(l.variable));
      if (it == scores_.end() || it->second.stays || !it->second.top.empty()) continue;
      it->second.top = it->second.read;
    }
    for (const auto& [v, score] : scores_) {
      if (score.top.empty()) continue;
      auto& list = keys[v];
      list.assign(score.top.begin(), score.top.end());
      const std::set<std::size_t>& steps = score.steps;
      std::stable_partition(list.begin(), list.end(), [&](std::size_t k) { return steps.count(k) != 0; });
      for (const auto& [k, n] : score.by_index) {
        if (score.top.count(k) == 0) list.push_back(k);
      }
      list.resize(std::min(list.size(), kMostKeys));
    }
    find_read();
    for (auto& sub : program_.subs) {
      if (!hulls.is_recursive(sub.get())) continue;
      for_each_within(*sub, [&](const Chain& c) {
        for (const auto& b : c.blocks) {
          if (b->body) for_each_spawn(*b->body, [&](const Spawn& call) { look_at_levels(hulls, call, keys); });
        }
      });
    }
    for (const Variable* v : names_) {
      const auto it = keys.find(of(v));
      if (it == keys.end()) continue;
      Swept& s = program_.swept[v];
      s.horizon = program_.temporary('h', v->name, v->at);
      s.keys = it->second;
      const auto p = parameters_.find(v);
      if (p != parameters_.end()) s.prefix = p->second.prefix;
      for (const std::size_t k : s.keys) s.given.push_back(k < s.prefix ? p->second.given[k] : nullptr);
    }
  }

  // What each level of a recursion declares, and the next one reads whole, has no index that tells, but goes with who
  // may still read it: its block ends when all further levels have. (What the next one only assigns is counted:
  // count-passed.)
  void look_at_levels(const Hulls& hulls, const Spawn& call, Keys& keys) {
    if (call.owned != nullptr || !hulls.is_recursive(call.chain)) return;
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const semantics::Argument& a = call.arguments[k];
      if (a.type != semantics::ParameterType::name || declared_.count(a.name.base) == 0) continue;
      if (names_.count(a.name.base) == 0 || read_.count(call.chain->parameters[k]) == 0) continue;
      if (keys.try_emplace(of(a.name.base), 1, 0).second) levels_.insert(of(a.name.base));
    }
  }
  // Names that something reads whole, by themselves or by what they are passed as. What is read as a number is smaller
  // than what it takes to watch it.
  void find_read() {
    for_each_chain(program_, [this](const Chain& c) {
      for (const auto& b : c.blocks) {
        const auto read = [&](const ExprPtr& e) {
          if (e != nullptr && e->kind == Expr::Kind::input) read_.insert(b->inputs[e->integer].name.base);
        };
        const auto arguments = [&](const std::vector<semantics::Argument>& list) {
          for (const semantics::Argument& a : list) {
            if (a.type == semantics::ParameterType::value || a.type == semantics::ParameterType::string) read(a.value);
          }
        };
        for (const Set& set : b->sets) {
          if (set.variable->letter == 'v' || set.variable->letter == 's') read(set.value);
        }
        if (b->call) arguments(b->call->arguments);
        if (b->body) for_each_spawn(*b->body, [&](const Spawn& s) { arguments(s.arguments); });
      }
    });
    for (bool more = true; more;) {
      more = false;
      for (const Passed& p : passed_)
        more = (read_.count(p.parameter) != 0 && read_.insert(p.name->base).second) || more;
    }
  }
  // It and those nested in it.
  template <class F>
  static void for_each_within(const Chain& c, const F& f) {
    f(c);
    for (const auto& b : c.blocks) {
      if (b->body) for_each_chain(*b->body, f);
    }
  }
  // Those of its own: what they make stands in other chains.
  template <class F>
  static void for_each_spawn(const Body& b, const F& f) {
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) for_each_spawn((*when)->body, f);
      if (const auto* spawn = std::get_if<Spawn>(&step)) f(*spawn);
    }
  }

  // Who may still be going to read what a `while` gives out, as long as names are held for that.
  void follow(const Hulls& hulls, const Chain& c) {
    if (c.kind != Kind::loop) return;
    for (const auto& [base, boxes] : hulls.after(c, true)) {
      const Variable* out = c.last().out[0].base;
      if (program_.swept.count(base) == 0 || program_.swept.count(out) != 0) continue;
      program_.swept[out].horizon = program_.temporary('h', out->name, out->at);
    }
  }

  // ---- what records are told

  void tell_subs(Chain& sub) {
    for (std::size_t k = 0; k < sub.parameters.size(); ++k) {
      const auto it = program_.swept.find(sub.parameters[k]);
      if (it == program_.swept.end()) continue;
      sub.hidden.push_back({it->second.horizon, k, std::nullopt});
      for (std::size_t i = 0; i < it->second.keys.size(); ++i) {
        if (it->second.given[i] != nullptr) sub.hidden.push_back({it->second.given[i], k, i});
      }
    }
  }

  void tell(Hulls& hulls, Chain& c) {
    for (std::size_t k = 0; k < c.blocks.size(); ++k) {
      Block& b = *c.blocks[k];
      for (const auto& [base, boxes] : hulls.of(c, k)) {
        const auto it = program_.swept.find(base);
        if (it == program_.swept.end()) continue;
        std::vector<Hull> list;
        for (const Box& box : boxes) {
          Hull h{{base, {}, c.at}, {}};
          for (const std::size_t key : it->second.keys) h.sides.push_back(box[key]);
          const bool any_row = !h.sides.empty() && h.sides[0].first == nullptr && h.sides[0].last == nullptr;
          if (any_row && !b.inputs.empty() && levels_.count(of(base)) == 0) kept_.emplace(of(base), c.at);
          const bool all = std::all_of(h.sides.begin(), h.sides.end(),
                                       [](const Side& s) { return s.first == nullptr && s.last == nullptr; });
          if (all) list.clear();
          list.push_back(std::move(h));
          if (all) break;
        }
        b.hulls.insert(b.hulls.end(), list.begin(), list.end());
      }
      if (b.kind == Kind::loop) {
        stay(hulls.after(c, false), b, b.stays);
        stay(hulls.after(c, true), b, b.handed);
      }
      too_many_ = too_many_ || b.hulls.size() > kMostHulls;
      if (!b.hulls.empty() && c.hold == nullptr) {
        c.hold = program_.temporary('h', "hold", c.at);
        c.temporaries.push_back(c.hold);
      }
    }
  }
  void stay(const Boxes& after, const Block& loop, std::vector<Hull>& list) const {
    for (const auto& [base, boxes] : after) {
      const auto it = program_.swept.find(base);
      if (it == program_.swept.end()) continue;
      for (const Box& box : boxes) {
        Hull h{{base, {}, loop.out[0].at}, {}};
        for (const std::size_t key : it->second.keys) h.sides.push_back(box[key]);
        list.push_back(std::move(h));
      }
    }
  }
  void clear() {
    program_.swept.clear();
    for_each_chain(program_, [](Chain& c) {
      c.hidden.clear();
      if (std::exchange(c.hold, nullptr) != nullptr) c.temporaries.pop_back();
      for (auto& b : c.blocks) {
        b->hulls.clear();
        b->stays.clear();
        b->handed.clear();
      }
    });
  }

  void report(const LongLived& l) {
    const bool swept = program_.swept.count(l.variable) != 0;
    const auto kept = kept_.find(of(l.variable));
    if (diagnostics_.in_library(l.variable->at) || (swept && kept == kept_.end())) return;
    if (!told_.insert(l.variable->at.begin).second) return;
    const std::string name = quote(l.variable->name);
    const Extent at = swept ? kept->second : l.at;
    auto& told = diagnostics_.remark(
        "T246", at,
        swept
            ? "all of " + name + " lives as long as this waits: nobody knows before which of it is read here, or later"
            : name + " lives until the block that declares it has ended: " + l.why);
    if (at.begin != l.variable->at.begin) told.note(l.variable->at, "it is declared here");
  }

  struct Passed {
    const NameUse* name;
    const Variable* parameter;
    bool loop;
  };
  struct Score {
    std::map<std::size_t, int> by_index;
    std::set<std::size_t> top, steps, read;
    bool stays = false;  // some outermost loop reads the same of it in all iterations
  };
  Program& program_;
  Diagnostics& diagnostics_;
  SameNames same_;
  std::vector<Passed> passed_;
  Names declared_, excluded_, names_, writes_;
  Names in_loop_, once_;  // once: declared by main, in no loop
  Names read_;            // whole, and what is passed as such
  Names levels_;          // by class: of these there is one in each level of a recursion
  Names late_;            // assigned when all under a call has finished
  Hulls::Parameters parameters_;
  bool too_many_ = false;
  std::map<const Variable*, Extent, ById> kept_;   // by class: what waits may read any of them
  std::map<const Variable*, Score, ById> scores_;  // by class
  std::set<decltype(Extent::begin)> told_;         // declarations
};

}  // namespace

void sweep_names(Program& program, Diagnostics& diagnostics) { Sweeping(program, diagnostics).run(); }

}  // namespace tessera::compiler::block
