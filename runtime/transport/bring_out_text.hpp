// Before a process is ended without destructors: what was printed on any host, by whoever, has to be out.
#pragma once

namespace tessera::runtime::text {

// bring_out_text has the carrier or collector of this process see to it that what all ranks have printed until now is
// printed, and returns when it is, or after a second. Does nothing in a process that has neither (all ranks are on one
// host), in a forked child, and when called again. A signal's handler may call it.
void bring_out_text();

// ---- for carrier and collector. What the thread of either is told.
enum class Order : char { bring_out, close_door, end };
class Orders {
 public:
  Orders();                // one at a time; throws std::runtime_error
  ~Orders();               // after its thread
  int descriptor() const;  // readable when there are orders
  void give(Order order) const;
  bool next(Order& order) const;  // false: none
  void brought_out() const;
};

}  // namespace tessera::runtime::text
