// SweptBytes: what those who read swept names let go. Its values go when somebody looks for them
// (fragment/horizon.hpp), long after who read them last has run: for the groups that make large values pile up
// (work/growing.hpp) they count as if those who may read what a group has made had freed it, each fragment of them
// alike.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

class SweptBytes {
 public:
  explicit SweptBytes(std::uint32_t groups) : of_(groups), known_(groups), each_(groups) {}
  // The program's fragments read what others make. Before any runs.
  void join(const abi::Program& program) {
    for (std::uint32_t k = 0; k < program.block_count; ++k) {
      const abi::Block& b = *program.blocks[k];
      for (const std::uint32_t* g = b.fed_by; g != nullptr && *g != ~0u; ++g) {
        std::vector<std::uint32_t>& readers = of_[*g].readers;
        if (std::find(readers.begin(), readers.end(), b.group) == readers.end()) readers.push_back(b.group);
      }
    }
  }
  // A value that will be swept is made. Until some are gone who reads one is taken to let go as much.
  void made(std::uint32_t maker, std::int64_t bytes) {
    if (known_[maker].load(std::memory_order_relaxed) || known_[maker].exchange(true)) return;
    const std::lock_guard lock(mutex_);
    Of& of = of_[maker];
    of.times = kExpected, of.bytes = kExpected * static_cast<float>(bytes);
    set(of, static_cast<float>(bytes));
  }
  // So many bytes of what fragments of the group have made are gone; `count(g)`: of that group so many have run.
  template <class F>
  void found(std::uint32_t maker, std::int64_t bytes, F count) {
    Of& of = of_[maker];
    if (of.readers.empty()) return;
    const std::lock_guard lock(mutex_);
    std::uint64_t runs = 0;
    for (const std::uint32_t r : of.readers) runs += count(r);
    of.bytes = of.bytes / 2 + static_cast<float>(bytes);
    of.times = of.times / 2 + static_cast<float>(runs - std::exchange(of.runs, runs));
    if (of.times >= 1) set(of, of.bytes / of.times);
  }
  // Bytes that a fragment of the group lets go so, of the latest ones, on average.
  float each(std::uint32_t group) const { return each_[group].load(std::memory_order_relaxed); }

 private:
  static constexpr float kExpected = 16;  // what is expected counts as so many runs
  struct Of {                             // what a group makes
    std::vector<std::uint32_t> readers;
    std::uint64_t runs = 0;      // of the readers, when some had gone last
    float bytes = 0, times = 0;  // that have gone, for so many of these runs; of late
    float each = 0;
  };
  void set(Of& of, float each) {
    for (const std::uint32_t r : of.readers)
      each_[r].store(each_[r].load(std::memory_order_relaxed) + each - of.each, std::memory_order_relaxed);
    of.each = each;
  }
  std::mutex mutex_;
  std::vector<Of> of_;
  std::vector<std::atomic<bool>> known_;  // that what the group makes will be swept
  std::vector<std::atomic<float>> each_;
};

}  // namespace tessera::runtime
