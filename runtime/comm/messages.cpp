#include "runtime/comm/messages.hpp"

#include <utility>

#include "runtime/comm/wire.hpp"

namespace tessera::abi {
template <class A>
void serialize(A& a, Id& x) {
  a(x.lo, x.hi);
}
template <class A>
void serialize(A& a, Name& x) {
  a(x.id, x.scope);
}
}  // namespace tessera::abi

#include "runtime/comm/policy_wire.hpp"

namespace tessera::runtime {
namespace {

// A thread encodes or decodes one parcel at a time; passengers board here.
thread_local std::vector<ValueRef>* boarding = nullptr;

}  // namespace

// Scalars are written in place; strings and bytes become one more value of the parcel.
inline void CEREAL_SAVE_FUNCTION_NAME(WireWriter& a, const Passenger& p) {
  abi::Value* v = p.value.get();
  const auto type = static_cast<std::uint8_t>(v == nullptr ? abi::Type::none : v->type);
  a(type);
  if (v == nullptr) return;
  if (v->type == abi::Type::integer) {
    a(v->i);
  } else if (v->type == abi::Type::real) {
    a(v->r);
  } else {
    a(static_cast<std::uint32_t>(boarding->size()));
    boarding->push_back(p.value);
  }
}
inline void CEREAL_LOAD_FUNCTION_NAME(WireReader& a, Passenger& p) {
  std::uint8_t type = 0;
  a(type);
  switch (static_cast<abi::Type>(type)) {
    case abi::Type::none: return;
    case abi::Type::integer: {
      std::int32_t i = 0;
      a(i);
      p.value = ValueRef(abi::value_int(i));
      return;
    }
    case abi::Type::real: {
      double r = 0;
      a(r);
      p.value = ValueRef(abi::value_real(r));
      return;
    }
    default: {
      std::uint32_t seat = 0;
      a(seat);
      p.value = boarding->at(seat);
    }
  }
}

template <class A>
void serialize(A& a, Request& x) { a(x.name, x.lost); }
template <class A>
void serialize(A& a, Publish& x) { a(x.name, x.block, x.ack, x.value, x.due, x.given, x.uses); }
template <class A>
void serialize(A& a, Acked& x) { a(x.ack); }
template <class A>
void serialize(A& a, Fetch& x) { a(x.name, x.to); }
template <class A>
void serialize(A& a, Give& x) { a(x.name, x.value); }
template <class A>
void serialize(A& a, Copied& x) { a(x.name); }
template <class A>
void serialize(A& a, Drop& x) { a(x.ids); }
template <class A>
void serialize(A& a, DeleteHint& x) { a(x.name, x.block); }
template <class A>
void serialize(A& a, Hold& x) { a(x.name, x.by, x.ends); }
template <class A>
void serialize(A& a, HeldDelete& x) { a(x.name, x.block, x.parts, x.all); }
template <class A>
void serialize(A&, Settle&) {}
template <class A>
void serialize(A&, Settled&) {}
template <class A>
void serialize(A& a, ReadsHint& x) { a(x.name, x.reads, x.block, x.ack); }
template <class A>
void serialize(A& a, ReadDone& x) { a(x.name, x.block, x.slot, x.ack); }
template <class A>
void serialize(A& a, Used& x) { a(x.read, x.used_up); }
template <class A>
void serialize(A& a, Gone& x) { a(x.name, x.block, x.spent); }
template <class A>
void serialize(A& a, PackedCf& x) { a(x.block, x.id, x.scope, x.frame, x.held, x.put_down, x.moved); }
template <class A>
void serialize(A& a, PackedInput& x) { a(x.name, x.value, x.unheard); }
template <class A>
void serialize(A& a, Ship& x) { a(x.fragments, x.inputs, x.by_policy, x.ticket); }
template <class A>
void serialize(A& a, Resettled& x) { a(x.series, x.to); }
template <class A>
void serialize(A& a, ScopeReturn& x) { a(x.scope, x.count); }
template <class A>
void serialize(A& a, PolicyMessage& x) { a(x.message); }
template <class A>
void serialize(A& a, LinkProbe& x) { a(x.number, x.parts, x.round_trip, x.payload); }
template <class A>
void serialize(A& a, LinkAnswer& x) { a(x.number, x.bandwidth, x.fastest, x.most, x.sure); }
template <class A>
void serialize(A& a, Entrust& x) { a(x.name, x.value); }
template <class A>
void serialize(A& a, Keep& x) { a(x.name, x.value); }
template <class A>
void serialize(A& a, Refetch& x) { a(x.name, x.to); }
template <class A>
void serialize(A& a, AskChange& x) { a(x.rank, x.joins); }
template <class A>
void serialize(A& a, MemberChange& x) { a(x.rank, x.joins); }
template <class A>
void serialize(A& a, Left& x) { a(x.fragments, x.values, x.bytes, x.names_kept, x.bytes_kept); }
template <class A>
void serialize(A& a, Wave& x) { a(x.number); }
template <class A>
void serialize(A& a, WaveAnswer& x) { a(x.number, x.idle, x.sent, x.received); }
template <class A>
void serialize(A& a, AskWaiting& x) { a(x.describe); }
template <class A>
void serialize(A& a, Waiting& x) { a(x.count, x.listed, x.words, x.ends, x.lines); }
template <class A>
void serialize(A& a, Failed& x) { a(x.text, x.exit_code); }
template <class A>
void serialize(A& a, Stop& x) { a(x.exit_code); }
template <class A>
void serialize(A& a, Beat& x) { a(x.kind); }
template <class A>
void serialize(A& a, GroupTotals& x) {
  a(x.group, x.count, x.weight, x.variance, x.bytes, x.moved_away, x.followed);
}
template <class A>
void serialize(A& a, UnreadCounts& x) { a(x.block, x.times, x.limit, x.reads); }
template <class A>
void serialize(A& a, HeldBytes& x) { a(x.block, x.output, x.bytes); }
template <class A>
void serialize(A& a, Totals& x) {
  a(x.final, x.finished, x.ready, x.longest, x.longest_for, x.busy, x.threads, x.moved_in, x.moved_out, x.shipments_out,
    x.bytes_sent, x.messages_sent, x.peak_memory_kb, x.cpu, x.here, x.partly, x.left,
    x.groups, x.decisions, x.unread, x.held);
}
template <class A>
void serialize(A& a, TracePart& x) { a(x.worker, x.full, x.ns_per_tick, x.words); }

namespace {

template <std::size_t I = 0>
Message read_alternative(std::size_t tag, WireReader& a) {
  if constexpr (I < std::variant_size_v<Message>) {
    if (tag == I) {
      std::variant_alternative_t<I, Message> m;
      a(m);
      return m;
    }
    return read_alternative<I + 1>(tag, a);
  } else {
    throw std::runtime_error("message with unknown tag " + std::to_string(tag));
  }
}

}  // namespace

bool counts_for_termination(const Message& m) {
  // Everything up to ScopeReturn carries work or data, and what came later about data.
  return m.index() <= Message(ScopeReturn{}).index() || std::holds_alternative<ReadDone>(m) ||
         std::holds_alternative<Gone>(m) || std::holds_alternative<Entrust>(m) ||
         std::holds_alternative<Keep>(m) || std::holds_alternative<Refetch>(m);
}

Parcel encode(const Message& m) {
  thread_local std::vector<std::byte> draft;  // keeps its room
  Parcel parcel;
  boarding = &parcel.values;
  draft.clear();
  WireWriter a(draft);
  a(static_cast<std::uint8_t>(m.index()));
  std::visit([&a](const auto& x) { a(x); }, m);
  boarding = nullptr;
  parcel.bytes.assign(draft.begin(), draft.end());
  return parcel;
}

Message decode(Parcel&& parcel) {
  boarding = &parcel.values;
  WireReader a(parcel.bytes.data(), parcel.bytes.size());
  std::uint8_t tag = 0;
  a(tag);
  Message m = read_alternative(tag, a);
  boarding = nullptr;
  return m;
}

}  // namespace tessera::runtime
