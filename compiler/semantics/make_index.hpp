#pragma once

#include <memory>

#include "compiler/index.hpp"
#include "compiler/semantics/recorder.hpp"
#include "compiler/source/sources.hpp"

namespace tessera::compiler::semantics {

// make_index joins the declarations of the tree with what the resolver recorded, in places of the
// user's files.
std::shared_ptr<Index> make_index(const Sources& sources, const MappedText& text, const syntax::Program& tree,
                                  const Recorder& recorder);

}  // namespace tessera::compiler::semantics
