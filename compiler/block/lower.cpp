#include "compiler/block/lower.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

constexpr std::size_t kTextLimit = 80;

class Lowering {
 public:
  Lowering(const semantics::Model& model, const MappedText& text) : model_(model), text_(text) {
    program_.next_id = static_cast<std::uint32_t>(model.variables.size());
  }

  Program run() {
    declare(*model_.main);
    for (const semantics::Sub& s : model_.subs) {
      if (s.used && &s != model_.main) declare(s);
    }
    for (auto& [sub, chain] : chains_) {
      ordinal_ = 0;
      chain->last().body = body(sub->body);
    }
    return std::move(program_);
  }

 private:
  void declare(const semantics::Sub& sub) {
    auto chain = make(Kind::sub, sub.name, sub.at);
    chain->text = "sub " + sub.name;
    chain->parameters = sub.parameters;
    chains_.emplace_back(&sub, chain.get());
    chain_of_[&sub] = chain.get();
    program_.subs.push_back(std::move(chain));
  }

  std::unique_ptr<Chain> make(Kind kind, std::string label, Extent at) {
    auto chain = std::make_unique<Chain>();
    chain->kind = kind;
    chain->label = std::move(label);
    chain->at = at;
    chain->text = one_line(text_.view(at), kTextLimit);
    chain->blocks.push_back(std::make_unique<Block>());
    chain->last().kind = kind;
    return chain;
  }

  // body lowers statements; names and statements of one body share the ordinals, so that no two
  // things under one id get the same number.
  Body body(const semantics::Body& from) {
    const std::uint32_t outer = ordinal_;
    ordinal_ = 0;
    Body out = continued(from);
    ordinal_ = outer;
    return out;
  }

  Body continued(const semantics::Body& from) {
    Body out;
    for (const Variable* v : from.names) out.names.push_back({v, ordinal_++});
    for (const semantics::ReadCount& c : from.counts) {
      out.steps.emplace_back(CountReads{c.name, c.count});
    }
    out.deletes = from.deletes;
    for (const semantics::Statement& s : from.statements) statement(s, out);
    return out;
  }

  void statement(const semantics::Statement& s, Body& out) {
    if (const auto* call = std::get_if<semantics::Call>(&s.node)) {
      if (call->kernel != nullptr) {
        atomic(*call, s.at, out);
      } else {
        sub_call(*call, s.at, out);
      }
    } else if (const auto* f = std::get_if<semantics::For>(&s.node)) {
      range(*f, s.at, out);
    } else if (const auto* w = std::get_if<semantics::While>(&s.node)) {
      loop(*w, s.at, out);
    } else if (const auto* i = std::get_if<semantics::If>(&s.node)) {
      Spawn spawn = own(make(Kind::branch, "if", s.at));
      spawn.chain->last().condition = i->condition;
      spawn.chain->last().body = body(*i->body);
      spawn.otherwise = i->otherwise;
      out.steps.emplace_back(std::move(spawn));
    }
  }

  Spawn own(std::unique_ptr<Chain> chain) {
    Spawn s;
    s.ordinal = ordinal_++;
    s.at = chain->at;
    s.chain = chain.get();
    s.owned = std::move(chain);
    return s;
  }

  void atomic(const semantics::Call& call, Extent at, Body& out) {
    auto chain = make(Kind::atomic, call.kernel->name, at);
    chain->locator = call.advice.locator;
    chain->stealable = call.advice.stealable;
    Block& b = chain->last();
    b.call = KernelCall{call.kernel, call.arguments};
    for (const semantics::ReadCount& c : call.advice.counts) {
      if (reads_made(c, call)) {
        out.steps.emplace_back(CountReads{c.name, c.count});
      } else {
        b.counts.push_back(c);
      }
    }
    b.done = call.done;
    b.deletes = call.advice.deletes;
    out.steps.emplace_back(own(std::move(chain)));
  }

  // A count that mentions what its call makes is known when that is, so the call may not wait for it: it is found by a
  // fragment of its own. What the call reads itself is there in time; elements of one name are not told from each
  // other.
  static bool reads_made(const semantics::ReadCount& c, const semantics::Call& call) {
    std::set<std::string> awaited;
    std::set<const Variable*> made;
    for (const NameUse& n : call.done) made.insert(n.base);
    for (const semantics::Argument& a : call.arguments) {
      if (a.type == semantics::ParameterType::name) {
        made.insert(a.name.base);
      } else {
        reads_in(a.value, [&](const ExprPtr& read) { awaited.insert(semantics::key(read->name)); });
      }
    }
    bool result = false;
    reads_in(c.count, [&](const ExprPtr& read) {
      result = result || (made.count(read->name.base) != 0 && awaited.count(semantics::key(read->name)) == 0);
    });
    return result;
  }

  void sub_call(const semantics::Call& call, Extent at, Body& out) {
    Spawn spawn;
    spawn.ordinal = ordinal_++;
    spawn.chain = chain_of_.at(call.sub);
    spawn.arguments = call.arguments;
    spawn.locator = call.advice.locator;
    for (const semantics::ReadCount& c : call.advice.counts) {
      if (reads_made(c, call)) {
        out.steps.emplace_back(CountReads{c.name, c.count});
      } else {
        spawn.counts.push_back(c);
      }
    }
    spawn.done = call.done;
    spawn.deletes = call.advice.deletes;
    spawn.at = at;
    out.steps.emplace_back(std::move(spawn));
  }

  static semantics::Argument integer(ExprPtr value) {
    semantics::Argument a;
    a.type = semantics::ParameterType::integer;
    a.value = std::move(value);
    return a;
  }

  void range(const semantics::For& f, Extent at, Body& out) {
    auto chain = make(Kind::range, "for " + f.counter->name, at);
    chain->parameters = {program_.temporary('i', "first", at), program_.temporary('i', "last", at)};
    chain->last().counter = f.counter;
    chain->last().body = body(*f.body);
    Spawn spawn = own(std::move(chain));
    spawn.arguments = {integer(f.first), integer(f.last)};
    out.steps.emplace_back(std::move(spawn));
  }

  void loop(const semantics::While& w, Extent at, Body& out) {
    auto chain = make(Kind::loop, "while", at);
    chain->parameters = {w.counter};
    Block& b = chain->last();
    b.counter = w.counter;
    b.condition = w.condition;
    b.body = body(*w.body);
    NameUse result = w.out;
    std::vector<semantics::Argument> arguments = {integer(w.start)};
    if (indices_read(result)) {  // found once, before the loop begins
      const Variable* name = program_.temporary('n', w.out.base->name, w.out.at);
      chain->parameters.push_back(name);
      semantics::Argument a;
      a.type = semantics::ParameterType::name;
      a.name = result;
      arguments.push_back(std::move(a));
      result = {name, {}, w.out.at};
    }
    b.out.push_back(std::move(result));
    Spawn spawn = own(std::move(chain));
    spawn.arguments = std::move(arguments);
    out.steps.emplace_back(std::move(spawn));
  }

  const semantics::Model& model_;
  const MappedText& text_;
  Program program_;
  std::vector<std::pair<const semantics::Sub*, Chain*>> chains_;
  std::map<const semantics::Sub*, Chain*> chain_of_;
  std::uint32_t ordinal_ = 0;
};

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
  std::string out;
  bool blank = false, string = false, escaped = false;
  for (const char c : text) {
    if (c == '"' && !escaped) string = !string;
    escaped = string && c == '\\' && !escaped;
    if (!string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      blank = !out.empty();
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
  if (out.size() <= limit) return out;
  std::size_t end = limit - 3;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0u) == 0x80u) --end;
  return out.substr(0, end) + "...";
}

Program lower(const semantics::Model& model, const MappedText& text) { return Lowering(model, text).run(); }

}  // namespace tessera::compiler::block
