#include "compiler/block/defer_arguments.hpp"

#include <algorithm>
#include <utility>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

class Deferring {
 public:
  void body(Body& body) {
    for (Step& step : body.steps) {
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        this->body((*when)->body);
      } else if (auto* spawn = std::get_if<Spawn>(&step)) {
        if (spawn->owned != nullptr) {
          for (auto& block : spawn->owned->blocks) {
            if (block->body) this->body(*block->body);
          }
        }
        if (needs_own_chain(*spawn)) step = wrap(std::move(*spawn));
      } else if (auto* count = std::get_if<CountReads>(&step)) {
        if (!indices_read(count->name) && !count->count->reads) continue;
        Spawn outer = eval("req_count", "req_count", count->name.at);
        outer.ordinal = next_ordinal(body);
        outer.chain->last().body->steps.emplace_back(std::move(*count));
        step = std::move(outer);
      }
    }
  }

 private:
  // What waits needs a chain of its own; what says something about data has one so that messages
  // name the call.
  static bool needs_own_chain(const Spawn& s) {
    bool result = s.locator != nullptr || s.has_end() || !s.counts.empty();
    for (const semantics::Argument& a : s.arguments) result = result || argument_reads(a);
    return result;
  }

  static Spawn eval(std::string label, std::string text, Extent at) {
    Spawn outer;
    outer.owned = std::make_unique<Chain>();
    outer.chain = outer.owned.get();
    outer.at = at;
    outer.chain->kind = Kind::eval;
    outer.chain->label = std::move(label);
    outer.chain->text = std::move(text);
    outer.chain->at = at;
    outer.chain->blocks.push_back(std::make_unique<Block>());
    outer.chain->last().body.emplace();
    return outer;
  }

  static Spawn wrap(Spawn inner) {
    Spawn outer = eval(inner.chain->label, inner.chain->text, inner.at);
    outer.ordinal = inner.ordinal;
    outer.chain->locator = std::move(inner.locator);
    inner.locator = nullptr;
    inner.ordinal = 0;
    inner.end_ordinal = 1;
    for (semantics::ReadCount& c : std::exchange(inner.counts, {})) {
      outer.chain->last().body->steps.emplace_back(CountReads{std::move(c.name), std::move(c.count)});
    }
    outer.chain->last().body->steps.emplace_back(std::move(inner));
    return outer;
  }

  // An ordinal that no name or statement of the body has.
  static std::uint32_t next_ordinal(const Body& body) {
    std::uint32_t next = 0;
    const auto seen = [&](std::uint32_t k) { next = std::max(next, k + 1); };
    for (const Declared& d : body.names) seen(d.ordinal);
    for (const Step& step : body.steps) {
      if (const auto* spawn = std::get_if<Spawn>(&step)) {
        seen(spawn->ordinal);
        seen(spawn->end_ordinal);
      } else if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        seen((*when)->ordinal);
      }
    }
    return next;
  }
};

}  // namespace

void defer_arguments(Program& program, Diagnostics&) {
  for (auto& sub : program.subs) Deferring().body(*sub->last().body);
}

}  // namespace tessera::compiler::block
