#include "compiler/block/find_placed.hpp"

#include <algorithm>
#include <unordered_set>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

class FindPlaced {
 public:
  explicit FindPlaced(Program& program) : program_(program) {}

  void run() {
    // Subs call each other, in rings as well: all are taken to be placed until one is seen not to.
    for (const auto& sub : program_.subs) placed_.insert(sub.get());
    while (std::erase_if(placed_, [this](const Chain* sub) { return !makes_placed(*sub); }) != 0) {}
    for_each_chain(program_, [this](Chain& c) { c.placed = c.kind != Kind::atomic && makes_placed(c); });
  }

 private:
  bool makes_placed(const Chain& c) const {
    return std::all_of(c.blocks.begin(), c.blocks.end(),
                       [this](const auto& b) { return !b->call && (!b->body || makes_placed(*b->body)); });
  }
  bool makes_placed(const Body& b) const {
    return std::all_of(b.steps.begin(), b.steps.end(), [this](const Step& step) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) return makes_placed((*when)->body);
      const auto* spawn = std::get_if<Spawn>(&step);
      if (spawn == nullptr || spawn->chain->locator != nullptr) return true;
      return spawn->owned == nullptr ? placed_.count(spawn->chain) != 0 : makes_placed(*spawn->owned);
    });
  }

  Program& program_;
  std::unordered_set<const Chain*> placed_;  // subs
};

}  // namespace

void find_placed(Program& program, Diagnostics&) { FindPlaced(program).run(); }

}  // namespace tessera::compiler::block
