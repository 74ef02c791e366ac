#include "compiler/emit/alike.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tessera::compiler::emit {
namespace {

// So many blocks are alike before functions are shared. What fewer have is not worth the loads.
constexpr std::size_t kAlike = 8;

// No literal has these bytes (text.cpp).
constexpr char kOpen = '\1', kClose = '\2', kShared = '\3';

// split calls `text` with what stands outside holes and `hole` with (kind, plain, shared).
template <class Text, class Found>
void split(std::string_view all, Text text, Found found) {
  while (true) {
    const std::size_t open = all.find(kOpen);
    text(all.substr(0, open));
    if (open == std::string_view::npos) return;
    const std::size_t close = all.find(kClose, open);
    const std::string_view inside = all.substr(open + 2, close - open - 2);
    const std::size_t shared = inside.find(kShared);
    found(static_cast<Hole>(all[open + 1]), inside.substr(0, shared),
          shared == std::string_view::npos ? std::string_view() : inside.substr(shared + 1));
    all.remove_prefix(close + 1);
  }
}

struct Shape {
  std::string text;
  std::vector<std::string> holes;
};

Shape shape_of(std::string_view functions) {
  Shape s;
  split(
      functions, [&](std::string_view text) { s.text += text; },
      [&](Hole kind, std::string_view plain, std::string_view shared) {
        s.text += kOpen;
        s.text += static_cast<char>(kind);
        s.text += shared;
        if (kind != Hole::index && kind != Hole::known) s.holes.emplace_back(plain);
      });
  return s;
}

std::pair<std::uint64_t, std::uint64_t> shape_key(const Shape& s) {
  const XXH128_hash_t h = XXH3_128bits(s.text.data(), s.text.size());
  return {h.low64, h.high64};
}

}  // namespace

std::string hole(Hole kind, std::string_view plain, std::string_view shared) {
  std::string out{kOpen, static_cast<char>(kind)};
  out += plain;
  if (!shared.empty()) (out += kShared) += shared;
  return out += kClose;
}

std::string without_holes(std::string_view text) {
  std::string out;
  split(
      text, [&](std::string_view t) { out += t; },
      [&](Hole, std::string_view plain, std::string_view) { out += plain; });
  return out;
}

void Alike::add(std::uint32_t block, std::string_view functions) {
  Shape s = shape_of(functions);
  Group& g = groups_[shape_key(s)];
  if (g.members++ == 0) {
    g.first = block;
    g.differ.resize(s.holes.size());
    g.holes = std::move(s.holes);
    return;
  }
  for (std::size_t k = 0; k < g.holes.size(); ++k) g.differ[k] = g.differ[k] || g.holes[k] != s.holes[k];
}

Alike::Written Alike::write(std::uint32_t block, std::string_view functions) const {
  const Group& g = groups_.at(shape_key(shape_of(functions)));
  if (g.members < kAlike) return {block, without_holes(functions), "", "", ""};
  Written out{g.first, "", "", "", ""};
  std::size_t numbers = 0, makes = 0, texts = 0, next = 0;
  const auto table = [](std::string& list, std::string_view plain, std::size_t& count) {
    (list += list.empty() ? "" : ", ") += plain;
    return std::to_string(count++) + "]";
  };
  const std::string own = std::to_string(g.first);
  split(
      functions, [&](std::string_view text) { out.functions += text; },
      [&](Hole kind, std::string_view plain, std::string_view shared) {
        if (kind == Hole::index) {
          out.functions += own;
        } else if (kind == Hole::known) {
          out.functions += shared;
        } else if (!g.differ[next++]) {
          out.functions += plain;
        } else if (kind == Hole::block) {
          out.functions += "*c->block->makes[" + table(out.makes, "&" + std::string(plain), makes);
        } else if (kind == Hole::text) {
          out.functions += "c->block->texts[" + table(out.texts, plain, texts);
        } else {
          out.functions += (kind == Hole::place ? "(Pos)c->block->numbers[" : "(int)c->block->numbers[") +
                           table(out.numbers, plain, numbers);
        }
      });
  if (block != g.first) out.functions.clear();
  return out;
}

}  // namespace tessera::compiler::emit
