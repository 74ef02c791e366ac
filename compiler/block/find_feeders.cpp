#include "compiler/block/find_feeders.hpp"

#include <map>
#include <vector>

#include "compiler/block/same_names.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

// Of one that reads what so many may assign nothing is said.
constexpr std::size_t kMostFeeders = 16;

class FindFeeders {
 public:
  explicit FindFeeders(Program& program) : program_(program) {}

  void run() {
    for_each_chain(program_, [this](Chain& c) {
      for (const auto& b : c.blocks) {
        if (b->body) pass_on(*b->body);
      }
    });
    for_each_chain(program_, [this](Chain& c) {
      for (const auto& b : c.blocks) {
        for (const NameUse* n : b->outputs()) assigned_by(n->base, c);
      }
    });
    for_each_chain(program_, [this](Chain& c) {
      for (const auto& b : c.blocks) {
        for (const Input& in : b->inputs) {
          for (const Chain* feeder : makers_[same_.of(in.name.base)]) add(c.fed_by, feeder);
        }
      }
      if (c.fed_by.size() > kMostFeeders) c.fed_by.clear();
    });
  }

 private:
  static void add(std::vector<const Chain*>& list, const Chain* c) {
    for (const Chain* other : list) {
      if (other == c) return;
    }
    list.push_back(c);
  }
  void assigned_by(const Variable* name, const Chain& c) {
    std::vector<const Chain*>& makers = makers_[same_.of(name)];
    if (makers.size() <= kMostFeeders) add(makers, &c);
  }
  void pass_on(const Body& b) {
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) pass_on((*when)->body);
      const auto* spawn = std::get_if<Spawn>(&step);
      if (spawn == nullptr) continue;
      for (std::size_t k = 0; k < spawn->arguments.size(); ++k) {
        const semantics::Argument& a = spawn->arguments[k];
        if (a.type != semantics::ParameterType::name) continue;
        same_.are_same(a.name.base, spawn->chain->parameters[k]);
      }
    }
  }

  Program& program_;
  SameNames same_;
  std::map<const Variable*, std::vector<const Chain*>, ById> makers_;
};

}  // namespace

void find_feeders(Program& program, Diagnostics&) { FindFeeders(program).run(); }

}  // namespace tessera::compiler::block
