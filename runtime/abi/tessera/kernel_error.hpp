// What DF throws when a kernel uses a data fragment wrongly. The runtime catches it (as any
// std::exception), and reports it with the fragment and its source line.
#pragma once

#include <stdexcept>
#include <string>

#include "tessera/abi.hpp"

namespace tessera {

struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline const char* type_name(abi::Type t) {
  switch (t) {
    case abi::Type::integer:
      return "an int";
    case abi::Type::longint:
      return "a long";
    case abi::Type::real:
      return "a real";
    case abi::Type::string:
      return "a string";
    case abi::Type::bytes:
      return "bytes";
    case abi::Type::none:
      break;
    case abi::Type::memo:
      return "a memo of a journal";
  }
  return "nothing";
}

namespace detail {

inline std::string shown(const char* label) {
  if (label == nullptr || *label == 0) return "a data fragment";
  return std::string("`").append(label).append("`");
}
[[noreturn]] inline void throw_unset(const char* label, const char* what) {
  throw KernelError(shown(label) + " has no value yet (" + what + " was called): assign it first");
}
[[noreturn]] inline void throw_type(const char* label, abi::Type found, const char* wanted) {
  throw KernelError(
      shown(label) + " holds " + type_name(found) + ", but is read as " + wanted +
      (found == abi::Type::bytes ? "" : "; cast_int(), cast_long(), cast_real() and cast_string() convert"));
}

// Labels live as long as the process; kept() gives a text such a life, each text once.
inline const char* kept(const std::string& text) {
  struct Node {
    Node* next;
    std::string text;
  };
  static Node* head = nullptr;
  Node* first = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
  for (Node* n = first; n != nullptr; n = n->next) {
    if (n->text == text) return n->text.c_str();
  }
  // Two threads may keep the same text twice at the same moment: harmless.
  Node* node = new Node{first, text};
  while (!__atomic_compare_exchange_n(&head, &node->next, node, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {}
  return node->text.c_str();
}

}  // namespace detail
}  // namespace tessera
