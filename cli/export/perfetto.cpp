// Perfetto's protobuf, as https://github.com/google/perfetto/tree/main/protos/perfetto/trace has it. Only what is
// needed is written, by hand: a message is bytes, a field its number, its kind and its value.
#include <fmt/format.h>

#include <map>
#include <ostream>

#include "cli/export/export.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using balancer::index;

class Proto {
 public:
  Proto& number(unsigned field, std::uint64_t n) {
    varint(field << 3), varint(n);
    return *this;
  }
  Proto& fixed(unsigned field, std::uint64_t n) {
    varint(field << 3 | 1);
    for (int k = 0; k < 8; ++k) bytes_ += static_cast<char>(n >> (8 * k));
    return *this;
  }
  Proto& text(unsigned field, std::string_view t) {
    varint(field << 3 | 2), varint(t.size());
    bytes_ += t;
    return *this;
  }
  Proto& message(unsigned field, const Proto& m) { return text(field, m.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t n) {
    for (; n >= 128; n >>= 7) bytes_ += static_cast<char>(n | 128);
    bytes_ += static_cast<char>(n);
  }
  std::string bytes_;
};

// Numbers of fields.
enum : unsigned { kPacket = 1 };  // Trace
enum : unsigned {
  kTimestamp = 8,
  kSequence = 10,
  kEvent = 11,
  kInterned = 12,
  kFlags = 13,
  kTrack = 60
};                                                                                                    // TracePacket
enum : unsigned { kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8 };  // TrackDescriptor
enum : unsigned {
  kAnnotation = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kCategories = 22,
  kName = 23
};  // TrackEvent
enum : unsigned { kCounterValue = 30, kSourceIid = 34, kFlowIds = 47, kTerminatingFlowIds = 48 };
enum : unsigned { kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4 };  // TrackEvent.Type
enum : unsigned { kCleared = 1, kNeedsState = 2 };                   // TracePacket.SequenceFlags

class Perfetto {
 public:
  Perfetto(const RunRecord& r, std::ostream& out) : r_(r), t_(r.times()), out_(out) {}

  void write() {
    names();
    for (std::size_t k = 0; k < t_.ranks.size(); ++k) tracks(k);
    for (const Flow& f : flows(r_)) {
      flows_from_[f.from].push_back(++flows_);
      flows_to_[f.to].push_back(flows_);
    }
    std::size_t bar = 0;
    for (const Lane& lane : r_.lanes) {
      const std::uint64_t track = rank_track(lane.rank) + 1 + static_cast<std::uint64_t>(lane.worker);
      bar = walk_lane(
          r_, lane, bar, [&](std::size_t i) { begin(i, track); },
          [&](std::size_t, Time at) { event(at, Proto().number(kType, kEnd).number(kTrackUuid, track)); },
          [&](const Segment& s) { other(s, track); });
    }
    for (const sim::Memory& m : t_.memory) {
      const auto value = [&](std::uint64_t which, std::int64_t bytes) {
        event(m.at, Proto()
                        .number(kType, kCount)
                        .number(kTrackUuid, rank_track(index(m.rank)) + which)
                        .number(kCounterValue, static_cast<std::uint64_t>(bytes)));
      };
      value(kProcessBytes, m.process), value(kDataBytes, m.data);
    }
    for (const sim::Decided& d : t_.decisions) decision(d);
  }

 private:
  // Beside the workers, from 1 on.
  static constexpr std::uint64_t kPerRank = 1 << 20, kDecisions = kPerRank - 1, kProcessBytes = kPerRank - 2,
                                 kDataBytes = kPerRank - 3;
  static std::uint64_t rank_track(std::int32_t rank) { return static_cast<std::uint64_t>(rank + 1) * kPerRank; }

  void packet(Proto p, unsigned flags) {
    p.number(kSequence, 1).number(kFlags, flags);
    out_ << Proto().message(kPacket, p).bytes();
  }
  void event(Time at, const Proto& e) {
    packet(Proto().number(kTimestamp, static_cast<std::uint64_t>(std::max<Time>(0, at))).message(kEvent, e),
           kNeedsState);
  }
  // Names of groups and places of blocks have numbers, from 1 on.
  void names() {
    Proto interned;
    for (std::size_t g = 0; g < r_.trace.work.groups.size(); ++g) {
      interned.message(2, Proto().number(1, g + 1).text(2, group_name(r_.trace.work.groups[g].label)));
    }
    for (std::size_t b = 0; b < t_.blocks.size(); ++b) {
      const sim::BlockText& x = t_.blocks[b];
      interned.message(4, Proto().number(1, b + 1).text(2, x.file).text(3, x.text).number(4, x.line));
    }
    packet(Proto().message(kInterned, interned), kCleared | kNeedsState);
  }
  void track(const Proto& p) { packet(Proto().message(kTrack, p), kNeedsState); }
  void tracks(std::size_t k) {
    const auto rank = static_cast<std::int32_t>(k);
    const std::uint64_t uuid = rank_track(rank), pid = k + 1;
    const sim::RankInfo& info = t_.ranks[k];
    const std::string name = fmt::format("rank {}{}", k, info.host.empty() ? "" : " on " + info.host);
    track(Proto().number(kUuid, uuid).text(kTrackName, name).message(kProcess, Proto().number(1, pid).text(6, name)));
    for (std::int32_t w = 0; w < info.workers; ++w) {
      const std::string worker = fmt::format("worker {}", w);
      const std::uint64_t tid = pid * 100'000 + static_cast<std::uint64_t>(w) + 1;
      track(Proto()
                .number(kUuid, uuid + 1 + static_cast<std::uint64_t>(w))
                .text(kTrackName, worker)
                .message(kThread, Proto().number(1, pid).number(2, tid).text(5, worker)));
    }
    track(Proto().number(kUuid, uuid + kDecisions).number(kParent, uuid).text(kTrackName, "balancer"));
    for (const auto& [which, what] :
         {std::pair{kProcessBytes, "memory of the process"}, {kDataBytes, "data fragments"}}) {
      const Proto bytes = Proto().number(3, 3);  // CounterDescriptor.unit: UNIT_SIZE_BYTES
      track(Proto().number(kUuid, uuid + which).number(kParent, uuid).text(kTrackName, what).message(kCounter, bytes));
    }
  }
  static Proto said(const std::string& name, const std::string& text) { return Proto().text(10, name).text(6, text); }
  static Proto said(const std::string& name, std::int64_t n) {
    return Proto().text(10, name).number(4, static_cast<std::uint64_t>(n));
  }
  void begin(std::size_t i, std::uint64_t track) {
    const sim::Bar& b = t_.bars[i];
    Proto e;
    e.number(kType, kBegin).number(kTrackUuid, track).number(kNameIid, r_.block_of(b).group + 1);
    e.text(kCategories, r_.is_kernel(i) ? "kernel" : "making").number(kSourceIid, b.block + 1);
    const auto& names = r_.block_of(b).names;
    const auto numbers = t_.numbers_of(b);
    for (std::size_t k = 0; k < std::min(names.size(), numbers.size()); ++k) {
      e.message(kAnnotation, said(names[k], numbers[k]));
    }
    if (r_.is_kernel(i)) {
      for (const std::string& s : bar_slots(r_, i, false)) e.message(kAnnotation, said("reads", s));
      for (const std::string& s : bar_slots(r_, i, true)) e.message(kAnnotation, said("assigns", s));
      e.message(kAnnotation, said("waited for a worker, ns", b.start - r_.ready[i].at));
    }
    if (const auto at = flows_from_.find(i); at != flows_from_.end()) {
      for (const std::uint64_t f : at->second) e.fixed(kFlowIds, f);
    }
    if (const auto at = flows_to_.find(i); at != flows_to_.end()) {
      for (const std::uint64_t f : at->second) e.fixed(kTerminatingFlowIds, f);
    }
    event(b.start, e);
  }
  void other(const Segment& s, std::uint64_t track) {
    Proto e = Proto()
                  .number(kType, kBegin)
                  .number(kTrackUuid, track)
                  .text(kCategories, s.doing == Doing::overhead ? "overhead" : "idle")
                  .text(kName, name_of(s.doing));
    const Cause cause = cause_of(r_, s);
    if (cause.rank >= 0) e.message(kAnnotation, said("rank", cause.rank));
    if (cause.bar != kNobody) e.message(kAnnotation, said("for", bar_name(r_, cause.bar)));
    event(s.start, e);
    event(s.end, Proto().number(kType, kEnd).number(kTrackUuid, track));
  }
  void decision(const sim::Decided& d) {
    Proto e;
    e.number(kType, kInstant).number(kTrackUuid, rank_track(index(d.rank)) + kDecisions).text(kName, d.why);
    e.text(kCategories, "decision");
    if (index(d.from) >= 0) e.message(kAnnotation, said("from", index(d.from)));
    if (index(d.to) >= 0) e.message(kAnnotation, said("to", index(d.to)));
    e.message(kAnnotation, said("load of from, ns", d.load_from))
        .message(kAnnotation, said("load of to, ns", d.load_to));
    for (const auto& g : d.fragments) {
      e.message(kAnnotation, said(group_name(r_.trace.work.groups[index(g.group)].label), g.count));
    }
    event(d.at, e);
  }

  const RunRecord& r_;
  const sim::Times& t_;
  std::ostream& out_;
  std::uint64_t flows_ = 0;
  std::map<std::size_t, std::vector<std::uint64_t>> flows_from_, flows_to_;
};

}  // namespace

void write_perfetto(const RunRecord& r, std::ostream& out) { Perfetto(r, out).write(); }

}  // namespace tessera::cli
