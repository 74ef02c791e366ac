// Columns: numbers of a report, many and small: for each column its numbers as 32 bits, as differences where neighbours
// are alike, their bytes apart, all compressed together. What page/data.js reads.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tessera::cli {

class Columns {
 public:
  enum class As : std::uint8_t {
    numbers,
    differences,
    either_sign  // those below zero as they stand in 32 bits
  };
  void add(const std::string& name, const std::vector<std::uint32_t>&, As);
  // Which columns there are, how long, of how many bytes a number, and as what.
  const nlohmann::json& list() const { return list_; }
  // All of them, compressed, in base64.
  std::string text() const;

 private:
  nlohmann::json list_ = nlohmann::json::array();
  std::vector<unsigned char> bytes_;
};

}  // namespace tessera::cli
