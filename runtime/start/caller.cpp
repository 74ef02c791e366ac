#include "runtime/start/caller.hpp"

#include <cstdio>

#include "runtime/comm/wire.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime {
namespace {

constexpr std::uint8_t kEndOfCalledRun = 0xFF;  // no message has this number
constexpr auto kLookForEnd = std::chrono::milliseconds(100);

Parcel encode_end(const Caller& c, int exit_code) {
  Parcel parcel;
  WireWriter out(parcel.bytes);
  out(kEndOfCalledRun, exit_code, c.report, c.summary);
  const std::size_t count = c.everywhere && exit_code == kExitOk ? c.results.size() : 0;
  out(static_cast<std::uint64_t>(count));
  for (std::size_t k = 0; k < count; ++k) {
    const abi::Value* v = c.results[k].get();
    out(static_cast<std::uint8_t>(v == nullptr ? abi::Type::none : v->type));
    if (v == nullptr) continue;
    switch (v->type) {
      case abi::Type::integer:
        out(v->i);
        break;
      case abi::Type::longint:
        out(v->l);
        break;
      case abi::Type::real:
        out(v->r);
        break;
      default:
        parcel.values.push_back(c.results[k]);
    }
  }
  return parcel;
}

template <class T>
T read(WireReader& in) {
  T v{};
  in(v);
  return v;
}

void decode_end(Parcel&& parcel, Caller& c, int& exit_code) {
  WireReader in(parcel.bytes.data(), parcel.bytes.size());
  std::string report;
  read<std::uint8_t>(in);
  in(exit_code, report, c.summary);
  if (!report.empty()) c.report = std::move(report);
  c.results.resize(read<std::uint64_t>(in));
  std::size_t next = 0;
  for (ValueRef& v : c.results) {
    switch (static_cast<abi::Type>(read<std::uint8_t>(in))) {
      case abi::Type::none:
        break;
      case abi::Type::integer:
        v = ValueRef(abi::value_int(read<std::int32_t>(in)));
        break;
      case abi::Type::longint:
        v = ValueRef(abi::value_long(read<std::int64_t>(in)));
        break;
      case abi::Type::real:
        v = ValueRef(abi::value_real(read<double>(in)));
        break;
      default:
        v = std::move(parcel.values[next++]);
    }
  }
}

}  // namespace

void tell(const RunOptions& options, const std::string& text) {
  if (options.caller != nullptr) return options.caller->say(text);
  std::fputs(text.c_str(), stderr);
}

bool keep_end(Caller& caller, Parcel& p) {
  if (p.bytes.empty() || p.bytes.front() != std::byte{kEndOfCalledRun}) return false;
  caller.end = std::move(p);
  return true;
}

int share_end(Transport& transport, Caller& caller, int exit_code) {
  if (transport.rank() == Rank{0}) {
    for (std::int32_t r = 1; r < transport.size(); ++r) transport.send(Rank{r}, encode_end(caller, exit_code));
    return exit_code;
  }
  // Beats of the run may come behind it.
  const auto sink = [&](Rank, Parcel&& p) { keep_end(caller, p); };
  while (!caller.end) {
    if (!transport.progress(sink)) transport.wait(Clock::now() + kLookForEnd);
  }
  decode_end(std::move(*caller.end), caller, exit_code);
  return exit_code;
}

}  // namespace tessera::runtime
