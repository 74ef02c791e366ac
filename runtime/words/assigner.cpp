#include "runtime/words/assigner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>

#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

// abi::mix backwards: the name of which `a` is element `v`.
abi::Id unmix(abi::Id a, std::int64_t v) {
  a.hi ^= abi::fold(a.lo, 0xE7037ED1A0B428DBu);
  a.lo ^= abi::fold(a.hi, 0xA0761D6478BD642Fu);
  a.hi ^= abi::fold(a.lo, 0xD6E8FEB86659FD93u);
  a.lo ^= (static_cast<std::uint64_t>(v) + 1) * 0x9E3779B97F4A7C15u;
  return a;
}

bool is_number(std::string_view s) {
  return !s.empty() && s.size() <= 9 &&
         std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c); });
}
bool is_name(std::string_view s) {
  return !s.empty() && !std::isdigit(static_cast<unsigned char>(s[0])) &&
         std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}
std::int64_t number(std::string_view s) {
  std::int64_t n = 0;
  std::from_chars(s.data(), s.data() + s.size(), n);
  return n;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// Where the whole is in brackets that belong together, without them.
std::string_view unwrap(std::string_view s) {
  for (s = trim(s); s.size() > 1 && s.front() == '(' && s.back() == ')'; s = trim(s.substr(1, s.size() - 2))) {
    int depth = 0;
    for (std::size_t i = 0; i + 1 < s.size(); ++i) {
      depth += (s[i] == '(') - (s[i] == ')');
      if (depth == 0) return s;
    }
  }
  return s;
}

// The last of these operators outside of brackets; npos: none.
std::size_t last_operator(std::string_view s, std::string_view which) {
  int depth = 0;
  for (std::size_t i = s.size(); i-- > 1;) {
    depth += (s[i] == ')' || s[i] == ']') - (s[i] == '(' || s[i] == '[');
    if (depth != 0 || which.find(s[i]) == which.npos) continue;
    const std::string_view before = trim(s.substr(0, i));
    if (!before.empty() && std::string_view("+-*/%(").find(before.back()) == std::string_view::npos)
      return i;  // no sign
  }
  return s.npos;
}

// The expressions in the brackets of `x[i + 1][j]`.
std::vector<std::string_view> indices_as_written(std::string_view text) {
  std::vector<std::string_view> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' && depth++ == 0) begin = i + 1;
    if (text[i] == ']' && --depth == 0) found.push_back(text.substr(begin, i - begin));
  }
  return found;
}

using Variables = std::vector<std::pair<std::string, std::int64_t>>;

// Statements of main see a name with all its indices; one of a sub may have been given an element.
bool in_main(const abi::Block& b) { return b.callers == nullptr; }

// What the indices of an output say of variables; none: it can't be this output.
std::optional<Variables> solve(const abi::Block& b, const abi::SlotInfo& slot, const AssignedName& name) {
  const Indices& indices = name.indices;
  if (name.all && (slot.indices > indices.size() || (in_main(b) && slot.indices != indices.size())))
    return std::nullopt;
  if (name.base != nullptr && in_main(b) && std::string_view(name.base) != slot.base) return std::nullopt;
  // Fewer than there are: `let` has bound a name with some.
  const std::vector<std::string_view> written = indices_as_written(slot.text);
  Variables found;
  if (written.size() > slot.indices || std::string_view(slot.text).find("..") != std::string_view::npos) return found;
  for (std::size_t k = 0; k < std::min(written.size(), indices.size()); ++k) {
    const IndexSays says = solve_index(written[written.size() - 1 - k], indices[indices.size() - 1 - k]);
    if (!says.possible) return std::nullopt;
    if (!says.variable) continue;
    const auto same =
        std::find_if(found.begin(), found.end(), [&](auto& v) { return v.first == says.variable->first; });
    if (same != found.end() && same->second != says.variable->second) return std::nullopt;
    if (same == found.end()) found.insert(found.begin(), *says.variable);
  }
  return found;
}

}  // namespace

IndexSays solve_index(std::string_view expression, std::int64_t value) {
  const std::string_view e = unwrap(expression);
  if (is_number(e)) return {number(e) == value, {}};
  if (is_name(e)) return {true, {{std::string(e), value}}};
  if (const std::size_t at = last_operator(e, "+-"); at != e.npos) {
    const std::string_view left = unwrap(e.substr(0, at)), right = unwrap(e.substr(at + 1));
    const bool minus = e[at] == '-';
    if (is_number(right)) return solve_index(left, minus ? value + number(right) : value - number(right));
    if (is_number(left)) return solve_index(right, minus ? number(left) - value : value - number(left));
    return {};
  }
  if (const std::size_t at = last_operator(e, "*/%"); at != e.npos && e[at] == '*') {
    const std::string_view left = unwrap(e.substr(0, at)), right = unwrap(e.substr(at + 1));
    if (!is_number(left) && !is_number(right)) return {};
    const std::int64_t factor = number(is_number(left) ? left : right);
    if (factor == 0) return {value == 0, {}};
    if (value % factor != 0) return {false, {}};
    return solve_index(is_number(left) ? right : left, value / factor);
  }
  if (e.size() > 1 && e[0] == '-' && (is_name(trim(e.substr(1))) || is_number(trim(e.substr(1))))) {
    return solve_index(e.substr(1), -value);
  }
  return {};
}

std::optional<Indices> indices_of(abi::Id name, abi::Id scope) {
  constexpr std::uint32_t kDeclarations = 64;
  constexpr std::int64_t kLeast = -16, kFar = 1 << 20, kMost = 4096, kMostOfThree = 256;
  struct Hash {
    std::size_t operator()(const abi::Id& id) const { return id.lo; }
  };
  // From the scope one index forwards, from the name two backwards.
  std::unordered_map<abi::Id, std::int64_t, Hash> bases, rows;
  for (std::uint32_t d = 0; d < kDeclarations; ++d) bases.emplace(abi::mix(scope, d), d);
  if (bases.contains(name)) return Indices{};
  for (std::int64_t i = kLeast; i < kFar; ++i) {
    if (bases.contains(unmix(name, i))) return Indices{i};
  }
  rows.reserve(kDeclarations * static_cast<std::size_t>(kMost - kLeast));
  for (const auto& [base, d] : bases) {
    for (std::int64_t i = kLeast; i < kMost; ++i) rows.emplace(abi::mix(base, static_cast<std::uint64_t>(i)), i);
  }
  for (std::int64_t j = kLeast; j < kMost; ++j) {
    if (const auto row = rows.find(unmix(name, j)); row != rows.end()) return Indices{row->second, j};
  }
  for (std::int64_t k = kLeast; k < kMostOfThree; ++k) {
    const abi::Id plane = unmix(name, k);
    for (std::int64_t j = kLeast; j < kMostOfThree; ++j) {
      if (const auto row = rows.find(unmix(plane, j)); row != rows.end()) return Indices{row->second, j, k};
    }
  }
  return std::nullopt;
}

std::optional<unsigned> output_of(const abi::Block& b, const AssignedName& name) {
  std::optional<unsigned> found;
  for (unsigned o = 0; o < b.output_count; ++o) {
    if (!solve(b, b.slots[b.input_count + o], name)) continue;
    if (found) return std::nullopt;
    found = o;
  }
  return found;
}

std::string describe_assigner(const abi::Program& program, const abi::Block& b, const AssignedName& assigned) {
  std::string with;
  if (const std::optional<unsigned> output = output_of(b, assigned)) {
    const Variables variables = *solve(b, b.slots[b.input_count + *output], assigned);
    for (const auto& [name, value] : variables) with += fmt::format("{}{}={}", with.empty() ? "" : ", ", name, value);
    if (!with.empty()) with = fmt::format(" ({})", with);
  }
  return fmt::format("`{}` at {}{}{}", b.text, place(program, b.pos), with, called_at(program, b));
}

AssignedName name_of_slot(const abi::Cf* c, unsigned slot) {
  const abi::Block& b = *c->block;
  const unsigned slots = static_cast<unsigned>(b.input_count) + b.output_count;
  if (slot >= slots) return {};
  unsigned all = 0, before = 0;
  for (unsigned i = 0; i < slots; ++i) {
    if (i < slot) before += b.slots[i].indices;
    all += b.slots[i].indices;
  }
  Indices values(all);
  if (b.indices != nullptr) b.indices(c, values.data());
  return {{values.begin() + before, values.begin() + before + b.slots[slot].indices},
          in_main(b),
          in_main(b) ? b.slots[slot].base : nullptr};
}

}  // namespace tessera::runtime
