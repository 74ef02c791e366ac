#include "interpreter.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <utility>

#include "compiler/block/walk.hpp"
#include "evaluate.hpp"
#include "kernels.hpp"

namespace tessera::reference {
namespace {

namespace block = compiler::block;
namespace semantics = compiler::semantics;
using block::NameUse;
using semantics::ParameterType;
using Scope = std::shared_ptr<const Environment>;
using Inputs = std::shared_ptr<const std::vector<Name>>;

// Region: what `>>` of a sub waits for. It ends when nothing in it is left to do.
struct Region {
  std::shared_ptr<Region> outer;
  std::vector<Name> done, frees;
  std::size_t tasks = 0;
};
using RegionPtr = std::shared_ptr<Region>;

class Interpreter {
 public:
  Interpreter(const block::Program& program, std::size_t steps) : program_(program), left_(steps) {}

  Outcome run(const std::vector<std::string>& arguments) {
    Outcome outcome;
    try {
      start(arguments);
      while (left_ > 0 && (!ready_.empty() || free_deleted())) {
        if (!ready_.empty()) step();
      }
      if (left_ == 0) {
        outcome.end = Outcome::End::endless;
      } else if (!waiting_.empty()) {
        outcome.end = Outcome::End::unfinished;
        outcome.why = std::to_string(waiting_.size()) + " fragments are never assigned";
      }
    } catch (const Failure& f) {
      outcome.end = Outcome::End::failed;
      outcome.why = f.what();
    }
    outcome.lines = std::move(lines_);
    std::sort(outcome.lines.begin(), outcome.lines.end());
    return outcome;
  }

 private:
  // Task: a piece of work. It throws Missing before it has changed anything, and is then tried
  // again, from its beginning, when that fragment has a value.
  struct Task {
    RegionPtr region;
    std::function<void()> work;
  };

  void add(const RegionPtr& region, std::function<void()> work) {
    ++region->tasks;
    ready_.push_back({region, std::move(work)});
  }

  void step() {
    --left_;
    Task task = std::move(ready_.front());
    ready_.pop_front();
    seen_.clear();
    try {
      task.work();
    } catch (const Missing& m) {
      waiting_[m.name].push_back(std::move(task));
      return;
    }
    leave(task.region);
  }

  // A `delete` waits for readers in loops that were created before it: here, for all that can run. True: there was one.
  bool free_deleted() {
    for (const Name& n : deleted_) store_.free(n);
    return !std::exchange(deleted_, {}).empty();
  }

  void leave(RegionPtr region) {
    while (region != nullptr && --region->tasks == 0) {
      for (const Name& n : region->frees) deleted_.push_back(n);
      for (const Name& n : region->done) assign(n, 1);
      region = region->outer;
    }
  }

  void assign(const Name& name, Value value) {
    store_.assign(name, std::move(value));
    const auto it = waiting_.find(name);
    if (it == waiting_.end()) return;
    for (Task& t : it->second) ready_.push_back(std::move(t));
    waiting_.erase(it);
  }

  // All reads of the task are done: fragments with a count of reads may now be free.
  void count_reads() {
    for (const Name& n : seen_) store_.count_read(n);
  }

  void need(const Evaluator& e, const block::ExprPtr& expr) {
    if (expr != nullptr) e.need(*expr, seen_);
  }

  // ------------------------------------------------------------------ chains

  // Running is one computation fragment: its chain, and what its variables are.
  struct Running {
    const block::Chain* chain;
    Scope scope;
    RegionPtr region;
  };

  void start_chain(Running cf) {
    const RegionPtr region = cf.region;
    add(region, [this, cf = std::move(cf)] {
      const std::vector<Name> none;
      const Evaluator e(store_, *cf.scope, none);
      need(e, cf.chain->locator);
      if (cf.chain->locator != nullptr) e.integer(*cf.chain->locator);
      count_reads();
      start_block(cf, 0);
    });
  }

  void start_block(const Running& cf, std::size_t position) {
    add(cf.region, [this, cf, position] { run_block(cf, position); });
  }

  void run_block(const Running& cf, std::size_t position) {
    // visit() is made for passes; nothing is changed here.
    block::Block& b = const_cast<block::Block&>(*cf.chain->blocks[position]);
    const auto number = [&cf](const block::Variable* v) {
      return std::get<std::int32_t>(std::get<Value>((*cf.scope)[v]));
    };
    if (b.last != nullptr && number(b.counter) > number(b.last)) return;
    auto inputs = std::make_shared<std::vector<Name>>();
    const Evaluator e(store_, *cf.scope, *inputs);
    for (const block::Input& in : b.inputs) {
      if (in.when != nullptr && !e.condition(*in.when)) {
        inputs->emplace_back();
        continue;
      }
      e.need(in.name, seen_);
      inputs->push_back(e.name(in.name));
      store_.read(inputs->back());
      seen_.insert(inputs->back());
    }
    // An eval's body holds steps that wait for themselves, in the form before the passes.
    if (const NameUse* counted = cf.chain->counted_only()) seen_.erase(e.name(*counted));
    if (b.kind != block::Kind::eval) {
      block::visit(b, {[&](block::ExprPtr& x) { need(e, x); }, [&](NameUse& n) { e.need(n, seen_); }});
    } else {
      for (const block::Set& s : b.sets) need(e, s.value);
      need(e, b.locate);
      need(e, b.condition);
      for (const NameUse& n : b.deletes) e.need(n, seen_);
    }
    auto scope = cf.scope;
    if (!b.sets.empty()) {
      auto inner = std::make_shared<Environment>(Environment{cf.scope, {}});
      for (const block::Set& s : b.sets) {
        inner->here[s.variable] = s.variable->letter == 'i' ? Value(e.integer(*s.value)) : e.value(*s.value);
      }
      scope = inner;
    }
    finish_block(b, {cf.chain, scope, cf.region}, inputs);
    if (b.last != nullptr && number(b.counter) < number(b.last)) {
      const Scope next = with_counter(b, cf.scope, number(b.counter) + 1);
      return start_block({cf.chain, next, cf.region}, position);
    }
    const bool goes_on = b.kind != block::Kind::eval || b.condition == nullptr || e.condition(*b.condition);
    if (goes_on && position + 1 < cf.chain->blocks.size()) {
      start_block({cf.chain, scope, cf.region}, position + 1);
    }
  }

  // Nothing waits here any more: everything the block reads has a value.
  void finish_block(const block::Block& b, const Running& cf, const Inputs& inputs) {
    const Evaluator e(store_, *cf.scope, *inputs);
    if (b.locate != nullptr) e.integer(*b.locate);
    if (b.call) call(b, e);
    if (b.kind == block::Kind::range) {
      iterate(b, cf, inputs);
    } else if (b.kind == block::Kind::loop) {
      loop(b, e, cf, inputs);
    } else if (b.body && (b.condition == nullptr || e.condition(*b.condition))) {
      body(*b.body, cf.scope, cf.region, inputs);
    }
    for (const NameUse& n : b.done) assign(e.name(n), 1);
    count_reads();
    for (const NameUse& n : b.deletes) deleted_.push_back(e.name(n));
  }

  void call(const block::Block& b, const Evaluator& e) {
    std::vector<Value> in;
    std::vector<Name> out;
    for (const semantics::Argument& a : b.call->arguments) {
      switch (a.type) {
        case ParameterType::integer:
          in.emplace_back(e.integer(*a.value));
          break;
        case ParameterType::longint:
          in.emplace_back(e.longint(*a.value));
          break;
        case ParameterType::real:
          in.emplace_back(e.real(*a.value));
          break;
        case ParameterType::string:
          in.emplace_back(e.string(*a.value));
          break;
        case ParameterType::value:
          in.emplace_back(e.value(*a.value));
          break;
        case ParameterType::name:
          out.push_back(e.name(a.name));
          break;
      }
    }
    std::vector<Value> results = kernel(b.call->kernel->name)(in, lines_);
    for (const auto& c : b.counts) store_.free_after(e.name(c.name), e.integer(*c.count));
    for (std::size_t k = 0; k < out.size(); ++k) assign(out[k], std::move(results.at(k)));
  }

  Scope with_counter(const block::Block& b, const Scope& outer, std::int32_t value) {
    auto inner = std::make_shared<Environment>(Environment{outer, {}});
    inner->here[b.counter] = Value(value);
    return inner;
  }

  void iterate(const block::Block& b, const Running& cf, const Inputs& inputs) {
    const auto bound = [&](std::size_t k) {
      return std::get<std::int32_t>(std::get<Value>((*cf.scope)[cf.chain->parameters[k]]));
    };
    const std::int64_t last = bound(1);
    for (std::int64_t i = bound(0); i <= last; ++i) {
      if (left_ == 0) return;
      --left_;
      body(*b.body, with_counter(b, cf.scope, static_cast<std::int32_t>(i)), cf.region, inputs);
    }
  }

  void loop(const block::Block& b, const Evaluator& e, const Running& cf, const Inputs& inputs) {
    const auto i = std::get<std::int32_t>(std::get<Value>((*cf.scope)[b.counter]));
    if (!e.condition(*b.condition)) return assign(e.name(b.out[0]), i);
    body(*b.body, cf.scope, cf.region, inputs);
    if (i == INT32_MAX) throw Failure("int overflow");
    start_block({cf.chain, with_counter(b, cf.scope, i + 1), cf.region}, 0);
  }

  // ------------------------------------------------------------------ bodies

  static RegionPtr region_in(const RegionPtr& outer) {
    auto region = std::make_shared<Region>();
    region->outer = outer;
    ++outer->tasks;
    return region;
  }

  void body(const block::Body& b, Scope scope, RegionPtr region, const Inputs& inputs) {
    if (!b.deletes.empty()) {
      region = region_in(region);
      const Evaluator e(store_, *scope, *inputs);
      for (const NameUse& n : b.deletes) region->frees.push_back(e.name(n));
      add(region, [] {});  // it ends even when nothing is in it
    }
    if (!b.names.empty()) {
      auto inner = std::make_shared<Environment>(Environment{std::move(scope), {}});
      for (const block::Declared& d : b.names) inner->here[d.variable] = Name{++bases_, {}};
      scope = inner;
    }
    for (const block::Step& s : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<block::When>>(&s)) {
        const Evaluator e(store_, *scope, *inputs);
        if ((*when)->condition == nullptr || e.condition(*(*when)->condition))
          body((*when)->body, scope, region, inputs);
      } else if (const auto* evaluate = std::get_if<block::Evaluate>(&s)) {
        Evaluator(store_, *scope, *inputs).value(*evaluate->value);
      } else {
        add(region, [this, &s, scope, region, inputs] { this->step(s, scope, region, inputs); });
      }
    }
  }

  void step(const block::Step& step, const Scope& scope, const RegionPtr& region, const Inputs& inputs) {
    const Evaluator e(store_, *scope, *inputs);
    if (const auto* count = std::get_if<block::CountReads>(&step)) {
      e.need(count->name, seen_);
      need(e, count->count);
      seen_.erase(e.name(count->name));  // that it is mentioned in its own count is no read
      count_reads();
      return store_.free_after(e.name(count->name), e.integer(*count->count));
    }
    auto& spawn = const_cast<block::Spawn&>(std::get<block::Spawn>(step));
    block::visit(spawn, {[&](block::ExprPtr& x) { need(e, x); }, [&](NameUse& n) { e.need(n, seen_); }});
    if (spawn.locator != nullptr) e.integer(*spawn.locator);
    auto inner = std::make_shared<Environment>();
    if (spawn.owned != nullptr) inner->outer = scope;
    for (std::size_t k = 0; k < spawn.arguments.size(); ++k) {
      inner->here[spawn.chain->parameters[k]] = argument(spawn.arguments[k], e);
    }
    RegionPtr under = region;
    for (const auto& c : spawn.counts) store_.free_after(e.name(c.name), e.integer(*c.count));
    if (spawn.has_end()) {
      under = region_in(region);
      for (const NameUse& n : spawn.done) under->done.push_back(e.name(n));
      for (const NameUse& n : spawn.deletes) under->frees.push_back(e.name(n));
    }
    start_chain({spawn.chain, inner, under});
    count_reads();
  }

  static std::variant<Name, Value> argument(const semantics::Argument& a, const Evaluator& e) {
    switch (a.type) {
      case ParameterType::integer:
        return Value(e.integer(*a.value));
      case ParameterType::longint:
        return Value(e.longint(*a.value));
      case ParameterType::real:
        return Value(e.real(*a.value));
      case ParameterType::string:
        return Value(e.string(*a.value));
      case ParameterType::value:
        return e.value(*a.value);
      case ParameterType::name:
        return e.name(a.name);
    }
    throw std::logic_error("reference: an unknown kind of argument");
  }

  void start(const std::vector<std::string>& arguments) {
    const block::Chain& main = *program_.subs.front();
    auto scope = std::make_shared<Environment>();
    for (std::size_t k = 0; k < main.parameters.size(); ++k) {
      const std::string& text = arguments.at(k);
      const char letter = main.parameters[k]->letter;
      scope->here[main.parameters[k]] = letter == 'i'   ? Value(std::atoi(text.c_str()))
                                        : letter == 'l' ? Value(static_cast<std::int64_t>(std::atoll(text.c_str())))
                                        : letter == 'r' ? Value(std::atof(text.c_str()))
                                                        : Value(text);
    }
    start_chain({&main, scope, std::make_shared<Region>()});
  }

  const block::Program& program_;
  std::size_t left_;
  Store store_;
  std::deque<Task> ready_;
  std::vector<Name> deleted_;
  std::map<Name, std::vector<Task>> waiting_;
  std::set<Name> seen_;  // what the task that runs has read
  std::uint64_t bases_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

Outcome interpret(const block::Program& program, const std::vector<std::string>& arguments, std::size_t steps) {
  return Interpreter(program, steps).run(arguments);
}

}  // namespace tessera::reference
