// Random records, whose tables are reckoned once more in another way: since when each fragment could run and why, what
// workers did, and the critical path.
#include "recount.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "cli/export/export.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::tests {
namespace {

Tables tables_of(const cli::RunRecord& r) {
  Tables all;
  for (const cli::CsvFile& f : cli::csv_files()) {
    std::ostringstream out;
    f.write(r, out);
    all[f.name] = out.str();
  }
  return all;
}

// A record of what may have been: the times of what a worker runs are in order, all others are anything.
class RandomRecord {
 public:
  explicit RandomRecord(unsigned seed) : random_(seed) {}
  std::string text() {
    ranks_ = 1 + upto(3), workers_ = 1 + upto(1);
    const int count = 3 + upto(40);
    free_.assign(static_cast<std::size_t>(ranks_ * workers_), 0);
    last_.assign(free_.size(), {0, 0});
    std::string fragments, bars, moves;
    for (int f = 0; f < count; ++f) {
      const int kind = f == 0 ? 0 : upto(4);  // 0: makes; 1: the end of others; else a kernel
      std::vector<int> inputs;
      for (int k = upto(3); f > 0 && k > 0; --k) inputs.push_back(upto(f - 1));
      fragments += fmt::format("f {} {} - {} 1000 8", f, kind < 2 ? 0 : 1,
                               f == 0 || upto(9) == 0 ? "-" : std::to_string(upto(f - 1)));
      for (const int i : inputs) fragments += fmt::format(" {}:8", i);
      fragments += "\n";
      if (kind == 1) continue;
      const int rank = upto(ranks_ - 1);
      bar(f, rank, kind >= 2, inputs, bars, moves);
      if (kind == 0 && ranks_ > 1 && upto(2) == 0) bar(f, (rank + 1) % ranks_, false, inputs, bars, moves);
    }
    std::string text = "tessera-trace 1\nprogram - p\ngroup 0 stack : main\ngroup 1 : work\n" + fragments;
    text += fmt::format("run {} live steal\n", end_ + pause());
    if (upto(3) == 0) text += fmt::format("from {}\n", end_ / 3);
    for (int r = 0; r < ranks_; ++r) text += fmt::format("rank {} {} same-host 0 0 h\n", r, workers_);
    text += "block 0 0 - 1 : 1 in p main\nblock 1 1 kernel 2 : 1 in p work()\n";
    return text + bars + moves + fmt::format("end {}\n", count);
  }

 private:
  int upto(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  std::int64_t pause() {
    static constexpr std::int64_t kPauses[] = {0, 0, 300, 1'500, 2'000, 5'000, 90'000, 150'000, 400'000};
    return kPauses[upto(8)];
  }
  std::int64_t before(std::int64_t t) { return std::max<std::int64_t>(0, t - pause() - pause() + upto(1) * 700); }
  void bar(int f, int rank, bool kernel, const std::vector<int>& inputs, std::string& bars, std::string& moves) {
    const auto lane = static_cast<std::size_t>(rank * workers_ + upto(workers_ - 1));
    std::int64_t start = free_[lane] + pause(), length = pause() + (upto(3) == 0 ? 0 : 10'000);
    auto& [from, to] = last_[lane];
    if (to > from && upto(3) == 0) {  // on the spot, within what ran last
      start = from + (to - from) * upto(4) / 4, length = (to - start) * upto(4) / 4;
    } else {
      from = start, to = start + length;
      free_[lane] = to;
    }
    end_ = std::max(end_, start + length);
    bars +=
        fmt::format("t {} {} {} {} {} {}", f, rank, static_cast<int>(lane) % workers_, start, length, kernel ? 1 : 0);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (upto(1) == 0) continue;
      const std::int64_t at = before(start);
      bars += fmt::format(" @{}:{}", k, at);
      if (upto(2) == 0) continue;
      bars += fmt::format(":{}", before(at));
      if (upto(3) > 0) bars += fmt::format(":{}", upto(2) == 0 ? f : upto(f));  // who asked
    }
    bars += "\n";
    std::int64_t at = upto(1) == 0 ? start : before(start);
    for (int to_rank = rank, n = upto(5) - 2; n > 0; --n) {
      const int from_rank = upto(ranks_ - 1);
      moves += fmt::format("moved {} {} {} {} {}", f, at, from_rank, to_rank, upto(2) == 0 ? "placed" : "policy");
      if (upto(1) == 0) moves += fmt::format(" {}", before(at));
      if (moves.back() != 'd' && moves.back() != 'y' && !inputs.empty() && upto(3) > 0)
        moves += fmt::format(" {}", upto(static_cast<int>(inputs.size()) - 1));
      if (std::count(moves.begin() + static_cast<std::ptrdiff_t>(moves.rfind("moved")), moves.end(), ' ') == 7 &&
          upto(2) > 0) {
        moves += fmt::format(" {}", before(at));
        if (upto(2) > 0) moves += fmt::format(" {}", upto(f));
      }
      moves += "\n";
      to_rank = from_rank, at = before(at);
    }
  }

  std::mt19937 random_;
  int ranks_ = 1, workers_ = 1;
  std::int64_t end_ = 0;
  std::vector<std::int64_t> free_;
  std::vector<std::pair<std::int64_t, std::int64_t>> last_;
};

TEST(Recount, RandomRecordsAreToldInOneWay) {
  const TemporaryFolder folder;
  const std::string path = (folder / "r.trace").string();
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const std::string text = RandomRecord(seed).text();
    std::ofstream(path, std::ios::binary) << text;
    ASSERT_EQ(recount(tables_of(cli::read_run(path))), "") << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace tessera::tests
