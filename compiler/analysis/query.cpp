#include "compiler/analysis/query.hpp"

#include <algorithm>

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostParts = 12;

}  // namespace

// The nodes around the shared one: which of them leave open whether their body runs?
Query::Query(const Flow& flow, NodeId shared, bool values_too)
    : flow_(flow), shared_(shared), values_too_(values_too), shared_depth_(flow.nodes[shared].depth) {
  for (NodeId n = shared; n != kNone && anchor_depth_ == 0; n = flow.nodes[n].parent) {
    const Node& node = flow.nodes[n];
    const bool open = node.kind == Node::Kind::iteration || !node.condition_key.empty() || node.condition.size() > 1;
    if (open) anchor_depth_ = node.depth;
  }
}

std::vector<NodeId> Query::chain(NodeId node, NodeId around) const {
  std::vector<NodeId> all;
  for (; node != around; node = flow_.nodes[node].parent) all.push_back(node);
  std::reverse(all.begin(), all.end());
  return all;
}

std::size_t Query::variable(Symbol s, Tag tag) {
  const SymbolInfo& info = flow_.symbols[s];
  if (depth(s) <= shared_depth_) tag = common;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k].symbol == s && keys_[k].tag == tag) return k;
  }
  keys_.push_back({s, tag});
  const std::size_t v = keys_.size() - 1;
  if (info.kind == SymbolInfo::Kind::value) anchor_depth_ = std::max(anchor_depth_, depth(s));
  if (info.kind == SymbolInfo::Kind::quotient) {  // 0 <= of - divisor * v <= divisor - 1
    Row low = row(info.of, tag);
    low.ref(v) -= info.divisor;
    Row high = low;
    for (Integer& a : high.a) a = -a;
    high.c = info.divisor - 1 - low.c;
    definitions_.push_back(std::move(low));
    definitions_.push_back(std::move(high));
  }
  return v;
}

Row Query::row(const Linear& l, Tag tag) {
  Row r;
  r.c = l.constant;
  for (const auto& [s, c] : l.terms) r.ref(variable(s, tag)) += c;
  return r;
}

std::string Query::unknowns(const std::vector<Integer>& point) const {
  std::string out;
  for (std::size_t v = 0; v < keys_.size() && v < point.size(); ++v) {
    const SymbolInfo& info = flow_.symbols[keys_[v].symbol];
    if (info.kind != SymbolInfo::Kind::value || info.text == "...") continue;
    out += (out.empty() ? "" : ", ") + info.text + " = " + std::to_string(point[v]);
  }
  return out;
}

bool Query::determined(const Linear& l) const {
  return std::all_of(l.terms.begin(), l.terms.end(), [&](const auto& term) {
    const SymbolInfo& info = flow_.symbols[term.first];
    if (depth(term.first) <= shared_depth_) return true;
    if (info.kind == SymbolInfo::Kind::quotient) return determined(info.of);
    return values_too_ || info.kind == SymbolInfo::Kind::counter;
  });
}

void Query::add_positive(System& s, const Linear& l, Tag tag) { s.positive.push_back(row(l, tag)); }

System Query::empty() const {
  System s;
  s.variables = keys_.size();
  s.positive = definitions_;
  return s;
}

Domain Query::domain(NodeId node, Tag tag) {
  Domain d;
  d.parts.emplace_back();
  const auto everywhere = [&](const Linear& l) {
    const Row r = row(l, tag);
    for (System& part : d.parts) part.positive.push_back(r);
  };
  const auto difference = [](const Linear& a, const Linear& b) {
    bool ok = true;
    return sum(a, b, -1, ok);
  };
  for (const NodeId n : chain(node, shared_)) {
    const Node& at = flow_.nodes[n];
    bool open = at.kind == Node::Kind::iteration || !at.condition_key.empty();
    if (at.counter != kNone) {
      const Linear counter = linear_symbol(at.counter);
      variable(at.counter, tag);
      if (determined(at.first)) {
        everywhere(difference(counter, at.first));
      } else {
        open = true;
      }
      if (at.kind == Node::Kind::range && determined(at.last)) {
        everywhere(difference(at.last, counter));
      } else {
        open = true;
      }
    }
    const Alternatives& condition = values_too_ && !at.of_values.empty() ? at.of_values : at.condition;
    if (d.parts.size() * std::max<std::size_t>(1, condition.size()) > kMostParts) {
      open = true;
    } else if (!condition.empty()) {
      std::vector<System> parts;
      for (const auto& alternative : condition) {
        for (System part : d.parts) {
          for (const Linear& l : alternative) {
            if (determined(l)) {
              add_positive(part, l, tag);
            } else {
              open = true;
            }
          }
          parts.push_back(std::move(part));
        }
      }
      d.parts = std::move(parts);
    }
    if (open) {
      d.guards.push_back(n);
      d.guard = n;
    }
  }
  return d;
}

bool may_be_one(const Access& a, const Access& b) {
  const std::size_t m = a.indices.size();
  const std::size_t n = b.indices.size();
  return m == n || (m < n ? a.prefix : b.prefix);
}

System Query::equal(const Access& a, Tag of_a, const Access& b, Tag of_b, bool& exact) {
  System s;
  exact = !a.prefix && !b.prefix;
  if (!may_be_one(a, b)) {  // `x` and `x[i]`: no instances are equal
    Row never;
    never.c = 1;
    s.zero.push_back(std::move(never));
    return s;
  }
  for (std::size_t k = 0; k < std::min(a.indices.size(), b.indices.size()); ++k) {
    if (!determined(a.indices[k]) || !determined(b.indices[k])) {
      exact = false;
      continue;
    }
    Row r = row(a.indices[k], of_a);
    const Row other = row(b.indices[k], of_b);
    for (std::size_t v = 0; v < other.a.size(); ++v) r.ref(v) -= other.a[v];
    r.c -= other.c;
    s.zero.push_back(std::move(r));
  }
  return s;
}

std::vector<Symbol> Query::values_of_both() const {
  std::vector<Symbol> all;
  for (const Key& k : keys_) {
    const bool other = std::any_of(keys_.begin(), keys_.end(),
                                   [&](const Key& o) { return o.symbol == k.symbol && o.tag == two && k.tag == one; });
    if (other && flow_.symbols[k.symbol].kind == SymbolInfo::Kind::value) all.push_back(k.symbol);
  }
  return all;
}

std::vector<System> Query::orders(NodeId node, Tag before, Tag after) {
  std::vector<System> all;
  System equal_so_far;
  for (const NodeId n : chain(node, shared_)) {
    if (flow_.nodes[n].counter == kNone) continue;
    const Linear counter = linear_symbol(flow_.nodes[n].counter);
    Row difference = row(counter, after);
    const Row first = row(counter, before);
    for (std::size_t v = 0; v < first.a.size(); ++v) difference.ref(v) -= first.a[v];
    System order = equal_so_far;
    order.positive.push_back(difference);
    order.positive.back().c -= 1;
    all.push_back(std::move(order));
    equal_so_far.zero.push_back(std::move(difference));
  }
  return all;
}

System Query::context() {
  System s;
  for (NodeId n = shared_; n != kNone; n = flow_.nodes[n].parent) {
    const Node& at = flow_.nodes[n];
    if (at.counter != kNone) {
      Row low = row(linear_symbol(at.counter), common);
      Row high = low;
      const Row first = row(at.first, common);
      for (std::size_t v = 0; v < first.a.size(); ++v) low.ref(v) -= first.a[v];
      low.c -= first.c;
      s.positive.push_back(std::move(low));
      if (at.kind == Node::Kind::range) {
        Row last = row(at.last, common);
        for (std::size_t v = 0; v < high.a.size(); ++v) last.ref(v) -= high.a[v];
        last.c -= high.c;
        s.positive.push_back(std::move(last));
      }
    }
    if (at.condition.size() == 1) {
      for (const Linear& l : at.condition[0]) add_positive(s, l, common);
    }
  }
  return s;
}

void Query::same_shared(System& s, const Query& other, const std::vector<Integer>& point) const {
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k].tag != common) continue;
    Row row;
    row.ref(k) = 1;
    row.c = -other.value(linear_symbol(keys_[k].symbol), common, point);
    s.zero.push_back(std::move(row));
  }
}

std::vector<bool> Query::given(std::uint32_t inner_depth) const {
  std::vector<bool> all(keys_.size());
  const std::uint32_t anchor = std::max(anchor_depth_, std::min(inner_depth, shared_depth_));
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const std::uint32_t d = depth(keys_[k].symbol);
    all[k] =
        keys_[k].tag == common ? d <= anchor || inner_depth > shared_depth_ : keys_[k].tag == two && d <= inner_depth;
  }
  return all;
}

std::int64_t Query::value(const Linear& l, Tag tag, const std::vector<Integer>& point) const {
  std::int64_t sum = l.constant;
  for (const auto& [s, c] : l.terms) {
    const Tag t = depth(s) <= shared_depth_ ? common : tag;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (keys_[k].symbol == s && keys_[k].tag == t && k < point.size()) sum += c * point[k];
    }
  }
  return sum;
}

}  // namespace tessera::compiler::analysis
