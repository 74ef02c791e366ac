// T3xx: data flow.
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::compiler {

static constexpr Entry kEntries[] = {
    {"T301", "never-assigned", Severity::error, "a data fragment is read but never assigned",
     R"(Nothing in the program gives it a value, so whoever reads it would wait for ever. A data fragment is assigned by a
kernel that has it as a `name` argument, by a `sub` that passes it on to one, by `>>`, or as the `out` of a `while`.)",
     R"(sub main() {
  df x;
  show(x);
})",
     R"(sub main() {
  df x;
  init(1, x);
  show(x);
})"},
};

std::span<const Entry> flow_entries() { return kEntries; }

}  // namespace tessera::compiler
