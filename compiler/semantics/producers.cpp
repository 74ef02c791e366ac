#include "compiler/semantics/producers.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace tessera::compiler::semantics {
namespace {

constexpr std::size_t kMostProducers = 4;

class Analysis {
 public:
  Analysis(Model& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics), parent_(model.variables.size()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }

  void run() {
    for (const Sub& s : model_.subs) {
      if (s.used) body(s.body);
    }
    std::map<std::uint32_t, std::set<std::string>> declared;  // by root
    for (const Variable& v : model_.variables) {
      if (v.kind == Variable::Kind::fragment) declared[root(v.id)].insert(v.name);
    }
    for (Variable& v : model_.variables) {
      if (!v.is_name()) continue;
      const std::set<std::string>& wholes = declared[root(v.id)];
      if (v.kind == Variable::Kind::parameter && wholes.size() == 1) v.whole = *wholes.begin();
      const auto& all = producers_[root(v.id)];
      v.producers = given_to(v) + text_of(all);
      v.assigned = !all.empty();
      v.counted = counted_.count(root(v.id)) != 0;
    }
    for (const Variable& v : model_.variables) {
      const auto it = reads_.find(root(v.id));
      if (it == reads_.end() || v.kind != Variable::Kind::fragment) continue;
      if (!producers_[it->first].empty() || !reported_.insert({it->first, true}).second) continue;
      report(v, it->second);
    }
  }

 private:
  // Why a value is wanted, what says most first.
  enum class Use : std::uint8_t { value, locator, request };
  struct Reading {
    Extent at;
    Use use = Use::value;
  };

  void report(const Variable& v, const Reading& reading) {
    const std::string name = quote(v.name);
    if (reading.use == Use::value) {
      diagnostics_.error("T301", reading.at, "data fragment " + name + " is read here but never assigned");
    } else if (reading.use == Use::locator) {
      diagnostics_.error("T316", reading.at, "the locator depends on " + name + ", which is never assigned");
    } else {  // a value that does not exist is not waited for
      diagnostics_.warning("T301", reading.at, "data fragment " + name + " is requested here but never assigned");
    }
    diagnostics_.note(v.at, "it is declared here; nothing in the program gives it a value");
  }
  std::uint32_t root(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void unite(const Variable* a, const Variable* b) {
    const std::uint32_t ra = root(a->id);
    const std::uint32_t rb = root(b->id);
    if (ra == rb) return;
    parent_[rb] = ra;
    auto& all = producers_[ra];
    auto& moved = producers_[rb];
    all.insert(all.end(), moved.begin(), moved.end());
    moved.clear();
    if (const auto it = reads_.find(rb); it != reads_.end()) wanted(ra, it->second);
    if (counted_.erase(rb) != 0) counted_.insert(ra);
  }

  std::string there(Extent at) const {
    const Span span = diagnostics_.span(at);
    return " at " + std::filesystem::path(span.file).filename().string() + ":" + std::to_string(span.line);
  }
  void assigned(const NameUse& name, const std::string& by, Extent at) {
    std::vector<std::string>& all = producers_[root(name.base->id)];
    std::string text = quote(by) + there(at);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  // What a call gives a parameter, unless a sub passes it on to itself.
  void given(const NameUse& name, const Variable& parameter, Extent at) {
    if (name.base == &parameter) return;
    std::string written(diagnostics_.written(name.at));
    if (diagnostics_.from_macro(name.at) || written.find('\n') != written.npos) written = name.base->name;
    // `leaf` is `leaf`: where it comes from is all there is to say.
    std::string text = written == parameter.name ? "the one" : quote(written);
    text += there(at);
    std::vector<std::string>& all = given_[parameter.id];
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  std::string given_to(const Variable& v) const {
    const auto all = given_.find(v.id);
    return all == given_.end() ? "" : quote(v.name) + " is " + list_of(all->second) + "; ";
  }
  void wanted(std::uint32_t root, const Reading& reading) {
    const auto [it, first] = reads_.emplace(root, reading);
    if (!first && reading.use < it->second.use) it->second = reading;
  }
  void read(const NameUse& name, Use use) {
    wanted(root(name.base->id), {name.at, use});
    for (const ExprPtr& i : name.indices) read(i, use);
  }
  void read(const ExprPtr& e, Use use = Use::value) {
    if (e == nullptr || !e->reads) return;
    if (e->kind == Expr::Kind::read) read(e->name, use);
    for (const ExprPtr& k : e->kids) read(k, use);
  }
  void read_indices(const NameUse& name) {
    for (const ExprPtr& i : name.indices) read(i);
  }

  void count(const std::vector<ReadCount>& counts) {
    for (const ReadCount& c : counts) {
      counted_.insert(root(c.name.base->id));
      read(c.count);
      read_indices(c.name);
    }
  }

  void call(const Call& c, Extent at) {
    count(c.advice.counts);
    read(c.advice.locator, Use::locator);
    for (const NameUse& n : c.advice.requests) read(n, Use::request);
    for (const NameUse& n : c.advice.deletes) read_indices(n);
    for (std::size_t k = 0; k < c.arguments.size(); ++k) {
      const Argument& a = c.arguments[k];
      if (a.type != ParameterType::name) {
        read(a.value);
        continue;
      }
      read_indices(a.name);
      if (c.kernel != nullptr) {
        assigned(a.name, c.kernel->name, at);
      } else {
        given(a.name, *c.sub->parameters[k], at);
        unite(a.name.base, c.sub->parameters[k]);
      }
    }
    for (const NameUse& n : c.done) {
      read_indices(n);
      assigned(n, (c.kernel != nullptr ? c.kernel->name : c.sub->name) + " >>", at);
    }
  }

  void body(const Body& b) {
    count(b.counts);
    for (const NameUse& n : b.deletes) read_indices(n);
    for (const Statement& s : b.statements) {
      if (const auto* c = std::get_if<Call>(&s.node)) {
        call(*c, s.at);
      } else if (const auto* f = std::get_if<For>(&s.node)) {
        read(f->first);
        read(f->last);
        body(*f->body);
      } else if (const auto* w = std::get_if<While>(&s.node)) {
        read(w->start);
        read(w->condition);
        read_indices(w->out);
        assigned(w->out, "while", s.at);
        body(*w->body);
      } else if (const auto* i = std::get_if<If>(&s.node)) {
        read(i->condition);
        body(*i->body);
      }
    }
  }

  static std::string text_of(const std::vector<std::string>& all) {
    return all.empty() ? "nothing assigns it" : list_of(all);
  }
  static std::string list_of(const std::vector<std::string>& all) {
    std::string out;
    for (std::size_t k = 0; k < all.size() && k < kMostProducers; ++k) {
      out += (k == 0 ? "" : ", ") + all[k];
    }
    if (all.size() > kMostProducers) {
      out += " and " + std::to_string(all.size() - kMostProducers) + " more";
    }
    return out;
  }

  Model& model_;
  Diagnostics& diagnostics_;
  std::vector<std::uint32_t> parent_;
  std::map<std::uint32_t, std::vector<std::string>> producers_;  // by root
  std::map<std::uint32_t, std::vector<std::string>> given_;      // by parameter
  std::map<std::uint32_t, Reading> reads_;                       // by root: one reading place
  std::map<std::uint32_t, bool> reported_;
  std::set<std::uint32_t> counted_;  // roots
};

void each_call(const Body& body, const std::function<void(const Call&)>& f) {
  for (const Statement& s : body.statements) {
    if (const auto* c = std::get_if<Call>(&s.node)) f(*c);
    if (const auto* n = std::get_if<For>(&s.node)) each_call(*n->body, f);
    if (const auto* n = std::get_if<While>(&s.node)) each_call(*n->body, f);
    if (const auto* n = std::get_if<If>(&s.node)) each_call(*n->body, f);
  }
}

}  // namespace

void mark_used(Model& model) {
  std::map<const Sub*, Sub*> own;
  for (Sub& s : model.subs) own[&s] = &s;
  std::vector<Sub*> open;
  const auto mark = [&](const Sub* s) {
    Sub* sub = own.at(s);
    if (!sub->used) open.push_back(sub);
    sub->used = true;
  };
  if (model.main != nullptr) mark(model.main);
  while (!open.empty()) {
    const Sub* s = open.back();
    open.pop_back();
    each_call(s->body, [&](const Call& c) {
      if (c.sub != nullptr) mark(c.sub);
    });
  }
}

void find_producers(Model& model, Diagnostics& diagnostics) { Analysis(model, diagnostics).run(); }

}  // namespace tessera::compiler::semantics
