// The values of ranks that are no more than a test: who waits, who is woken, what travels, what is left.
#include "runtime/data/data_fragments.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/node/node.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

// `reads x`: one input, the name in its frame.
abi::Block reader() {
  static const abi::SlotInfo slots[] = {{"x", "x", 0, "nothing"}, {"x", "x", 0, nullptr}};
  abi::Block b{};
  b.kind = abi::Kind::atomic;
  b.frame_words = 3;
  b.input_count = b.output_count = 1;
  b.capacity = 4;
  b.layout = "n";
  b.values = abi::values_of(b.layout);
  b.inputs = [](const abi::Cf* c, abi::Name* n) { n[0] = abi::frame_name(c, 0); };
  b.label = b.text = "f(x)";
  b.slots = slots;
  return b;
}

// `reads x and y`.
abi::Block reader_of_two() {
  static const abi::SlotInfo slots[] = {{"x", "x", 0, "nothing"}, {"y", "y", 0, "nothing"}};
  abi::Block b = reader();
  b.index = 1;
  b.frame_words = 6;
  b.input_count = 2;
  b.output_count = 0;
  b.capacity = 8;
  b.layout = "nn";
  b.values = abi::values_of(b.layout);
  b.inputs = [](const abi::Cf* c, abi::Name* n) { n[0] = abi::frame_name(c, 0), n[1] = abi::frame_name(c, 3); };
  b.slots = slots;
  return b;
}

const abi::Block kReader = reader();
const abi::Block kReaderOfTwo = reader_of_two();
const abi::Block* const kBlocks[] = {&kReader, &kReaderOfTwo};
const char* const kFiles[] = {"test.fa"};
const abi::Program kProgram{abi::kAbiVersion, 2, kBlocks, kFiles, 1, {1, 2}, "test.fa", &kReader, "", nullptr, 0};

// A rank of which only the values are real.
class Part final : public Surroundings {
 public:
  Part(const RunOptions& options, std::unique_ptr<Transport> transport)
      : transport_(std::move(transport)),
        lender_(kProgram, options, *transport_, {}),
        comm_(*transport_),
        scopes(transport_->rank()),
        data(*this, lender_.facts, lender_.members, comm_, scopes, lender_.crew) {}

  void enroll(abi::Cf* c) override {
    if ((c->flags & kEnrolled) != 0) return;
    c->flags |= kEnrolled;
    if (auto* s = static_cast<ScopeRecord*>(c->scope)) s->count.add();
  }
  void arrived(Worker&, abi::Cf* c) override { came.push_back(c); }
  void leave_scope(Worker&, ScopeRecord* scope, std::int64_t count) override { scope->count.take(count); }
  void asked(Worker&, const abi::Name&, const abi::Cf*, bool, std::uint64_t) override {}
  Presence presence() override { return {}; }
  void fail(const std::string& text, int) override { wrong += text; }
  void fail_in(const abi::Cf*, abi::Pos, const std::string& text) override { wrong += text; }
  void fail_by_exception(const abi::Cf*) override {
    try {
      throw;
    } catch (const std::exception& e) {
      wrong += e.what();
    }
  }

  Communicator& comm() { return comm_; }
  Worker& worker() { return *lender_.crew.outside; }

  abi::Cf* wants(const abi::Name& n, abi::Scope* scope = nullptr) {
    abi::Cf* c = allocate_cf(kReader, scope, {++next_, 7});
    abi::frame_name(c, 0) = n;
    if (data.gather(worker(), c)) came.push_back(c);
    return c;
  }
  // What the reader has got; it is over.
  std::int32_t read(abi::Cf* c) {
    abi::Value* v = abi::input(c, kReader, 0);
    const std::int32_t got = v->i;
    data.note_uses(c);
    abi::release(std::exchange(v, nullptr));
    slot_word(c, 0) = 0;
    c->flags = 0;
    free_cf(c);
    return got;
  }
  void assigns(const abi::Name& n, std::int32_t v, std::int64_t uses = -1) {
    data.assign(worker(), {0, root}, n, abi::value_int(v), uses);
  }
  // Takes what has come. False: there was nothing.
  bool deliver() {
    bool any = false;
    transport_->progress([&](Rank from, Parcel&& p) {
      any = true;
      std::visit(
          [&](auto&& m) {
            if constexpr (requires { data.on(from, std::move(m)); }) data.on(from, std::move(m));
          },
          decode(std::move(p)));
    });
    return any;
  }
  std::size_t entries() {
    std::size_t n = 0;
    for (Shard& s : data.table().shards()) n += s.size();
    return n;
  }

  std::vector<abi::Cf*> came;
  std::string wrong;
  ScopeRecord* root = nullptr;

 private:
  std::unique_ptr<Transport> transport_;
  Node lender_;  // of workers, members and facts; it never runs
  Communicator comm_;
  std::uint64_t next_ = 0;

 public:
  Scopes scopes;
  DataFragments data;
};

class Parts {
 public:
  explicit Parts(std::int32_t ranks) {
    options_.balancer = "none";
    options_.threads = 1;
    for (auto& t : make_inproc_transports({.ranks = ranks})) {
      parts_.push_back(std::make_unique<Part>(options_, std::move(t)));
    }
    home().root = home().scopes.open(nullptr, {5, 5});
  }
  Part& operator[](std::size_t k) { return *parts_[k]; }
  Part& home() { return *parts_[0]; }
  abi::Name name(std::uint32_t ordinal, bool counted = false) {
    abi::Name n = abi::scope_name(home().root, ordinal);
    if (counted) n.scope |= abi::kUsesKnown;
    return n;
  }
  void settle() {
    for (bool any = true; any;) {
      any = false;
      for (auto& p : parts_) p->data.untold.tell(p->comm(), Clock::now(), true);
      for (auto& p : parts_) any = p->deliver() || any;
    }
  }

 private:
  RunOptions options_;
  std::vector<std::unique_ptr<Part>> parts_;
};

TEST(DataFragments, WhoWaitsIsWokenOnceWithTheValue) {
  Parts all(1);
  Part& a = all[0];
  abi::Cf* first = a.wants(all.name(1), a.root);
  abi::Cf* second = a.wants(all.name(1), a.root);
  EXPECT_TRUE(a.came.empty());
  EXPECT_EQ(a.root->count.load(), 3);  // the body's and theirs
  a.assigns(all.name(1), 42);
  ASSERT_EQ(a.came.size(), 2u);
  EXPECT_EQ(a.read(first) + a.read(second), 84);
  EXPECT_EQ(a.read(a.wants(all.name(1))), 42);  // it is there until its scope ends
  EXPECT_EQ(a.entries(), 1u);
  EXPECT_FALSE(a.data.free_scope(a.root));
  EXPECT_EQ(a.entries(), 0u);
}

TEST(DataFragments, ACountedValueGoesWithItsLastReader) {
  Parts all(1);
  Part& a = all[0];
  abi::Cf* early = a.wants(all.name(1, true));
  a.assigns(all.name(1, true), 7, 2);
  EXPECT_EQ(a.read(early), 7);
  EXPECT_EQ(a.entries(), 1u);
  EXPECT_EQ(a.read(a.wants(all.name(1, true))), 7);
  EXPECT_EQ(a.entries(), 0u);
  a.assigns(all.name(2, true), 7, 0);  // nobody reads it
  EXPECT_EQ(a.entries(), 0u);
}

TEST(DataFragments, ASecondAssignmentIsTheProgramsMistake) {
  Parts all(1);
  all[0].assigns(all.name(1), 1);
  EXPECT_THROW(all[0].assigns(all.name(1), 2), ProgramError);
}

TEST(DataFragments, AReaderElsewhereAsksAndGets) {
  for (const bool before : {true, false}) {
    Parts all(3);
    const abi::Name x = all.name(1);
    if (before) all.home().assigns(x, 9);
    abi::Cf* r = all[1].wants(x);
    EXPECT_TRUE(all[1].came.empty());
    all.settle();
    EXPECT_EQ(all[1].came.size(), before ? 1u : 0u);
    if (!before) all.home().assigns(x, 9);
    all.settle();
    ASSERT_EQ(all[1].came.size(), 1u);
    EXPECT_EQ(all[1].read(r), 9);
    EXPECT_EQ(all[1].read(all[1].wants(x)), 9);  // its copy
    EXPECT_EQ(all[2].entries(), 0u);
    EXPECT_TRUE(all.home().data.free_scope(all.home().root));
    all.settle();
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(all[k].entries(), 0u) << k;
  }
}

TEST(DataFragments, OfCountedUsesElsewhereNothingIsLeft) {
  Parts all(3);
  const abi::Name x = all.name(1, true);
  abi::Cf* on_1 = all[1].wants(x);
  abi::Cf* on_2 = all[2].wants(x);
  all.settle();
  all.home().assigns(x, 3, 3);
  abi::Cf* at_home = all.home().wants(x);
  all.settle();
  EXPECT_EQ(all[1].read(on_1) + all[2].read(on_2) + all.home().read(at_home), 9);
  all.settle();
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(all[k].entries(), 0u) << k;
    EXPECT_EQ(all[k].wrong, "");
  }
}

// A sweep finds it dead, but a fragment that reads it is under way, or waits for it.
TEST(DataFragments, WhatIsNeededAllTheSameStays) {
  Parts all(1);
  Part& a = all[0];
  Horizons horizons(0, [](Horizons::Whose) {});
  a.data.horizons = &horizons;
  abi::Name x = all.name(1);
  x.scope |= abi::kUsesKnown | abi::kSwept;
  a.assigns(x, 5);
  EXPECT_EQ(a.entries(), 1u);
  std::vector<Horizons::Dead> dead{{1, x.id}};
  a.data.free_dead(dead, {x.id.lo});
  EXPECT_TRUE(dead.empty()) << "elsewhere";
  EXPECT_EQ(a.entries(), 1u);
  horizons.relies(true);
  horizons.rely(x.id);
  EXPECT_TRUE(a.data.is_awaited(x.id));
  dead = {{1, x.id}};
  a.data.free_dead(dead, {});
  EXPECT_TRUE(dead.empty()) << "here";
  EXPECT_EQ(a.entries(), 1u);
  horizons.relies(false);
  EXPECT_FALSE(a.data.is_awaited(x.id));
  dead = {{1, x.id}};
  a.data.free_dead(dead, {});
  EXPECT_EQ(dead.size(), 1u);
  EXPECT_EQ(a.entries(), 0u);
}

// A fragment leaves before its input is assigned. It gets the value another way and ends, and a sweep frees the value,
// all before the home has put down that it promised it (a run by threads under ThreadSanitizer: an entry stayed to the
// end).
TEST(DataFragments, WhatWasPromisedAndFreedSinceIsNotRemembered) {
  Parts all(2);
  Part& home = all.home();
  Horizons horizons(0, [](Horizons::Whose) {});
  home.data.horizons = &horizons;
  abi::Name x = all.name(1);
  x.scope |= abi::kUsesKnown | abi::kSwept;
  abi::Cf* c = allocate_cf(kReader, nullptr, {9, 9});
  abi::frame_name(c, 0) = x;
  Ship ship;
  std::vector<abi::Name> promised;
  EXPECT_EQ(home.data.see_off(c, Rank{1}, ship, promised), 1u);
  free_cf(c);
  home.assigns(x, 5);
  std::vector<Horizons::Dead> dead{{1, x.id}};
  home.data.free_dead(dead, {});
  EXPECT_EQ(dead.size(), 1u);
  for (const abi::Name& n : promised) home.data.give_promised(Rank{1}, n);
  EXPECT_EQ(home.entries(), 0u);
}

// A fragment comes home with a value that a sweep has freed there, and before it has taken it, another one that has it
// leaves (a run by threads under ThreadSanitizer, one in five of seed 7: an entry, and its value, stayed to the end).
TEST(DataFragments, WhatPassesHomeIsForgottenThoughAnotherOfItsReadersHasLeft) {
  Parts all(2);
  Part& home = all.home();
  Horizons horizons(0, [](Horizons::Whose) {});
  home.data.horizons = &horizons;
  abi::Name x = all.name(1);
  x.scope |= abi::kUsesKnown | abi::kSwept;
  const ValueRef v(abi::value_int(5));
  home.data.take_copy(Rank{1}, {x, {v}, false});
  Ship ship;
  EXPECT_TRUE(home.data.go_along(x, v.get(), Rank{1}, ship, true) || !ship.inputs.empty());
  home.comm().send(Rank{1}, ship);
  home.data.forget_passed({x});
  EXPECT_EQ(home.entries(), 0u);
}

// Word of a name that comes when its scope has ended is for nobody; who has a copy is told to drop it.
TEST(DataFragments, OfAScopeThatHasEndedNothingIsRemembered) {
  Parts all(3);
  const abi::Name x = all.name(1), y = all.name(2, true);
  all[1].data.take_copy(Rank{2}, {x, {ValueRef(abi::value_int(5))}, false});  // Copied is on its way
  Part& home = all.home();
  home.scopes.retire(home.root);
  home.data.free_scope(home.root);
  home.scopes.free_retired(std::exchange(home.root, nullptr));
  for (const abi::Name& n : {x, y}) {
    home.data.on(Rank{2}, Request{n});
    home.data.on(Rank{2}, Keep{n, {ValueRef(abi::value_int(5))}});
    home.data.on(Rank{2}, Used{{n}, {}});
    home.data.on(Rank{2}, DeleteHint{n, 0});
  }
  EXPECT_EQ(all[1].entries(), 1u);
  all.settle();
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(all[k].entries(), 0u) << k;
}

abi::Cf* reader_of(const abi::Name& x, const abi::Name& y) {
  abi::Cf* c = allocate_cf(kReaderOfTwo, nullptr, {9, 9});
  abi::frame_name(c, 0) = x;
  abi::frame_name(c, 3) = y;
  return c;
}

// Who looks for a value that is deleted has failed. It keeps nothing of what it has got, where it waits for nothing.
TEST(DataFragments, WhoCanNotHaveAnInputKeepsNoOther) {
  Parts all(1);
  Part& a = all[0];
  a.assigns(all.name(1), 42);
  a.data.free_now(a.worker(), all.name(2), 0);
  const std::int64_t before = records_out();
  abi::Cf* c = reader_of(all.name(1), all.name(2));
  EXPECT_THROW(a.data.gather(a.worker(), c), ProgramError);
  EXPECT_EQ(slot_word(c, 0), 0u);
  free_cf(c);
  EXPECT_TRUE(a.data.abandon_waiting().empty());
  a.data.free_scope(a.root);
  EXPECT_EQ(records_out(), before - (before == 0 ? 0 : 3));  // two entries and a value
}

// Else it is told, and found among those that wait, when the run has ended.
TEST(DataFragments, WhoCanNotHaveAnInputIsFoundAmongThoseThatWait) {
  Parts all(1);
  Part& a = all[0];
  a.data.free_now(a.worker(), all.name(2), 0);
  const std::int64_t before = records_out();
  abi::Cf* waits = reader_of(all.name(1), all.name(3));
  abi::Cf* fails = reader_of(all.name(1), all.name(2));
  a.assigns(all.name(3), 7);
  slot_word(fails, 1) = 12345;  // whatever its frame had there before
  EXPECT_FALSE(a.data.gather(a.worker(), waits));
  EXPECT_FALSE(a.data.gather(a.worker(), fails));
  EXPECT_NE(a.wrong.find("deletes"), std::string::npos) << a.wrong;
  std::vector<abi::Cf*> found = a.data.abandon_waiting();
  EXPECT_EQ(std::set(found.begin(), found.end()), (std::set{waits, fails}));
  for (abi::Cf* c : found) free_cf(c);
  a.data.free_scope(a.root);
  EXPECT_EQ(records_out(), before - (before == 0 ? 0 : 1));  // the entry of what is deleted
}

// So are those that wait for what is deleted only then.
TEST(DataFragments, WhoWaitsForWhatIsDeletedIsFoundAmongThoseThatWait) {
  Parts all(1);
  Part& a = all[0];
  abi::Cf* c = a.wants(all.name(1), a.root);
  a.data.free_now(a.worker(), all.name(1), 0);
  EXPECT_NE(a.wrong.find("deletes"), std::string::npos) << a.wrong;
  EXPECT_EQ(a.data.abandon_waiting(), std::vector{c});
  free_cf(c);
}

}  // namespace
}  // namespace tessera::runtime
