// What the reference interpreter computes with.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/semantics/model.hpp"

namespace tessera::reference {

using Bytes = std::vector<std::uint8_t>;
using Value = std::variant<std::int32_t, double, std::string, Bytes, std::int64_t>;

// Name: a data fragment, or a prefix of one: which entry of which declaration, and the indices.
struct Name {
  std::uint64_t base = 0;
  std::vector<std::int32_t> indices;
  friend auto operator<=>(const Name&, const Name&) = default;
};

// Environment: what the variables are in one body; inner ones end in outer ones.
struct Environment {
  std::shared_ptr<const Environment> outer;
  std::unordered_map<const compiler::semantics::Variable*, std::variant<Name, Value>> here;

  const std::variant<Name, Value>& operator[](const compiler::semantics::Variable* v) const {
    for (const Environment* e = this; e != nullptr; e = e->outer.get()) {
      if (const auto it = e->here.find(v); it != e->here.end()) return it->second;
    }
    throw std::logic_error("reference: " + v->name + " has no meaning here");
  }
};

// Failure: the program is wrong, the run ends.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Missing: this fragment has no value yet.
struct Missing {
  Name name;
};

// Store: the data fragments of the whole run.
class Store {
 public:
  // read returns the value; throws Missing when there is none yet, Failure when it has been freed.
  const Value& read(const Name& name) const;
  void assign(const Name& name, Value value);  // throws Failure when it has a value
  void free_after(const Name& name, std::int32_t reads);
  void free(const Name& name);
  void count_read(const Name& name);  // one fragment has read it

 private:
  struct Entry {
    std::unique_ptr<Value> value;
    bool assigned = false;
    bool freed = false;
    std::int32_t allowed = -1;  // reads until it is freed; -1: no limit
    std::int32_t reads = 0;
  };
  std::map<Name, Entry> entries_;
};

}  // namespace tessera::reference
