// Doing: a fragment's code that is about to run, and runs, as the journal sees it. One object on the stack of each, in
// runs with a journal only.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/data/surroundings.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/journal/journal.hpp"

namespace tessera::abi {
struct Worker;
}

namespace tessera::runtime::journal {

// Whether a fragment's kernel will not be called, for the journal knows what it gave. Only where there is a page.
bool recalls(const Known*, Page&, const abi::Cf*);

class Doing {
 public:
  // If the journal knows what the fragment's kernel gave, the fragment is marked (abi::recalled).
  Doing(Surroundings&, const Known*, abi::Worker&, abi::Cf*);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

  bool recalled() const { return recalled_; }
  // While it runs.
  void output(const Id&, abi::Value*, std::int64_t uses);
  void took_back(const Id&);
  void durable() { durable_ = true; }
  // It has come to its end.
  void done();

 private:
  abi::Worker& worker_;
  abi::Cf* const cf_;
  Doing* const outer_;
  Page& page_;
  const bool kernel_;
  bool recalled_ = false, durable_ = false;
  Id key_;
  std::uint64_t taken_back_ = 0;
  std::optional<InputNames> names_;
  std::size_t given_;  // its outputs on the page begin there
};

}  // namespace tessera::runtime::journal
