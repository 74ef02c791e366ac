#include "runtime/start/card.hpp"

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/comm/profile_wire.hpp"
#include "runtime/comm/wire.hpp"
#include "version.hpp"

namespace tessera::runtime {

template <class Archive>
void serialize(Archive& a, JournalSeen& j) {
  a(j.attempt, j.digest, j.kernels[0], j.kernels[1], j.token, j.marked);
}

std::string exchange_version() {
  return TESSERA_VERSION "/" + std::to_string(abi::kAbiVersion) + "/" + std::to_string(std::variant_size_v<Message>);
}

Parcel encode(const Card& c) {
  Parcel parcel;
  WireWriter out(parcel.bytes);
  out(c.version, c.host, c.hash[0], c.hash[1], c.program, c.arguments, c.environment, c.refusal_code, c.refusal);
  return parcel;
}

Card decode_card(const Parcel& parcel) {
  Card c;
  WireReader in(parcel.bytes.data(), parcel.bytes.size());
  in(c.version, c.host);
  if (c.version == exchange_version())
    in(c.hash[0], c.hash[1], c.program, c.arguments, c.environment, c.refusal_code, c.refusal);
  return c;
}

Parcel encode(const Verdict& v) {
  Parcel parcel;
  WireWriter out(parcel.bytes);
  out(v.exit_code, v.text, v.options, v.profile, v.hosts, v.journal);
  return parcel;
}

Verdict decode_verdict(const Parcel& parcel) {
  Verdict v;
  WireReader in(parcel.bytes.data(), parcel.bytes.size());
  in(v.exit_code, v.text);
  if (v.exit_code == 0) in(v.options, v.profile, v.hosts, v.journal);
  return v;
}

}  // namespace tessera::runtime
