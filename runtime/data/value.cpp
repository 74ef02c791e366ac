// Values: how they are allocated and freed (abi.hpp says what they are).
#include <cstring>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/memory/pool.hpp"

namespace tessera::abi {
namespace {

enum Pool : std::uint8_t { kPooled = 0, kBlock = 1 };

constexpr std::size_t kHeader = sizeof(Value);
constexpr std::size_t kAlign = 64;

Value* scalar(Type type) {
  auto* v = static_cast<Value*>(runtime::pool_allocate(kHeader));
  v->refs = 1;
  v->type = type;
  v->pool = kPooled;
  v->borne = 0;
  return v;
}

// One block: header, then the payload on the next 64-byte boundary.
Value* block(Type type, std::uint64_t size, std::size_t extra) {
  auto* v = static_cast<Value*>(runtime::block_allocate(kHeader + kAlign + size + extra));
  v->refs = 1;
  v->type = type;
  v->pool = kBlock;
  v->borne = 0;
  v->size = size;
  const auto at = reinterpret_cast<std::uintptr_t>(v) + kHeader;
  v->data = reinterpret_cast<void*>((at + kAlign - 1) & ~(kAlign - 1));
  return v;
}

}  // namespace

Value* value_int(std::int32_t i) {
  Value* v = scalar(Type::integer);
  v->size = sizeof i;
  v->data = nullptr;
  v->i = i;
  return v;
}
Value* value_real(double r) {
  Value* v = scalar(Type::real);
  v->size = sizeof r;
  v->r = r;
  return v;
}
Value* value_string(const char* text, std::uint64_t size) {
  Value* v = block(Type::string, size, 1);
  if (text != nullptr) std::memcpy(v->data, text, size);
  static_cast<char*>(v->data)[size] = '\0';
  return v;
}
Value* value_bytes(std::uint64_t size) {
  Value* v = block(Type::bytes, size, 0);
  std::memset(v->data, 0, size);
  return v;
}
void value_free(Value* v) {
  if (v->pool == kPooled) {
    runtime::pool_free(v, kHeader);
  } else {
    runtime::block_free(v);
  }
}

}  // namespace tessera::abi
