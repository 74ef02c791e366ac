// How the count of a scope moves with its fragments between ranks, so that the home's is zero when all under the scope
// is over, and not before.
//
// On its home a scope counts what is under it. Another rank with fragments of it has a *proxy*, which counts those and
// owes one count to the rank that sent the first of them. So all counts that are out form a tree with its root at the
// home (Dijkstra and Scholten); a rank leaves the tree when it has no fragment left.
//
// Pure, as step.hpp: the rules only. Who keeps the counts asks them (runtime/data/scopes.hpp).
#pragma once

#include <cstdint>

namespace tessera::protocol {

// What a rank knows of a scope.
enum class Knows : std::uint8_t { nothing, proxy, home };

// A fragment of the scope has come; its sender has kept a count for it. The rank counts the fragment.
enum class Arrival : std::uint8_t {
  engages,  // the rank makes a proxy, which owes the sender that count
  returns,  // the sender gets it back at once: a count that is here already keeps the scope alive
};
constexpr Arrival arrives(Knows knows) { return knows == Knows::nothing ? Arrival::engages : Arrival::returns; }

// The rank's count has become zero.
enum class AtZero : std::uint8_t {
  ends,  // the scope: nobody anywhere can name its data fragments any more
  pays,  // the proxy, what it owes, and is forgotten
};
constexpr AtZero at_zero(Knows knows) { return knows == Knows::home ? AtZero::ends : AtZero::pays; }

// A fragment says something to the home of a name, which must arrive before the name's scope can end. `next` is the
// rank that the fragment's count returns to (-1: it ends here): when that is the home itself, the message is there
// first, since messages of a pair keep their order. Else the home has to answer (Acked), and a count of the fragment's
// scope is kept until it has.
constexpr bool must_be_answered(std::int32_t next, std::int32_t home) { return next != home; }

}  // namespace tessera::protocol
