// Every message survives the wire, and its bytes are frozen: ranks of one run share a binary, but a
// change of the layout should be seen in review.
#include "runtime/comm/messages.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tessera::runtime {
namespace {

std::string hex(const Parcel& p) {
  std::string s;
  for (const std::byte b : p.bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    s += kDigits[std::to_integer<unsigned>(b) >> 4];
    s += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return s;
}

const abi::Name kName{{0x1122, 0x3344}, 0x5566};

template <class T>
T round_trip(const T& m) {
  return std::get<T>(decode(encode(Message(m))));
}

TEST(Messages, TagsAreFrozen) {
  EXPECT_EQ(Message(Request{}).index(), 0u);
  EXPECT_EQ(Message(Give{}).index(), 4u);
  EXPECT_EQ(Message(Ship{}).index(), 9u);
  EXPECT_EQ(Message(PolicyMessage{}).index(), 11u);
  EXPECT_EQ(Message(Totals{}).index(), 19u);
  EXPECT_EQ(Message(ReadDone{}).index(), 20u);
  EXPECT_EQ(Message(Entrust{}).index(), 22u);
  EXPECT_EQ(Message(Left{}).index(), 27u);
  EXPECT_EQ(Message(TracePart{}).index(), 28u);
  EXPECT_EQ(Message(Resettled{}).index(), 29u);
  EXPECT_EQ(Message(LinkAnswer{}).index(), 31u);
  EXPECT_EQ(Message(Used{}).index(), 30u);
  EXPECT_EQ(Message(Hold{}).index(), 32u);
  EXPECT_EQ(Message(Settled{}).index(), 35u);
  EXPECT_EQ(Message(Beat{}).index(), 36u);
  EXPECT_EQ(Message(TakenBack{}).index(), 37u);
  EXPECT_EQ(Message(ClockAnswer{}).index(), 39u);
  EXPECT_EQ(Message(AskTotals{}).index(), 40u);
  EXPECT_EQ(Message(MakeMore{}).index(), 41u);
  EXPECT_EQ(Message(SweepWanted{}).index(), 42u);
  EXPECT_EQ(Message(HullsStay{}).index(), 48u);
  EXPECT_EQ(Message(GiveRoom{}).index(), 50u);
  EXPECT_EQ(Message(SweepAwaited{}).index(), 52u);
  EXPECT_EQ(Message(Backlog{}).index(), 53u);
  EXPECT_EQ(Message(Need{}).index(), 54u);
  EXPECT_EQ(std::variant_size_v<Message>, 55u);
}

TEST(Messages, AreCalledAsTheirStructs) {
  EXPECT_EQ(message_name(Message(Request{}).index()), "Request");
  EXPECT_EQ(message_name(Message(HeldDelete{}).index()), "HeldDelete");
}

TEST(Messages, BytesAreFrozen) {
  EXPECT_EQ(hex(encode(Request{kName})),
            "00"
            "2211000000000000"
            "4433000000000000"
            "6655000000000000"
            "00");
  EXPECT_EQ(hex(encode(Give{kName, {ValueRef(abi::value_int(7))}})),
            "04"
            "2211000000000000"
            "4433000000000000"
            "6655000000000000"
            "01"
            "07000000");
  EXPECT_EQ(hex(encode(Wave{5})),
            "0d"
            "0500000000000000");
}

TEST(Messages, ScalarsTravelInTheMessageAndBytesBesideIt) {
  EXPECT_EQ(encode(Give{kName, {ValueRef(abi::value_real(1.5))}}).values.size(), 0u);
  const Parcel p = encode(Give{kName, {ValueRef(abi::value_string("hello", 5))}});
  ASSERT_EQ(p.values.size(), 1u);
  EXPECT_EQ(p.values[0].get()->size, 5u);
}

TEST(Messages, RoundTripWithValues) {
  const Give real = round_trip(Give{kName, {ValueRef(abi::value_real(2.25))}});
  EXPECT_EQ(real.value.value.get()->r, 2.25);
  const Give none = round_trip(Give{kName, {}});
  EXPECT_FALSE(none.value.value);
  abi::Value* bytes = abi::value_bytes(100);
  static_cast<char*>(bytes->data)[99] = 'x';
  const Publish p = round_trip(Publish{kName, 3, 9, {ValueRef(bytes)}, {Rank{2}}, true, 4});
  EXPECT_EQ(p.value.value.get(), bytes) << "shared, not copied";
  EXPECT_EQ(p.block, 3u);
  EXPECT_EQ(p.ack, 9u);
  EXPECT_EQ(p.due, std::vector<Rank>{Rank{2}});
  EXPECT_TRUE(p.given);
  EXPECT_EQ(p.uses, 4);
}

TEST(Messages, RoundTripShip) {
  Ship s;
  s.by_policy = true;
  s.ticket = 77;
  PackedCf c;
  c.block = 4;
  c.id = {1, 2};
  c.scope = 3;
  c.frame = {10, 1, 12};
  c.held.push_back({ValueRef(abi::value_string("w", 1))});
  s.fragments.push_back(c);
  s.inputs.push_back({kName, {ValueRef(abi::value_int(-1))}});
  const Ship r = round_trip(s);
  ASSERT_EQ(r.fragments.size(), 1u);
  EXPECT_EQ(r.fragments[0].frame, c.frame);
  EXPECT_EQ(r.fragments[0].held.size(), 1u);
  EXPECT_EQ(r.inputs[0].value.value.get()->i, -1);
  EXPECT_EQ(r.ticket, 77u);
  EXPECT_TRUE(r.by_policy);
}

// Undefined behaviour once: memcpy to the null pointer of an empty vector.
TEST(Messages, RoundTripShipOfAnEmptyFrame) {
  Ship s;
  s.fragments.push_back({4, {1, 2}, 3, {}, {}});
  const Ship r = round_trip(s);
  ASSERT_EQ(r.fragments.size(), 1u);
  EXPECT_TRUE(r.fragments[0].frame.empty());
}

TEST(Messages, RoundTripAboutLifetimes) {
  const ReadDone read = round_trip(ReadDone{kName, 4, 2, 9});
  EXPECT_TRUE(read.block == 4 && read.slot == 2 && read.ack == 9);
  const ReadsHint count = round_trip(ReadsHint{kName, 7, 5, 8});
  EXPECT_TRUE(count.reads == 7 && count.block == 5 && count.ack == 8);
  const Gone gone = round_trip(Gone{kName, 6, true});
  EXPECT_TRUE(gone.block == 6 && gone.spent);
}

TEST(Messages, RoundTripResettled) {
  const Resettled r = round_trip(Resettled{77, Rank{3}});
  EXPECT_TRUE(r.series == 77 && r.to == Rank{3});
}

TEST(Messages, RoundTripAboutWaiting) {
  EXPECT_EQ(round_trip(AskWaiting{{1, 2}}).describe, (std::vector<std::uint64_t>{1, 2}));
  const Waiting w = round_trip(Waiting{3, 2, {4, 5}, {6}, {"line"}});
  EXPECT_TRUE(w.count == 3 && w.listed == 2);
  EXPECT_EQ(w.words, (std::vector<std::uint64_t>{4, 5}));
  EXPECT_EQ(w.ends, std::vector<std::uint64_t>{6});
  EXPECT_EQ(w.lines, std::vector<std::string>{"line"});
}

TEST(Messages, RoundTripTotals) {
  Totals t;
  t.final = true;
  t.partly = true;
  t.decisions = {"dealt|3"};
  t.unread = {{4, 2, 7, 5}};
  t.waiting = 6;
  t.now = {{{"f(1)", 0.5, 3, {11}}}, 8, 9, {2, {5, 6}, {{7, "w", "s", "p"}}}};
  t.groups = {{.group = 4, .births = {5, 6, 7, 8}}};
  const Totals r = round_trip(t);
  EXPECT_TRUE(r.final && r.partly);
  EXPECT_EQ(r.decisions, t.decisions);
  EXPECT_TRUE(r.waiting == 6 && r.now.memory_bytes == 8 && r.now.data_bytes == 9);
  ASSERT_EQ(r.now.running.size(), 1u);
  EXPECT_EQ(r.now.running[0].gives, std::vector<std::uint64_t>{11});
  EXPECT_EQ(r.now.waits.words, (std::vector<std::uint64_t>{5, 6}));
  ASSERT_EQ(r.now.waits.lines.size(), 1u);
  EXPECT_TRUE(r.now.waits.lines[0].name == 7 && r.now.waits.lines[0].producers == "p");
  ASSERT_EQ(r.groups.size(), 1u);
  EXPECT_TRUE(r.groups[0].births.born == 5 && r.groups[0].births.stepped == 7 && r.groups[0].births.maker == 8);
  EXPECT_TRUE(r.now.running[0].text == "f(1)" && r.now.running[0].seconds == 0.5 && r.now.running[0].group == 3);
  ASSERT_EQ(r.unread.size(), 1u);
  const UnreadCounts& u = r.unread[0];
  EXPECT_TRUE(u.block == 4 && u.times == 2 && u.limit == 7 && u.reads == 5);
}

TEST(Messages, RoundTripAboutMembers) {
  EXPECT_EQ(round_trip(Entrust{kName, {ValueRef(abi::value_int(3))}}).value.value.get()->i, 3);
  EXPECT_EQ(round_trip(Keep{kName, {ValueRef(abi::value_real(0.5))}}).value.value.get()->r, 0.5);
  EXPECT_EQ(round_trip(Refetch{kName, Rank{7}}).to, Rank{7});
  const AskChange ask = round_trip(AskChange{Rank{3}, true});
  EXPECT_TRUE(ask.rank == Rank{3} && ask.joins);
  const MemberChange change = round_trip(MemberChange{Rank{4}, true});
  EXPECT_TRUE(change.rank == Rank{4} && change.joins);
  const Left left = round_trip(Left{1, 2, 3, 4, 5});
  EXPECT_TRUE(left.fragments == 1 && left.values == 2 && left.bytes == 3);
  EXPECT_TRUE(left.names_kept == 4 && left.bytes_kept == 5);
}

TEST(Messages, RoundTripEveryPolicyMessage) {
  using namespace balancer;
  const std::vector<balancer::Message> all = {
      Report{{{Group{1}, 2, 3}}, {{Group{4}, 5, 6, 7.5, 8}}, true, 2, 8, {9, 10}},
      ReportSeen{11},
      Order{12, Rank{3}, {{Group{1}, 2}}},
      Confirm{13, Rank{2}, {{Group{5}, 6}}, 14},
      LinkReport{Rank{1}, 15, 16.5},
      StealRequest{17, true, 18, Offspring::some},
      StealRefuse{18},
      StealRevoke{19},
      StealWake{true},
      AuctionQuestion{20},
      AuctionAnswer{21, 22},
      AuctionRequest{23},
      AuctionRefusal{24},
      AuctionUnloaded{},
      AuctionWake{},
      MirrorState{1.5, 2.5, 25},
      MirrorRequest{26, 3.5, 4.5, true, 261},
      MirrorRefusal{27},
      OutsideTasks{1.5, 2},
      LoopOpened{},
      BlockRequest{28},
      LoopDrained{29},
      ShareDone{30, 31},
      HandOver{Group{6}, {Rank{1}, Rank{3}}},
      GroupReport{5 * 1000, 4 * 1000, 3, 2.5, {{7, 900}, {8, 0}}},
      GroupReportSeen{},
      GroupInvite{7, Rank{3}, 40, 1000},
      GroupNeed{7, 1000, {{Rank{5}, 20}, {Rank{6}, 20}}},
      GroupSent{7, 99, Rank{1}, Rank{5}, {{Group{2}, 19}}, 4096, true},
      GossipNews{3, {{Rank{4}, 5, 6}, {Rank{7}, 8, 9}}},
      GossipOffer{},
      DiffusionLoad{41, true},
      PluginMessage{42, std::string("a\0b", 3)},
      SeriesReport{3, 40, 0.25, {{17, Group{1}, Rank{2}, 5000, 64}}},
      SeriesPlan{{{17, Rank{3}}, {18, Rank{0}}}},
      SeriesStand{3, {Group{1}, Group{4}}},
  };
  ASSERT_EQ(all.size(), std::variant_size_v<balancer::Message>);
  for (const balancer::Message& m : all) {
    EXPECT_EQ(round_trip(PolicyMessage{m}).message, m) << "tag " << m.index();
  }
}

TEST(Messages, WorkAndDataCountForTermination) {
  EXPECT_TRUE(counts_for_termination(Ship{}));
  EXPECT_TRUE(counts_for_termination(ScopeReturn{}));
  EXPECT_TRUE(counts_for_termination(Acked{}));
  EXPECT_TRUE(counts_for_termination(ReadDone{}));
  EXPECT_TRUE(counts_for_termination(Gone{}));
  EXPECT_TRUE(counts_for_termination(Entrust{}));
  EXPECT_TRUE(counts_for_termination(Keep{}));
  EXPECT_TRUE(counts_for_termination(Refetch{}));
  EXPECT_FALSE(counts_for_termination(MemberChange{}));
  EXPECT_FALSE(counts_for_termination(PolicyMessage{}));
  EXPECT_FALSE(counts_for_termination(Wave{}));
  EXPECT_FALSE(counts_for_termination(MakeMore{}));
  EXPECT_FALSE(counts_for_termination(Backlog{}));
  EXPECT_FALSE(counts_for_termination(Need{}));
  EXPECT_FALSE(counts_for_termination(SweepTold{}));
}

TEST(Messages, TruncatedBytesAreAnError) {
  Parcel p = encode(Request{kName});
  p.bytes.pop_back();
  EXPECT_THROW(decode(std::move(p)), std::runtime_error);
  Parcel unknown;
  unknown.bytes.push_back(std::byte{200});
  EXPECT_THROW(decode(std::move(unknown)), std::runtime_error);
}

}  // namespace
}  // namespace tessera::runtime
