// The names a fragment reads, in the order of its input slots. Computing them may throw ProgramError.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

class InputNames {
 public:
  explicit InputNames(const abi::Cf* c) : size_(c->block->input_count) {
    if (size_ > kFew) many_.resize(size_);
    names_ = size_ > kFew ? many_.data() : reinterpret_cast<abi::Name*>(few_);
    if (size_ > 0) c->block->inputs(c, names_);
  }
  InputNames(const InputNames&) = delete;
  InputNames& operator=(const InputNames&) = delete;
  unsigned size() const { return size_; }
  const abi::Name& operator[](unsigned k) const { return names_[k]; }

 private:
  static constexpr unsigned kFew = 16;
  unsigned size_;
  abi::Name* names_;
  // Names have initial values; these get theirs from the block.
  alignas(abi::Name) std::byte few_[kFew * sizeof(abi::Name)];
  std::vector<abi::Name> many_;
};

}  // namespace tessera::runtime
