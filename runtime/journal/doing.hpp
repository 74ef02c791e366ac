// Doing: a fragment's code that is about to run, and runs, as the journal sees it. One object on the stack of each, in
// runs with a journal only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/data/surroundings.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/journal/journal.hpp"

namespace tessera::abi {
struct Worker;
}

namespace tessera::runtime::journal {

// What is recalled comes in one of two ways (Journal::flows). Where it does not flow:
// A fragment is made. True: it need not be, for its kernel was called in an earlier run, and nobody needs what it gave.
// Else it may be marked (abi::recalled): then it waits for nothing, and its kernel is not called.
bool skips(const Journal&, Page&, abi::Cf*);
// The same of one that is to wait for the inputs of its next block, or that came here (then there is no page). True: it
// is marked.
bool recalls(const Journal&, Page*, abi::Cf*);
// The first iteration from `i` on in which this loop, which begins or goes on, makes something; past `last`: none does.
std::int64_t next_iteration(const Journal&, Page&, const abi::Cf* loop, std::int64_t i, std::int64_t last);
// Where it does: whether the kernel of a fragment that has its inputs will not be called.
bool would_be_over(Page&, const abi::Cf*);
inline bool is_over(Page& page, const abi::Cf* c) {
  return page.journal().known() != nullptr && would_be_over(page, c);
}

class Doing {
 public:
  Doing(Surroundings&, abi::Worker&, abi::Cf*);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

  bool recalled() const { return recalled_; }
  // While it runs.
  void output(const Id&, abi::Value*, std::int64_t uses);
  void took_back(const Id&);
  // Its record says all of it: it is not run again though its sweep may not be whole.
  void durable();
  // It has come to its end.
  void done();

 private:
  abi::Worker& worker_;
  abi::Cf* const cf_;
  Doing* const outer_;
  Page& page_;
  const bool kernel_;
  bool recalled_;
  bool durable_ = false;
  const std::uint32_t group_;
  Id key_;
  std::uint64_t taken_back_ = 0;
  std::optional<InputNames> names_;  // where they are written down
  std::size_t given_;                // its outputs on the page begin there
};

}  // namespace tessera::runtime::journal
