// What the kernels of the standard library check, and say when it does not hold.
#pragma once

#include <cstdint>
#include <string>
#include <tessera.hpp>

namespace tessera::stdlib {

// shown is the name of an argument for messages; an expression has none.
template <class Fragment>
std::string shown(const Fragment& x) {
  const std::string name = x.name();
  return name.empty() ? "an argument" : "`" + name + "`";
}

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw KernelError(otherwise);
}

// number is the value of an int, a long or a real.
inline double number(const Input& x) {
  const bool whole = x.type() == abi::Type::integer || x.type() == abi::Type::longint;
  return whole ? static_cast<double>(x.get<long>()) : x.get<double>();
}

// length checks a number of elements that an argument gives.
inline std::size_t length(int n, const char* what) {
  require(n >= 0, std::string(what) + " of " + std::to_string(n) + " elements");
  return static_cast<std::size_t>(n);
}

// random is the element `index` of the sequence `seed`: in [0, 1), the same on every machine and in
// any order of computation.
inline double random(int seed, std::uint64_t index) {
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  };
  const std::uint64_t key = mixed(static_cast<std::uint32_t>(seed) + 0x9E3779B97F4A7C15u);
  return static_cast<double>(mixed(key + index * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53;
}

// part is where block `k` of `parts` begins among n elements; sizes differ by one at most.
inline std::size_t part(std::size_t n, int k, int parts) {
  return n * static_cast<std::size_t>(k) / static_cast<std::size_t>(parts);
}

// require_part checks the number of a block and the number of blocks.
inline void require_part(std::size_t n, int k, int parts, const char* what) {
  require(
      parts >= 1 && static_cast<std::size_t>(parts) <= n,
      std::to_string(n) + " " + what + " can't be split into " + std::to_string(parts) + " parts");
  require(k >= 0 && k < parts,
          "there is no part " + std::to_string(k) + " of " + std::to_string(parts));
}

}  // namespace tessera::stdlib
