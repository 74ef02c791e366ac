#include "runtime/report/running.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/fragment/cf.hpp"
#include "runtime/report/waits.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kLookInterval = std::chrono::milliseconds(500);
constexpr double kWorthAWord = 1;       // s
constexpr std::size_t kMostOfRank = 4;  // of a rank
constexpr std::size_t kMostCopied = 1000;
constexpr int kLookTries = 1000;

// The ranks of this process.
std::mutex nodes_mutex;
std::vector<RunningNow*> nodes;

const abi::Cf* current_of(const Worker& w) { return __atomic_load_n(&w.current, __ATOMIC_ACQUIRE); }
// Calls of kernels it has begun.
std::uint64_t calls_begun(const Worker& w) {
  std::uint64_t n = 0;
  for (std::uint32_t g = 0; g < w.stats.size(); ++g) {
    const GroupStats::Snapshot s = w.stats.read(g);
    n += s.count + s.recalled;
  }
  return n;
}

// A copy, for the fragment may end meanwhile: then it is nothing. Without its strings, which would be gone then.
class Copy {
 public:
  explicit Copy(const Worker& w) {
    const std::uint64_t before = calls_begun(w);
    const abi::Cf* c = current_of(w);
    if (c == nullptr) return;
    const abi::Block* block = __atomic_load_n(&c->block, __ATOMIC_RELAXED);
    std::memcpy(&copy_.head, c, sizeof(abi::Cf));
    if (copy_.head.capacity > kMostCopied) return;
    std::memcpy(copy_.words.data(), c->words(), copy_.head.capacity * sizeof(std::uint64_t));
    if (current_of(w) != c || calls_begun(w) != before || copy_.head.block != block) return;
    for_each_value(*block, [&](unsigned word) { copy_.words[word] = 0; });
    ok_ = true;
  }
  const abi::Cf* get() const { return ok_ ? &copy_.head : nullptr; }

 private:
  struct {
    abi::Cf head;
    std::array<std::uint64_t, kMostCopied> words;
  } copy_{};
  bool ok_ = false;
};

std::vector<std::uint64_t> given_by(const abi::Program& program, const abi::Cf* c) {
  if (c->block->kind != abi::Kind::atomic || c->block->values != 0) return {};
  try {
    return waits_of(program, c, {}).gives;
  } catch (const ProgramError&) {
    return {};
  }
}

std::string own_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

}  // namespace

RunningNow::RunningNow(const RunFacts& facts, const Crew& crew)
    : facts_(facts), crew_(crew), next_(Clock::now() + kLookInterval), looks_(crew.size()) {
  const std::lock_guard hold(nodes_mutex);
  nodes.push_back(this);
}
RunningNow::~RunningNow() {
  const std::lock_guard hold(nodes_mutex);
  std::erase(nodes, this);
}

void RunningNow::turn(Clock::time_point now) {
  if (now < next_) return;
  next_ = now + kLookInterval;
  const std::lock_guard hold(mutex_);
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    const Worker& w = *crew_.workers[i];
    const bool ran = current_of(w) != nullptr;
    const std::uint64_t count = calls_begun(w);
    if (!looks_[i].ran || !ran || looks_[i].runs != count) looks_[i].since = now;
    looks_[i].ran = ran;
    looks_[i].runs = count;
  }
}

std::vector<RunningNow::Fragment> RunningNow::fragments(bool with_gives) {
  const auto now = Clock::now();
  std::vector<Fragment> found;
  const std::lock_guard hold(mutex_);
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    const Worker& w = *crew_.workers[i];
    const bool same = looks_[i].ran && looks_[i].runs == calls_begun(w);
    const Copy copy(w);
    const abi::Cf* c = copy.get();
    if (c == nullptr) continue;
    found.push_back({describe(facts_.program, c),
                     same ? std::chrono::duration<double>(now - looks_[i].since).count() : 0, c->block->group});
    if (with_gives) found.back().gives = given_by(facts_.program, c);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Fragment& a, const Fragment& b) { return a.seconds > b.seconds; });
  return found;
}

std::string RunningNow::all() {
  std::string text;
  const std::lock_guard hold(nodes_mutex);
  for (RunningNow* n : nodes) {
    std::vector<Fragment> found = n->fragments();
    std::erase_if(found, [](const Fragment& f) { return f.seconds < kWorthAWord; });
    for (std::size_t i = 0; i < std::min(found.size(), kMostOfRank); ++i) {
      text += fmt::format("  rank {} ({}) has run {} for {:.1f} s\n", balancer::index(n->facts_.self), own_host(),
                          found[i].text, found[i].seconds);
    }
    if (found.size() > kMostOfRank) text += fmt::format("  ... and {} more there\n", found.size() - kMostOfRank);
  }
  return text;
}

std::string RunningNow::calls_so_far() {
  std::uint64_t all = 0, most = 0;
  std::uint32_t group = 0;
  for (std::uint32_t b = 0; b < facts_.program.block_count; ++b) {
    const abi::Block& block = *facts_.program.blocks[b];
    if (block.group != block.index || !calls_kernel(facts_.program, b)) continue;
    const std::uint64_t n = crew_.stats(b).count;
    all += n;
    if (n > most) most = n, group = b;
  }
  std::string text =
      fmt::format("  rank {} ({}) has run {} calls of kernels", balancer::index(facts_.self), own_host(), all);
  if (most > 0) text += fmt::format(", {} of them {}", most, describe(facts_.program, *facts_.program.blocks[group]));
  // Short ones are gone before they can be looked at.
  for (int k = 0; k < kLookTries; ++k) {
    if (const std::vector<Fragment> now = fragments(); !now.empty()) return text + "; now " + now.front().text + "\n";
  }
  return text + "\n";
}

std::string RunningNow::so_far() {
  std::string text;
  const std::lock_guard hold(nodes_mutex);
  for (RunningNow* n : nodes) text += n->calls_so_far();
  return text;
}

}  // namespace tessera::runtime
