// The names a fragment reads, in the order of its input slots. Computing them may throw ProgramError.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

class InputNames {
 public:
  explicit InputNames(const abi::Cf* c) : size_(c->block->input_count) {
    names_ = size_ <= kFew ? reinterpret_cast<abi::Name*>(few_) : (many_.reset(new abi::Name[size_]), many_.get());
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
  std::unique_ptr<abi::Name[]> many_;
};

}  // namespace tessera::runtime
