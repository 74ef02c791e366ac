#include "balancer/simulator/program.hpp"

namespace tessera::balancer::simulator {

void Program::arrived(Rank, const Note&, Effects&) {}
std::int64_t Program::bytes_here(const Item&, Rank) { return 0; }
std::int64_t Program::board(const Item&, Rank, Rank, Effects&) { return 0; }
bool Program::landed(Rank, const Item&, Effects&) { return true; }
void Program::nearest_first(std::span<Item>, std::int64_t, Rank, Rank) const {}
std::int64_t Program::output_bytes(const Item&) const { return 0; }

}  // namespace tessera::balancer::simulator
