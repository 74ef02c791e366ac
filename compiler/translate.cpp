// The pipeline: files -> text -> tokens -> tree -> model -> block program -> C++.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "compiler/analysis/analysis.hpp"
#include "compiler/block/lower.hpp"
#include "compiler/block/passes.hpp"
#include "compiler/blocks.hpp"
#include "compiler/compiler.hpp"
#include "compiler/deep_stack.hpp"
#include "compiler/diagnostics.hpp"
#include "compiler/emit/program.hpp"
#include "compiler/semantics/declarations.hpp"
#include "compiler/semantics/make_index.hpp"
#include "compiler/semantics/producers.hpp"
#include "compiler/semantics/repeated.hpp"
#include "compiler/semantics/resolver.hpp"
#include "compiler/source/preprocessor.hpp"
#include "compiler/source/unused_macros.hpp"
#include "compiler/syntax/lexer.hpp"
#include "compiler/syntax/parser.hpp"

namespace tessera::compiler {
namespace {

// A bug of ours, not the user's mistake: stop here rather than emit wrong code.
void must_hold(const std::string& problem, const char* after) {
  if (!problem.empty()) throw std::logic_error(std::string("block program after ") + after + ": " + problem);
}

// run_passes lowers and runs all passes; false when a pass reported an error.
block::Program run_passes(const semantics::Model& model, analysis::Facts facts, const MappedText& text,
                          const Options& options, const Look& look, Diagnostics& diagnostics, Output& output) {
  block::Program program = block::lower(model, text);
  program.once = std::move(facts.assigned_once);
  if (look) look("lower", model, program);
  if (options.dump_after == "lower") output.dump = block::print(program);
  for (const block::Pass& pass : block::pipeline()) {
    if (pass.optimisation && options.without.count(pass.name) != 0) continue;
    pass.run(program, diagnostics);
    if (look) look(pass.name, model, program);
    if (options.dump_after == pass.name) output.dump = block::print(program);
  }
  must_hold(block::verify(program), "all passes");
  return program;
}

void check_dump_name(const Options& options, const Sources& sources, Diagnostics& diagnostics) {
  if (options.dump_after.empty() || options.dump_after == "lower") return;
  std::string known = "lower";
  for (const block::Pass& pass : block::pipeline()) {
    if (options.dump_after == pass.name) return;
    known += std::string(", ") + pass.name;
  }
  diagnostics.error("T190", Span{sources.file(0).name, 0, 0, 1},
                    "there is no pass " + quote(options.dump_after) + "; the passes are " + known);
}

const char* type_spelling(semantics::ParameterType t) {
  switch (t) {
    case semantics::ParameterType::integer:
      return "int";
    case semantics::ParameterType::longint:
      return "long";
    case semantics::ParameterType::real:
      return "real";
    case semantics::ParameterType::string:
      return "string";
    case semantics::ParameterType::name:
      return "name";
    case semantics::ParameterType::value:
      return "value";
  }
  return "";
}

// By another path it is the same program.
std::string without_places(const std::string& kernels) {
  std::string rest;
  for (std::size_t at = 0; at < kernels.size();) {
    const std::size_t end = std::min(kernels.find('\n', at), kernels.size() - 1) + 1;
    if (kernels.compare(at, 6, "#line ") != 0) rest.append(kernels, at, end - at);
    at = end;
  }
  return rest;
}

void list_imports(const block::Program& program, const Diagnostics& diagnostics, Output& output) {
  std::set<std::string> seen;
  for (const block::Chain* chain : program.chains) {
    for (const auto& b : chain->blocks) {
      if (!b->call || b->call->kernel->in_place || b->call->kernel->of_runtime) continue;
      const semantics::Kernel& k = *b->call->kernel;
      if (!seen.insert(k.symbol).second) continue;
      Import import{k.symbol, diagnostics.span(k.at), {}, {}};
      if (diagnostics.in_library(k.at)) {
        import.library = std::filesystem::path(import.span.file).replace_extension(".cpp");
      }
      for (const semantics::ParameterType t : k.parameters) {
        import.parameters.emplace_back(type_spelling(t));
      }
      output.imports.push_back(std::move(import));
    }
  }
}

void run_stages(Sources& sources, MappedText& text, Diagnostics& diagnostics, const Options& options, const Look& look,
                Output& output) {
  Preprocessor preprocessor(sources, diagnostics, options, text);
  if (!preprocessor.run(0)) return;
  check_dump_name(options, sources, diagnostics);
  syntax::Program tree = syntax::Parser(syntax::lex(text, diagnostics), diagnostics).program();
  const bool broken = diagnostics.failed();
  semantics::drop_repeated(tree, diagnostics);
  semantics::Recorder recorder;
  const auto make_index = [&] {
    if (!options.index) return;
    auto index = semantics::make_index(sources, text, tree, recorder);
    index->complete = !broken;
    output.index = std::move(index);
  };
  if (broken && tree.subs.empty()) return make_index();  // nothing left worth looking at
  semantics::Model model = semantics::Resolver(
                               diagnostics, [&](const std::string& n) { return preprocessor.is_macro(n); },
                               options.called, options.index ? &recorder : nullptr)
                               .run(tree);
  if (!diagnostics.only_mistyped()) return make_index();
  if (!diagnostics.failed()) {  // else there is more important to be told
    check_macros(sources, preprocessor.defined(), diagnostics);
    semantics::check_declarations(tree, preprocessor.skipped(), diagnostics);
  }
  semantics::mark_used(model);
  semantics::find_producers(model, diagnostics);
  make_index();
  tree = {};  // a fifth of what a large program takes, which the rest needs
  analysis::Facts facts = analysis::analyse(model, diagnostics);
  if (diagnostics.failed()) return;
  const block::Program program = run_passes(model, std::move(facts), text, options, look, diagnostics, output);
  if (diagnostics.failed()) return;
  const emit::Context context{sources, text, program};
  output.kernels_cpp = emit::kernels_text(context, model);
  const std::string hashed = text.text + without_places(output.kernels_cpp);
  const XXH128_hash_t hash = XXH3_128bits(hashed.data(), hashed.size());
  std::vector<std::string> texts = emit::program_texts(context, model, {hash.low64, hash.high64}, options.by_reference);
  output.program_cpp = std::move(texts.front());
  output.program_parts.assign(std::make_move_iterator(texts.begin() + 1), std::make_move_iterator(texts.end()));
  list_imports(program, diagnostics, output);
}

}  // namespace

Output translate(const std::filesystem::path& source, const Options& options) { return translate(source, options, {}); }

Output translate(const std::filesystem::path& source, const Options& options, const Look& look) {
  Output output;
  Sources sources(&options.unsaved);
  MappedText text;
  Diagnostics diagnostics(sources, text);
  std::string why;
  if (sources.load(source, &why)) {
    on_deep_stack([&] { run_stages(sources, text, diagnostics, options, look, output); });
    for (std::uint32_t k = 0; k < sources.size(); ++k) {
      if (!sources.file(k).path.empty()) output.files.push_back(sources.file(k).path);
    }
  } else {
    std::error_code ignored;
    const bool exists = std::filesystem::exists(source, ignored);
    diagnostics.error("T100", Span{source.string(), 0, 0, 1},
                      !why.empty() ? "this can't be read: it is " + why
                      : exists     ? "this file can't be read"
                                   : "there is no such file");
  }
  output.diagnostics = diagnostics.take();
  options.warnings.apply(output.diagnostics);
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
  output.ok = std::none_of(output.diagnostics.begin(), output.diagnostics.end(), is_error);
  return output;
}

}  // namespace tessera::compiler
