#include "value.hpp"

namespace tessera::reference {

const Value& Store::read(const Name& name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end() || (!it->second.assigned && !it->second.freed)) throw Missing{name};
  if (it->second.freed) throw Failure("a fragment is read that was freed before");
  return *it->second.value;
}

void Store::assign(const Name& name, Value value) {
  Entry& e = entries_[name];
  if (e.assigned) throw Failure("a fragment is assigned twice");
  e.assigned = true;
  e.value = std::make_unique<Value>(std::move(value));
}

void Store::free_after(const Name& name, std::int32_t reads) {
  entries_[name].allowed = reads;
  if (reads <= entries_[name].reads) free(name);
}

void Store::free(const Name& name) { entries_[name].freed = true; }

void Store::count_read(const Name& name) {
  Entry& e = entries_[name];
  ++e.reads;
  if (e.allowed == e.reads) free(name);
}

}  // namespace tessera::reference
