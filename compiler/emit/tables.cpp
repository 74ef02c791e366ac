#include "compiler/emit/tables.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/emit/bulk.hpp"

namespace tessera::compiler::emit {
namespace {

using block::Kind;

class Tables {
 public:
  Tables(const Context& context, const block::Chain& chain, std::size_t position)
      : context_(context), chain_(chain), block_(*chain.blocks[position]), number_(std::to_string(block_.index)) {}

  std::string text(const Alike::Written& written) {
    std::string out = slots() + variables() + groups() + carried() + within() + feeders() + callers();
    const auto table = [&](const char* start, const std::string& list) {
      if (!list.empty()) out += start + number_ + "[] = {" + list + "};\n";
    };
    table("const std::int64_t nu", written.numbers);
    table("const Block* const ma", written.makes);
    table("const char* const te", written.texts);
    return out + descriptor(written);
  }

 private:
  std::string slots() const {
    const auto list = block_.slots();
    if (list.empty()) return "";
    std::string out = "const SlotInfo sl" + number_ + "[] = {\n";
    for (std::size_t k = 0; k < list.size(); ++k) {
      const semantics::NameUse& n = *list[k];
      const bool input = k < block_.inputs.size();
      out += "  {" + context_.written(n.at) + ", " + literal(n.base->name) + ", " + std::to_string(n.indices.size()) +
             ", " +
             (input                   ? literal(n.base->producers)
              : n.base->whole.empty() ? "nullptr"
                                      : literal(n.base->whole)) +
             "},\n";
    }
    return out + "};\n";
  }

  std::string variables() {
    std::string out;
    for (const block::FrameVariable& f : chain_.frame) {
      if (!f.variable->shown() || f.variable->is_name() || f.variable->letter == 'v') continue;
      out += (out.empty() ? "" : ", ");
      out += "{" + literal(f.variable->name) + ", '" + f.variable->letter + "', " + std::to_string(f.word) + "}";
      ++shown_;
    }
    const bool runs_once = block_.call && block_.last == nullptr;  // its outputs tell what it assigns
    for (const block::FrameVariable& f : chain_.only_read) {
      if (runs_once) break;
      out += (out.empty() ? "" : ", ");
      out += "{" + literal(f.variable->name) + ", 'o', " + std::to_string(f.word) + "}";
      ++shown_;
    }
    return out.empty() ? "" : "const VarInfo va" + number_ + "[] = {" + out + "};\n";
  }

  static bool nested(const block::Body& body) {
    for (const block::Step& step : body.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<block::When>>(&step)) {
        if (nested((*when)->body)) return true;
      } else if (const auto* spawn = std::get_if<block::Spawn>(&step)) {
        if (spawn->chain->kind != Kind::atomic) return true;
      }
    }
    return false;
  }

  // What the runtime is told of an iteration, the groups of the kernels that it calls, is all there is to it.
  static bool plain(const block::Body& body) {
    if (!body.names.empty() || !body.deletes.empty() || !body.holds.empty()) return false;
    return std::all_of(body.steps.begin(), body.steps.end(), [](const block::Step& step) {
      const auto* spawn = std::get_if<block::Spawn>(&step);
      return spawn != nullptr && spawn->chain->kind == Kind::atomic && !spawn->has_end() && spawn->holds.empty();
    });
  }

  std::string flags() const {
    if (!block_.hulls.empty()) return "kHolds | " + other_flags();
    return other_flags();
  }
  std::string other_flags() const {
    if (block_.kind == Kind::range) {
      return std::string(nested(*block_.body)  ? "kNested"
                         : plain(*block_.body) ? "kPlain"
                                               : "0") +
             (chain_.spreads ? " | kSpreads" : "") + (chain_.stays ? " | kStays" : "") +
             (chain_.placed ? " | kPlaces" : "") + (is_bulk(chain_) ? " | kBulk" : "") +
             (chain_.inlined ? " | kInlined" : "");
    }
    return std::string(chain_.stealable ? "kStealable" : "0") + (is_bulk(chain_) ? " | kBulk" : "") +
           (chain_.placed ? " | kStays" : "") + (block_.last != nullptr ? " | kRepeats" : "") +
           (chain_.inlined ? " | kInlined" : "");
  }

  // The groups of the kernels that one iteration, or turn, calls directly.
  bool has_groups() const { return block_.kind == Kind::range || block_.kind == Kind::loop; }
  std::string groups() const {
    if (!has_groups()) return "";
    return "const std::uint32_t gr" + number_ + "[] = {" + groups_of(*block_.body) + "~0u};\n";
  }
  std::string carried() const {
    if (!carries()) return "";
    if (block_.kind == Kind::loop)
      return "const std::uint32_t cd" + number_ + "[] = {" + groups_of(*block_.body) + "~0u};\n";
    return "const std::uint32_t cd" + number_ + "[] = {" + groups_of(chain_.waiting) + "~0u, " +
           groups_of(chain_.free) + "~0u, " + groups_of(*block_.body, true) + "~0u};\n";
  }
  static bool decides(const block::Body& body) {
    return std::any_of(body.steps.begin(), body.steps.end(), [](const block::Step& step) {
      const auto* when = std::get_if<std::unique_ptr<block::When>>(&step);
      return when != nullptr && ((*when)->condition != nullptr || decides((*when)->body));
    });
  }
  bool is_around() const { return block_.kind == Kind::range && (nested(*block_.body) || decides(*block_.body)); }
  std::string within() const {
    if (!is_around()) return "";
    std::string out = "const std::uint32_t wi" + number_ + "[] = {";
    for (const auto& [from, below] : block_.within) out += std::to_string(from) + ", " + std::to_string(below) + ", ";
    return out + "~0u};\n";
  }
  bool is_fed() const { return !block_.inputs.empty() && !chain_.fed_by.empty(); }
  std::string feeders() const {
    if (!is_fed()) return "";
    return "const std::uint32_t fb" + number_ + "[] = {" + groups_of(chain_.fed_by) + "~0u};\n";
  }
  bool carries() const {
    if (block_.kind == Kind::loop) return follows_others(chain_);
    return block_.kind == Kind::range && !chain_.waiting.empty();
  }
  static std::string groups_of(const std::vector<const block::Chain*>& chains) {
    std::set<std::uint32_t> groups;
    for (const block::Chain* c : chains) groups.insert(c->group());
    std::string out;
    for (const std::uint32_t g : groups) out += std::to_string(g) + ", ";
    return out;
  }
  // `once`: without those that repeat.
  static std::string groups_of(const block::Body& body, bool once = false) {
    std::string out;
    for (const block::Step& step : body.steps) {
      const auto* when = std::get_if<std::unique_ptr<block::When>>(&step);
      if (when != nullptr && (*when)->condition == nullptr) out += groups_of((*when)->body, once);
      const auto* spawn = std::get_if<block::Spawn>(&step);
      if (spawn == nullptr || spawn->chain->kind != Kind::atomic) continue;
      if (once && (spawn->chain->last().last != nullptr || spawn->chain->blocks.front()->condition != nullptr))
        continue;
      out += std::to_string(spawn->chain->group()) + ", ";
    }
    return out;
  }

  std::string callers() const {
    if (chain_.callers.empty()) return "";
    std::string out = "const Pos ca" + number_ + "[] = {";
    for (const Extent& at : chain_.callers) out += context_.pos(at) + ", ";
    return out + "0};\n";
  }

  std::string descriptor(const Alike::Written& written) const {
    const auto name = [&](bool present, const char* prefix) {
      return present ? prefix + number_ : std::string("nullptr");
    };
    const std::string of = std::to_string(written.of);
    const auto function = [&](bool present, const char* prefix) {
      return present ? prefix + of : std::string("nullptr");
    };
    const bool range = block_.kind == Kind::range;
    std::string layout;
    for (const block::FrameVariable& f : chain_.frame) layout += f.variable->letter;
    std::string out = "const Block B" + number_ + " = {" + number_ + ", " + std::to_string(chain_.group()) +
                      ", Kind::" + block::spelling(block_.kind) + ", " + flags() + ", " +
                      std::to_string(chain_.frame_words) + ", " + std::to_string(block_.inputs.size()) + ", " +
                      std::to_string(chain_.capacity()) + ", \"" + layout + "\",\n  ";
    out += function(!block_.inputs.empty(), "in") + ", " + function(!range, "run") + ", " + function(range, "it") +
           ", " + function(chain_.locator != nullptr, "loc") + ", " + function(block_.index_count() != 0, "ix") +
           ",\n  ";
    out += literal(chain_.label) + ", " + literal(chain_.text) + ", " + context_.pos(chain_.at) + ",\n  ";
    out += name(!block_.slots().empty(), "sl") + ", " + std::to_string(block_.outputs().size()) + ", " +
           std::to_string(shown_) + ", " + name(shown_ != 0, "va") + ", " + name(has_groups(), "gr") + ", " +
           name(!chain_.callers.empty(), "ca") + ", " + function(!chain_.series.empty(), "se") + ", " +
           function(block_.has_makers(), "mk") + ", " + std::to_string(block_.awaited) + "u, " +
           std::to_string(block_.expects) + "u";
    const bool holds = !block_.hulls.empty();
    const bool last = holds || carries() || is_around() || is_fed();
    if (!written.numbers.empty() || !written.makes.empty() || !written.texts.empty() || last) {
      out += ",\n  " + name(!written.numbers.empty(), "nu") + ", " + name(!written.makes.empty(), "ma") + ", " +
             name(!written.texts.empty(), "te");
    }
    if (last) {
      out += ", values_of(\"" + layout + "\"), " + function(holds, "hu") + ", " +
             (holds ? std::to_string(chain_.place(chain_.hold).word) : "0") + ", " + name(carries(), "cd");
      if (is_around() || is_fed()) out += ", " + name(is_around(), "wi");
      if (is_fed()) out += ", fb" + number_;
    }
    return out + "};\n\n";
  }

  const Context& context_;
  const block::Chain& chain_;
  const block::Block& block_;
  const std::string number_;
  std::size_t shown_ = 0;
};

}  // namespace

std::string block_tables(const Context& context, const block::Chain& chain, std::size_t position,
                         const Alike::Written& written) {
  return Tables(context, chain, position).text(written);
}

}  // namespace tessera::compiler::emit
