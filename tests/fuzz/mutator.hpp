// Mutator: wrong programs from right ones, by bytes, by tokens, and by what is known to hurt
// translators.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::fuzz {

class Mutator {
 public:
  // `others` are texts from which parts are taken.
  Mutator(std::uint64_t seed, const std::vector<std::string>& others) : random_(seed), others_(others) {}

  // operator() changes the text in one to five places.
  std::string operator()(std::string text);

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  void change_bytes(std::string& text);
  void change_tokens(std::string& text);
  std::string harmful();

  std::mt19937_64 random_;
  const std::vector<std::string>& others_;
};

}  // namespace tessera::fuzz
