#include "runtime/journal/printed.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <tuple>
#include <utility>

namespace tessera::runtime::journal {
namespace {

constexpr const char* kPrinted = "printed";

struct PrintedRow {
  std::uint64_t stream = 0, upto = 0, sum = 0;
  std::uint64_t right_sum() const {
    const std::uint64_t words[] = {stream, upto};
    return XXH3_64bits_withSeed(words, sizeof words, sizeof words);
  }
};

}  // namespace

void PrintedText::add(std::uint64_t stream, std::uint64_t from, std::string_view text) {
  std::uint64_t& covered = covered_[stream];
  const std::uint64_t upto = from + text.size();
  if (upto <= covered) return;
  if (from < covered) text.remove_prefix(covered - std::exchange(from, covered));
  if (from == covered) covered = upto;
  pieces_.push_back({stream, from, std::string(text)});
}

bool PrintedText::covers(std::uint64_t stream, std::uint64_t upto) const {
  const auto at = covered_.find(stream);
  return (at == covered_.end() ? 0 : at->second) >= upto;
}

std::vector<PrintedText::Again> PrintedText::again() const {
  std::vector<const Piece*> order;
  for (const Piece& p : pieces_) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(), [](const Piece* a, const Piece* b) {
    return std::tie(a->stream, a->from) < std::tie(b->stream, b->from);
  });
  std::vector<Again> all;
  for (const Piece* p : order) {
    if (all.empty() || all.back().stream != p->stream) all.push_back({p->stream, acknowledged(p->stream), ""});
    Again& a = all.back();
    const std::uint64_t upto = p->from + p->text.size();
    if (p->from > a.upto || upto <= a.upto) continue;
    a.text += std::string_view(p->text).substr(a.upto - p->from);
    a.upto = upto;
  }
  std::erase_if(all, [](const Again& a) { return a.text.empty(); });
  return all;
}

std::uint64_t PrintedText::acknowledged(std::uint64_t stream) const {
  const auto at = acknowledged_.find(stream);
  return at == acknowledged_.end() ? 0 : at->second;
}

PrintedFile::~PrintedFile() {
  if (file_ >= 0) close(file_);
}

// Not before there is something to note: the folder is the ranks' to make.
bool PrintedFile::open_file() {
  if (file_ >= 0) return true;
  file_ = open((folder_ / kPrinted).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return false;
  const off_t size = lseek(file_, 0, SEEK_END);
  next_row_ = (static_cast<std::size_t>(std::max<off_t>(size, 0)) + sizeof(PrintedRow) - 1) / sizeof(PrintedRow);
  return true;
}

void PrintedFile::note(std::uint64_t stream, std::uint64_t upto) {
  if (!open_file()) return;
  const auto [at, fresh] = rows_.try_emplace(stream, next_row_);
  if (fresh) ++next_row_;
  PrintedRow row{stream, upto, 0};
  row.sum = row.right_sum();
  (void)!pwrite(file_, &row, sizeof row, static_cast<off_t>(at->second * sizeof row));
}

Acknowledged PrintedFile::read(const std::filesystem::path& folder) {
  Acknowledged all;
  std::ifstream in(folder / kPrinted, std::ios::binary);
  for (PrintedRow row; in.read(reinterpret_cast<char*>(&row), sizeof row);) {
    if (row.sum == row.right_sum()) all[row.stream] = std::max(all[row.stream], row.upto);
  }
  return all;
}

void PrintedFile::remove(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove(folder / kPrinted, ignored);
}

}  // namespace tessera::runtime::journal
