// Before a process is ended without destructors: what was printed on any host, by whoever, has to be out.
#pragma once

#include <cstddef>

namespace tessera::runtime::text {

// bring_out_text has what this process has captured (runtime/journal/captured.hpp), and then its carrier or collector,
// see to it that what all ranks have printed until now is printed, and returns when it is, or after a second. Does
// nothing in a process that has none of these, in a forked child, and when called again. A signal's handler may call
// it.
void bring_out_text();

// ---- for these. What the thread of one is told.
enum class Order : char { bring_out, close_door, pass_on, end };
enum class Stage : char { captured, carried };  // text goes through them in this order
class Orders {
 public:
  explicit Orders(Stage);  // one at a time of each; throws std::runtime_error
  ~Orders();               // after its thread
  int descriptor() const;  // readable when there are orders
  void give(Order order) const;
  bool next(Order& order) const;  // false: none
  void brought_out() const;

 private:
  const std::size_t stage_;
};

}  // namespace tessera::runtime::text
