// All orders in which two ranks print, sweep and are killed, and `tessera` passes on, notes and is killed, twice in one
// story, with a frame of the journal lost: when the run has come to its end, the user has each line. And: each rule,
// broken, is found out.
#include "runtime/journal/printed.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace tessera::runtime::journal {

struct PrintingRules {
  std::string name;
  bool notes_what_is_written = true;  // `tessera`, when it is, and not when it has it in hand
  bool pages_first = true;            // in a sweep, they are taken before the text is
  bool records_need_text = true;
  bool ends_when_written = true;  // the journal, when the user has all
  bool notes_again = true;        // who prints again leaves it to `tessera` to note that
  bool nothing_behind_a_gap = true;
};
void PrintTo(const PrintingRules& r, std::ostream* out) { *out << r.name; }

namespace {

constexpr std::size_t kRanks = 2;
// A story: how many lines the ranks print, a fragment each; how often somebody is killed; and the sweeps of each run.
struct Story {
  std::array<int, kRanks> lines;
  int kills, sweeps;
  unsigned all_done() const { return (1u << (lines[0] + lines[1])) - 1; }
  unsigned bit(std::size_t rank, int k) const { return 1u << (rank == 0 ? k : lines[0] + k); }
};

// A byte of a stream, with its mark.
struct Byte {
  std::uint8_t stream, upto;
  unsigned line;  // its bit
};
struct Swept {  // in the journal
  std::uint8_t stream, from, upto;
  std::vector<unsigned> text;  // its bits, a byte each
  unsigned done;
};
struct Writer {
  bool alive = true;
  int next = 0;          // fragment
  bool printed = false;  // this one has, and is not done
  unsigned page = 0;
  std::vector<unsigned> kept;
  std::uint8_t read = 0, passed = 0;
  std::vector<unsigned> way;
  int phase = 0;  // of a sweep
  unsigned taken = 0;
  std::size_t row = 0;
};

class PrintingWorld {
 public:
  PrintingWorld(const PrintingRules& rules, const Story& story) : rules_(&rules), story_(&story), kills_(story.kills) {
    start();
  }
  bool finished() const { return finished_; }
  bool right() const { return !finished_ || shown_ == story_->all_done(); }

  template <class F>
  void each_next(F f) const {
    const auto with = [&](auto change) {
      PrintingWorld then(*this);
      change(then);
      f(then);
    };
    if (finished_) return;
    bool all_dead = true, all_ended = true;
    for (std::size_t r = 0; r < kRanks; ++r) {
      const Writer& w = ranks_[r];
      all_dead = all_dead && !w.alive;
      all_ended = all_ended && ended(r);
      if (!w.alive) continue;
      if (!ended(r)) with([r](PrintingWorld& x) { x.step(r); });
      if (!w.way.empty()) with([r](PrintingWorld& x) { x.pass_on(r); });
      if (w.phase > 0 || (left_ > 0 && w.page != 0)) with([r](PrintingWorld& x) { x.sweep(r); });
    }
    if (launcher_ && !wire_.empty()) with([](PrintingWorld& x) { x.take(); });
    if (launcher_ && !hand_.empty()) with([](PrintingWorld& x) { x.show(); });
    if (launcher_ && !to_note_.empty()) with([](PrintingWorld& x) { x.note(); });
    if (all_ended && !all_dead) {
      const bool written = wire_.empty() && hand_.empty();
      if (launcher_ && (written || !rules_->ends_when_written)) with([](PrintingWorld& x) { x.finished_ = true; });
    }
    if (!all_dead && (kills_ > 0 || !launcher_)) {
      with([](PrintingWorld& x) { x.kill_ranks(); });
    }
    if (kills_ > 0 && launcher_) with([](PrintingWorld& x) { x.kill_launcher(); });
    if (!all_dead) return;
    if (!wire_.empty()) with([](PrintingWorld& x) { x.wire_.clear(); });  // mpirun ends
    if (loses_ && !swept_.empty()) {
      for (std::size_t k = 0; k < swept_.size(); ++k) {
        with([k](PrintingWorld& x) {
          x.loses_ = false;
          x.swept_[k].text.clear();
        });
      }
    }
    if (!launcher_ || (wire_.empty() && hand_.empty() && to_note_.empty())) with([](PrintingWorld& x) { x.start(); });
  }

  std::string key() const {
    std::string k{static_cast<char>(kills_),
                  static_cast<char>(left_),
                  static_cast<char>(launcher_ + 2 * finished_ + 4 * loses_),
                  static_cast<char>(shown_),
                  static_cast<char>(recalled_),
                  static_cast<char>(streams_)};
    const auto put = [&](const std::vector<unsigned>& bits) {
      k += static_cast<char>(bits.size());
      for (const unsigned b : bits) k += static_cast<char>(b);
    };
    const auto put_bytes = [&](const std::vector<Byte>& bytes) {
      k += static_cast<char>(bytes.size());
      for (const Byte& b : bytes)
        k.append({static_cast<char>(b.stream), static_cast<char>(b.upto), static_cast<char>(b.line)});
    };
    for (const Writer& w : ranks_) {
      k.append({static_cast<char>(w.alive + 2 * w.printed), static_cast<char>(w.next), static_cast<char>(w.page),
                static_cast<char>(w.read), static_cast<char>(w.passed), static_cast<char>(w.phase),
                static_cast<char>(w.taken), static_cast<char>(w.row)});
      put(w.kept), put(w.way);
    }
    put_bytes(wire_), put_bytes(hand_), put_bytes(to_note_);
    for (const Swept& s : swept_) {
      k.append({static_cast<char>(s.stream), static_cast<char>(s.from), static_cast<char>(s.upto),
                static_cast<char>(s.done)});
      put(s.text);
    }
    for (const auto& [stream, upto] : noted_) k.append({static_cast<char>(stream), static_cast<char>(upto)});
    return k;
  }

 private:
  bool ended(std::size_t r) const {
    const Writer& w = ranks_[r];
    return !w.alive || (w.next == story_->lines[r] && w.way.empty() && w.phase == 0);
  }
  void step(std::size_t r) {
    Writer& w = ranks_[r];
    if (w.next == story_->lines[r]) return;
    const unsigned line = story_->bit(r, w.next);
    if (!w.printed && (recalled_ & line) == 0) {
      w.kept.push_back(line), w.way.push_back(line);
      ++w.read;
      w.printed = true;
      return;
    }
    if (w.printed) w.page |= line;
    w.printed = false;
    ++w.next;
  }
  void pass_on(std::size_t r) {
    Writer& w = ranks_[r];
    wire_.push_back({stream_of(r), ++w.passed, w.way.front()});
    w.way.erase(w.way.begin());
  }
  void take_text(std::size_t r) {
    Writer& w = ranks_[r];
    const auto from = static_cast<std::uint8_t>(w.read - w.kept.size());
    w.row = swept_.size();
    swept_.push_back({stream_of(r), from, w.read, std::exchange(w.kept, {}), 0});
  }
  void take_page(std::size_t r) { ranks_[r].taken = std::exchange(ranks_[r].page, 0); }
  // The page is taken; the text is, and written; the records are written.
  void sweep(std::size_t r) {
    Writer& w = ranks_[r];
    if (w.phase == 0) --left_;
    const int now = w.phase;
    w.phase = (w.phase + 1) % 3;
    if (now == 2) swept_[w.row].done = w.taken;
    if (now < 2) (now == 0) == rules_->pages_first ? take_page(r) : take_text(r);
  }
  void take() {
    hand_.push_back(wire_.front());
    wire_.erase(wire_.begin());
    if (!rules_->notes_what_is_written) to_note_.push_back(hand_.back());
  }
  void show() {
    shown_ |= hand_.front().line;
    if (rules_->notes_what_is_written) to_note_.push_back(hand_.front());
    hand_.erase(hand_.begin());
  }
  void note() {
    std::uint64_t& upto = noted_[to_note_.front().stream];
    upto = std::max<std::uint64_t>(upto, to_note_.front().upto);
    to_note_.erase(to_note_.begin());
  }
  void kill_ranks() {
    if (launcher_) --kills_;  // else they follow it
    for (Writer& w : ranks_) w = {}, w.alive = false;
  }
  void kill_launcher() {
    --kills_;
    launcher_ = false;
    wire_.clear(), hand_.clear(), to_note_.clear();
  }
  std::uint8_t stream_of(std::size_t r) const { return static_cast<std::uint8_t>(streams_ * kRanks + r); }

  void start() {
    ++streams_;
    launcher_ = true;
    left_ = story_->sweeps;
    wire_.clear();
    PrintedText text(noted_);
    recalled_ = 0;
    for (const Swept& s : swept_) {
      text.add(s.stream, s.from, std::string(s.text.begin(), s.text.end()));
      if (!rules_->records_need_text || text.covers(s.stream, s.upto)) recalled_ |= s.done;
    }
    for (const PrintedText::Again& a : text.again()) say_again(a.stream, a.upto, a.text);
    if (!rules_->nothing_behind_a_gap) {
      for (const Swept& s : swept_) say_again(s.stream, s.upto, std::string(s.text.begin(), s.text.end()));
    }
    for (Writer& w : ranks_) w = {};
  }
  void say_again(std::uint64_t stream, std::uint64_t upto, const std::string& text) {
    for (std::size_t k = 0; k < text.size(); ++k)
      wire_.push_back({static_cast<std::uint8_t>(stream), static_cast<std::uint8_t>(upto - text.size() + k + 1),
                       static_cast<unsigned>(text[k])});
    if (!rules_->notes_again) noted_[stream] = std::max(noted_[stream], upto);
  }

  const PrintingRules* rules_;
  const Story* story_;
  int kills_, left_ = 0;
  bool launcher_ = true, finished_ = false, loses_ = true;
  unsigned shown_ = 0, recalled_ = 0;
  int streams_ = -1;
  std::array<Writer, kRanks> ranks_;
  std::vector<Byte> wire_, hand_, to_note_;  // with mpirun, with `tessera`, written and not noted
  std::vector<Swept> swept_;
  Acknowledged noted_;
};

// How many worlds there are; 0: in one of them a line is lost, or nothing goes on.
std::size_t explore(const PrintingRules& rules, const Story& story) {
  std::vector<PrintingWorld> todo = {PrintingWorld(rules, story)};
  std::unordered_set<std::string> seen;
  while (!todo.empty()) {
    const PrintingWorld w = std::move(todo.back());
    todo.pop_back();
    if (!w.right()) return 0;
    std::size_t nexts = 0;
    w.each_next([&](PrintingWorld next) {
      ++nexts;
      if (seen.insert(next.key()).second) todo.push_back(std::move(next));
    });
    if (nexts == 0 && !w.finished()) return 0;
  }
  return seen.size();
}

// (15,887,652 worlds of {{2, 1}, 2, 1}, 85 s, were explored once.)
TEST(Printed, NoLineIsLostWhoeverIsKilled) {
  EXPECT_GT(explore({"as it is"}, {{1, 1}, 2, 1}), 400'000u);
  EXPECT_GT(explore({"as it is"}, {{2, 0}, 2, 1}), 170'000u);
  EXPECT_GT(explore({"as it is"}, {{1, 0}, 3, 1}), 17'000u);
}

class BrokenPrinting : public testing::TestWithParam<PrintingRules> {};
TEST_P(BrokenPrinting, IsFoundOut) {
  EXPECT_TRUE(explore(GetParam(), {{2, 0}, 2, 1}) == 0 || explore(GetParam(), {{2, 0}, 2, 2}) == 0);
}
PrintingRules broken(std::string name, bool PrintingRules::*rule) {
  PrintingRules r{std::move(name)};
  r.*rule = false;
  return r;
}
INSTANTIATE_TEST_SUITE_P(Rules, BrokenPrinting,
                         testing::Values(broken("NotesWhatItHasInHand", &PrintingRules::notes_what_is_written),
                                         broken("TextIsTakenFirst", &PrintingRules::pages_first),
                                         broken("RecordsWithoutTextCount", &PrintingRules::records_need_text),
                                         broken("EndsWithTextInHand", &PrintingRules::ends_when_written),
                                         broken("WhatIsPrintedAgainIsNotedAtOnce", &PrintingRules::notes_again),
                                         broken("WhatIsBehindAGapIsPrinted", &PrintingRules::nothing_behind_a_gap)),
                         [](const auto& info) { return info.param.name; });

TEST(Printed, PiecesComeInAnyOrderAndTwice) {
  PrintedText t(Acknowledged{{7, 3}});
  t.add(7, 0, "abcde");
  t.add(7, 8, "ij");
  EXPECT_TRUE(t.covers(7, 5));
  EXPECT_FALSE(t.covers(7, 6));
  EXPECT_FALSE(t.covers(8, 1));
  ASSERT_EQ(t.again().size(), 1u);
  EXPECT_EQ(t.again()[0].text, "de") << "what is behind the gap is not";
  t.add(7, 4, "efgh");
  t.add(9, 0, "x");
  ASSERT_EQ(t.again().size(), 2u);
  EXPECT_EQ(t.again()[0].text, "defghij");
  EXPECT_EQ(t.again()[0].upto, 10u);
  EXPECT_EQ(t.again()[1].text, "x");
}

TEST(Printed, WhatIsNotedIsReadOrTakenForNothing) {
  const tests::TemporaryFolder folder;
  EXPECT_TRUE(PrintedFile::read(folder).empty());
  {
    PrintedFile file(folder);
    file.note(1, 10);
    file.note(2, 20);
    file.note(1, 30);
  }
  {
    PrintedFile file(folder);
    file.note(3, 5);
  }
  EXPECT_EQ(PrintedFile::read(folder), (Acknowledged{{1, 30}, {2, 20}, {3, 5}}));
  const std::filesystem::path file = folder / "printed";
  std::string all;
  {
    std::ifstream in(file, std::ios::binary);
    all.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t at = 0; at < all.size(); at += 5) {
    std::string bad = all;
    bad[at] ^= 4;
    std::ofstream(file, std::ios::binary) << bad;
    for (const auto& [stream, upto] : PrintedFile::read(folder))
      EXPECT_EQ(upto, (Acknowledged{{1, 30}, {2, 20}, {3, 5}})[stream]);
    std::ofstream(file, std::ios::binary) << all.substr(0, at);
    EXPECT_LE(PrintedFile::read(folder).size(), at / 24);
  }
}

}  // namespace
}  // namespace tessera::runtime::journal
