#include "compiler/block/find_only_read.hpp"

#include <map>
#include <set>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

class FindOnlyRead {
 public:
  explicit FindOnlyRead(Program& program) : program_(program) {}

  void run() {
    // Subs call each other, in rings as well: none assigns anything until it is seen to.
    for (bool more = true; more;) {
      more = false;
      for (const auto& sub : program_.subs) {
        Names now = assigned_by(*sub);
        Names& before = by_sub_[sub.get()];
        more = more || now.size() != before.size();
        before = std::move(now);
      }
    }
    for_each_chain(program_, [this](Chain& c) {
      const Names assigned = assigned_by(c);
      for (const FrameVariable& f : c.frame) {
        if (f.variable->is_name() && assigned.count(f.variable) == 0) c.only_read.push_back(f);
      }
    });
  }

 private:
  using Names = std::set<const Variable*, ById>;

  Names assigned_by(const Chain& c) const {
    Names names;
    for (const auto& b : c.blocks) {
      for (const NameUse* n : b->outputs()) names.insert(n->base);
      if (b->body) body(*b->body, names);
    }
    return names;
  }
  void body(const Body& b, Names& names) const {
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        body((*when)->body, names);
      } else if (const auto* spawn = std::get_if<Spawn>(&step)) {
        for (const NameUse& n : spawn->done) names.insert(n.base);
        made(*spawn, names);
      }
    }
  }
  void made(const Spawn& spawn, Names& names) const {
    const auto sub = by_sub_.find(spawn.chain);
    const Names assigned = spawn.owned != nullptr ? assigned_by(*spawn.owned)
                           : sub != by_sub_.end() ? sub->second
                                                  : Names();
    // Other captured variables are the same ones.
    names.insert(assigned.begin(), assigned.end());
    for (std::size_t k = 0; k < spawn.arguments.size(); ++k) {
      const semantics::Argument& a = spawn.arguments[k];
      if (a.type == semantics::ParameterType::name && assigned.count(spawn.chain->parameters[k]) != 0)
        names.insert(a.name.base);
    }
  }

  Program& program_;
  std::map<const Chain*, Names> by_sub_;
};

}  // namespace

void find_only_read(Program& program, Diagnostics&) { FindOnlyRead(program).run(); }

}  // namespace tessera::compiler::block
