// T4xx: what is found while a program runs. The messages are made in runtime/.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

std::span<const Entry> run_time_entries() { return {}; }

}  // namespace tessera::compiler
