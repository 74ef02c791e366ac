// T317: a name whose fragments are assigned, but read nowhere in the text.
//
// Kernels must be given all their outputs and a `while` its `out`, so: the name of an output that
// nobody wants begins with an underscore, or stands in a `drop`; and `out` alone is no reason to
// complain.
#include <map>

#include "compiler/analysis/checker.hpp"

namespace tessera::compiler::analysis {

namespace {

// Where the text that knows the name has it assigned: in a sub it is called otherwise.
Extent assigned_at(const Flow& flow, const Name& name, const Access& write) {
  Extent at = write.at;
  for (NodeId n = write.owner; n != name.node && n != 0; n = flow.nodes[n].parent) {
    if (flow.nodes[n].kind == Node::Kind::sub) at = flow.nodes[n].at;
  }
  return at;
}

}  // namespace

void check_unused(Checker& c) {
  struct Use {
    bool read = false;
    bool called = false;  // assigned by a call
    Extent at;
  };
  std::map<std::uint32_t, std::pair<const semantics::Variable*, Use>> uses;
  for (const Name& name : c.flow.names) {
    auto& [variable, use] = uses[name.variable->id];
    variable = name.variable;
    use.read = use.read || name.read || name.variable->dropped;
    for (const AccessId w : name.writes) {
      const Access& a = c.flow.accesses[w];
      if (c.flow.nodes[a.owner].kind == Node::Kind::loop) continue;
      if (!use.called) use.at = assigned_at(c.flow, name, a);
      use.called = true;
    }
  }
  for (const auto& [id, entry] : uses) {
    const auto& [variable, use] = entry;
    if (use.read || !use.called || variable->name.starts_with('_')) continue;
    c.diagnostics
        .warning("T317", variable->at, "data fragment " + quote(variable->name) + " is assigned but never used")
        .note(use.at, "it is assigned here; if nobody wants it, say `@ { drop " + variable->name +
                          "; }` there or call it `_" + variable->name + "`");
  }
}

}  // namespace tessera::compiler::analysis
