#include "compiler/block/program.hpp"

#include <algorithm>

namespace tessera::compiler::block {

const char* spelling(Kind k) {
  static constexpr const char* kText[] = {"atomic", "sub", "range", "loop", "branch", "eval"};
  return kText[static_cast<int>(k)];
}

std::vector<const NameUse*> Block::slots() const {
  std::vector<const NameUse*> result;
  for (const Input& in : inputs) result.push_back(&in.name);
  for (const NameUse* n : outputs()) result.push_back(n);
  return result;
}

std::size_t Block::index_count() const {
  std::size_t count = 0;
  for (const NameUse* n : slots()) count += n->indices.size();
  return count;
}

bool Block::has_makers() const {
  return std::any_of(makers.begin(), makers.end(), [](const Maker& m) { return m.place != nullptr; });
}

FrameVariable Chain::place(const Variable* v) const {
  for (const FrameVariable& f : frame) {
    if (f.variable == v) return f;
  }
  return {v, 0};
}

std::vector<const NameUse*> Block::outputs() const {
  std::vector<const NameUse*> result;
  if (call) {
    for (const semantics::Argument& a : call->arguments) {
      if (a.type == semantics::ParameterType::name) result.push_back(&a.name);
    }
  }
  for (const NameUse& n : out) result.push_back(&n);
  for (const NameUse& n : done) result.push_back(&n);
  return result;
}

std::size_t Chain::capacity() const {
  std::size_t inputs = 0;
  for (const auto& b : blocks) inputs = std::max(inputs, b->inputs.size());
  return frame_words + inputs;
}

const NameUse* Chain::counted_only() const {
  const Block& b = last();
  if (b.kind != Kind::eval || !b.body || b.body->steps.size() != 1) return nullptr;
  const auto* count = std::get_if<CountReads>(&b.body->steps[0]);
  return count == nullptr ? nullptr : &count->name;
}

const Uses* Program::uses_of(const NameUse& assigned) const {
  const auto of_name = uses.find(assigned.base);
  if (of_name == uses.end()) return nullptr;
  for (const Uses& u : of_name->second) {
    if (u.dimensions == assigned.indices.size()) return &u;
  }
  return nullptr;
}

const Swept* Program::swept_of(const Variable* name) const {
  const auto it = swept.find(name);
  return it == swept.end() || it->second.keys.empty() ? nullptr : &it->second;
}

void Uses::add_parameter(const Reader& r, const Variable* v) {
  const bool own = std::any_of(r.around.begin(), r.around.end(), [v](const Around& a) { return a.counter == v; });
  if (!own && std::find(parameters.begin(), parameters.end(), v) == parameters.end()) parameters.push_back(v);
}

void Uses::add_parameters(const Reader& r, const ExprPtr& e) {
  if (e == nullptr) return;
  if (e->variable != nullptr) add_parameter(r, e->variable);
  for (const ExprPtr& k : e->kids) add_parameters(r, k);
}

void Uses::add_parameters(const Reader& r, const Linear& l) {
  for (const auto& term : l.terms) add_parameter(r, term.first);
}

bool Uses::is_narrowed(const Reader& r, const Variable* inner, bool first) {
  return std::any_of(r.narrowed.begin(), r.narrowed.end(),
                     [&](const Narrowed& n) { return n.inner == inner && n.of_first == first; });
}

bool Uses::sends() const {
  return std::any_of(readers.begin(), readers.end(), [](const Reader& r) { return r.sent; });
}

const Variable* Program::temporary(char letter, std::string name, Extent at) {
  Variable v;
  v.kind = Variable::Kind::temporary;
  v.letter = letter;
  v.name = std::move(name);
  v.at = at;
  v.id = next_id++;
  temporaries.push_back(std::move(v));
  return &temporaries.back();
}

}  // namespace tessera::compiler::block
