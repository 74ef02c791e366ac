#include "runtime/transport/bring_out_text.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <utility>

namespace tessera::runtime::text {
namespace {

constexpr int kPatience = 1000;  // ms

// What a signal's handler needs stands here: it can't ask whether an object is still there.
struct Told {
  std::atomic<pid_t> process{0};  // that has orders; 0: none, or it was called
  std::atomic<bool> done{false};
  int orders[2] = {-1, -1};
};
Told stages[2];

void bring_out(Told& told) {
  pid_t mine = getpid();
  if (!told.process.compare_exchange_strong(mine, 0)) return;
  const auto order = static_cast<char>(Order::bring_out);
  if (write(told.orders[1], &order, 1) != 1) return;
  for (int ms = 0; ms < kPatience && !told.done.load(); ++ms) {
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
}

}  // namespace

void bring_out_text() {
  for (Told& told : stages) bring_out(told);
}

Orders::Orders(Stage stage) : stage_(static_cast<std::size_t>(stage)) {
  Told& told = stages[stage_];
  if (pipe2(told.orders, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
  told.done = false;
  told.process = getpid();
}
Orders::~Orders() {
  if (stages[stage_].process.exchange(0) == 0) return;  // somebody is bringing out
  for (int& end : stages[stage_].orders) close(std::exchange(end, -1));
}
int Orders::descriptor() const { return stages[stage_].orders[0]; }
void Orders::give(Order order) const {
  const auto o = static_cast<char>(order);
  (void)!write(stages[stage_].orders[1], &o, 1);
}
bool Orders::next(Order& order) const {
  char o = 0;
  if (read(stages[stage_].orders[0], &o, 1) != 1) return false;
  order = static_cast<Order>(o);
  return true;
}
void Orders::brought_out() const { stages[stage_].done = true; }

}  // namespace tessera::runtime::text
