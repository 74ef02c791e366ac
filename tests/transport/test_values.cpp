// The value functions of the ABI, as plain as possible: one allocation for the header and one behind.
// They count, so that tests can tell that nothing leaks.
#include "test_values.hpp"

#include <cstdlib>
#include <cstring>

#include "runtime/memory/value.hpp"

namespace tessera {

std::atomic<std::int64_t> live_values{0};

namespace abi {

static Value* make(Type type, std::uint64_t size, std::uint64_t room) {
  auto* v = new Value{};
  v->refs = 1;
  v->type = type;
  v->size = size;
  v->data = std::aligned_alloc(64, (room + 63) / 64 * 64 + 64);
  ++live_values;
  return v;
}

Value* value_bytes(std::uint64_t size) {
  Value* v = make(Type::bytes, size, size);
  std::memset(v->data, 0, size);
  return v;
}

Value* value_string(const char* text, std::uint64_t size) {
  Value* v = make(Type::string, size, size + 1);
  if (size > 0) std::memcpy(v->data, text, size);
  static_cast<char*>(v->data)[size] = 0;
  return v;
}

void value_free(Value* v) {
  std::free(v->data);
  delete v;
  --live_values;
}

}  // namespace abi

namespace runtime {

abi::Value* value_to_fill(std::uint64_t size) { return abi::value_bytes(size); }

}  // namespace runtime
}  // namespace tessera
