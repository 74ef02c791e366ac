#include "runtime/journal/of_run.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "runtime/journal/kernels.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime::journal {

namespace {

// A file system of several hosts may show what another one has written only after a while.
constexpr auto kUntilSeen = std::chrono::seconds(5);
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// Of kernels' groups, as a profile has it (balance/profiles.cpp).
Learned learned_by(const RunFacts& facts, const Crew& crew) {
  Learned all;
  const abi::Program& program = facts.program;
  const double ns = ns_per_tick();
  for (std::uint32_t g = 0; g < program.block_count; ++g) {
    const GroupStats::Snapshot s = crew.stats(g);
    if (s.known == 0 || !calls_kernel(program, g)) continue;
    const auto n = static_cast<double>(s.known);
    balancer::ProfileGroup x;
    x.position = place(program, program.blocks[g]->pos);
    x.label = program.blocks[g]->label;
    x.count = static_cast<std::int64_t>(s.count);
    x.mean = static_cast<balancer::Time>(s.sum / n * ns);
    x.variance = std::max(0.0, s.squares / n * ns * ns - s.sum / n * ns * (s.sum / n * ns));
    x.bytes = s.count == 0 ? 0 : s.bytes / static_cast<std::int64_t>(s.count);
    all.push_back(std::move(x));
  }
  return all;
}

// What this process starts prints to it, and not to `tessera`.
bool takes_marks() {
  const bool takes = std::getenv(kMarks) != nullptr;
  unsetenv(kMarks);
  return takes && simulation == nullptr;
}

}  // namespace

std::uint64_t digest_of_blocks(const abi::Program& program) {
  std::uint64_t digest = program.block_count;
  const auto text = [&](const char* t) {
    if (t != nullptr) digest = XXH3_64bits_withSeed(t, std::strlen(t), digest);
  };
  for (std::uint32_t k = 0; k < program.block_count; ++k) {
    const abi::Block& b = *program.blocks[k];
    const std::uint64_t words[] = {static_cast<std::uint64_t>(b.kind), b.group, b.input_count, b.output_count, b.pos};
    digest = XXH3_64bits_withSeed(words, sizeof words, digest);
    text(b.layout);
    text(b.text);
  }
  return digest;
}

void OfRun::read(const abi::Program& program, const RunOptions& options) {
  header_.blocks = digest_of_blocks(program);
  header_.began = simulation != nullptr ? 0 : static_cast<std::int64_t>(std::time(nullptr));
  auto known = std::make_shared<Known>(options.journal, header_.attempt, header_.blocks);
  damaged_ = known->damaged;
  if (known->placed != 0) known_ = std::move(known);
}

std::string OfRun::open(const abi::Program& program, const std::vector<std::string>& arguments,
                        const RunOptions& options) try {
  const auto kernels = kernels_of(program);
  header_.origin = {{program.hash[0], program.hash[1]}, {kernels[0], kernels[1]}, program.name, arguments};
  folder_ = std::make_unique<Folder>(options.journal, header_.origin, Folder::Finished::goes, [&] {
    if (options.quiet) return;
    std::fprintf(stderr, "tessera: waits for a run that is using the journal %s\n", options.journal.c_str());
  });
  if (!folder_->wrong.empty()) return folder_->wrong;
  header_.attempt = folder_->attempt;
  token_ = folder_->token;
  marked_ = takes_marks();
  read(program, options);
  if (!options.quiet) say(options);
  return "";
} catch (const std::exception& e) {
  return fmt::format("--journal: {}", e.what());
}

JournalSeen OfRun::seen() const {
  if (folder_ == nullptr) return {};
  const auto& kernels = header_.origin.kernels;
  return {header_.attempt, known_ == nullptr ? 0 : known_->digest, {kernels[0], kernels[1]}, folder_->token, marked_};
}

balancer::Profile OfRun::learned() const {
  balancer::Profile p;
  for (std::size_t k = 0; k < p.hash.size(); ++k) p.hash[k] = header_.origin.hash[k];
  p.program = header_.origin.program;
  if (known_ != nullptr) p.groups = known_->learned;
  return p;
}

std::string OfRun::join(const abi::Program& program, const std::vector<std::string>& arguments,
                        const RunOptions& options, const JournalSeen& by_rank_0) try {
  header_.attempt = by_rank_0.attempt;
  token_ = by_rank_0.token;
  marked_ = by_rank_0.marked;
  takes_marks();
  // On a host with another processor they may be compiled to something else.
  header_.origin = {
      {program.hash[0], program.hash[1]}, {by_rank_0.kernels[0], by_rank_0.kernels[1]}, program.name, arguments};
  const auto until = Clock::now() + kUntilSeen;
  bool same = false;
  while (!(same = token_of(options.journal) == by_rank_0.token) && Clock::now() < until) sleep_for(kBetweenLooks);
  if (!same) {
    return fmt::format("--journal: {} is not the folder that rank 0 sees there: it must be one that all hosts share",
                       options.journal);
  }
  writing_ = std::make_unique<Writing>(options.journal);
  for (;;) {
    read(program, options);
    if ((known_ == nullptr ? 0 : known_->digest) == by_rank_0.digest) return "";
    if (Clock::now() >= until) break;
    sleep_for(kBetweenLooks);
  }
  return fmt::format(
      "--journal: what is in {} is not what rank 0 reads there: is its disk in order? Give another folder",
      options.journal);
} catch (const std::exception& e) {
  return fmt::format("--journal: {}", e.what());
}

void OfRun::say(const RunOptions& options) const {
  if (folder_->was_finished) {
    std::fprintf(stderr, "tessera: the run in the journal %s came to its end: this one begins anew\n",
                 options.journal.c_str());
  }
  for (const auto& other : not_files_of(options.journal)) {
    std::fprintf(stderr, "tessera: warning: --journal: %s is no file: it is passed over\n", other.c_str());
  }
  if (known_ == nullptr && damaged_ > 0) {
    std::fprintf(stderr, "tessera: warning: nothing in the journal %s can be read (%llu bytes): this run begins anew\n",
                 options.journal.c_str(), static_cast<unsigned long long>(damaged_));
  }
  if (known_ == nullptr) return;
  const Known& k = *known_;
  std::string text = fmt::format(
      "tessera: goes on from the journal {}: {} fragment{} done, {:.1f} MB of values are there, written {} s ago on {} "
      "rank{}\n",
      options.journal, k.recalled, k.recalled == 1 ? " is" : "s are", static_cast<double>(k.bytes) * 1e-6,
      std::max<std::int64_t>(0, header_.began - k.written), k.ranks, k.ranks == 1 ? "" : "s");
  if (k.damaged > 0) {
    text += fmt::format("tessera: warning: {} bytes of the journal can't be read: what they said is done again\n",
                        k.damaged);
  }
  std::fputs(text.c_str(), stderr);
}

std::unique_ptr<Journal> OfRun::of(const RunFacts& facts, const Members& members, const Crew& crew,
                                   std::function<SeriesPlaces()> places, std::function<HostLinks()> links) const {
  if (header_.attempt == 0) return nullptr;
  note_travels = true;
  Header h = header_;
  h.rank = balancer::index(facts.self);
  h.ranks = facts.ranks;
  h.based = known_ == nullptr ? 0 : known_->read_digest;
  // What the program says by `ranks` stays what it was.
  h.placed = known_ != nullptr ? known_->placed : members.placed();
  return std::make_unique<Journal>(
      Settings{facts.options.journal, h, facts.options.journal_interval, facts.options.quiet, facts.program.deletes,
               [&facts, &crew] { return learned_by(facts, crew); }, std::move(places), std::move(links),
               XXH3_64bits_withSeed(token_.data(), token_.size(), static_cast<std::uint64_t>(h.rank)), marked_},
      known_, crew.size());
}

void OfRun::finished() const {
  if (folder_ != nullptr && !marked_) folder_->finished();  // else `tessera` does, when all is printed
}

}  // namespace tessera::runtime::journal
