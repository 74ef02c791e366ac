#include "compiler/analysis/flow.hpp"

namespace tessera::compiler::analysis {

Range range_of(const Flow& flow, const Linear& l) {
  Range r{l.constant, l.constant};
  for (const auto& [s, c] : l.terms) {
    const SymbolInfo& info = flow.symbols[s];
    const auto add = [c = c](std::optional<std::int64_t>& to, const std::optional<std::int64_t>& x) {
      std::int64_t product = 0, result = 0;
      if (!to || !x || __builtin_mul_overflow(*x, c, &product) || __builtin_add_overflow(*to, product, &result)) {
        to.reset();
      } else {
        to = result;
      }
    };
    add(r.first, c > 0 ? info.least : info.most);
    add(r.second, c > 0 ? info.most : info.least);
  }
  return r;
}

NodeId deepest_node(const Flow& flow, const Linear& l) {
  NodeId node = 0;
  for (const auto& [s, c] : l.terms) {
    const NodeId other = flow.symbols[s].node;
    if (flow.nodes[other].depth > flow.nodes[node].depth) node = other;
  }
  return node;
}

std::string text_of(const Flow& flow, const Linear& l) {
  std::string out;
  for (const auto& [s, c] : l.terms) {
    const std::int64_t size = c < 0 ? -c : c;
    if (c < 0) out += out.empty() ? "-" : " - ";
    if (c > 0 && !out.empty()) out += " + ";
    const std::string& text = flow.symbols[s].text;
    const bool part = size != 1 && text.find(' ') != text.npos;
    if (size != 1) out += std::to_string(size) + " * ";
    out += part ? "(" + text + ")" : text;
  }
  if (out.empty()) return std::to_string(l.constant);
  if (l.constant > 0) out += " + " + std::to_string(l.constant);
  if (l.constant < 0) out += " - " + std::to_string(-l.constant);
  return out;
}

}  // namespace tessera::compiler::analysis
