#include "told_text.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "balancer/random.hpp"
#include "runtime/journal/printed.hpp"

namespace journal = tessera::runtime::journal;

namespace tessera::differential {

class SimulatedText final : public journal::Captured {
 public:
  SimulatedText(ToldText& all, std::uint64_t s) : Captured(s), all_(all) {}
  Part take() override { return {std::exchange(from_, upto_), std::exchange(kept_, {}), true}; }
  std::size_t size() const override { return kept_.size(); }
  void printed_by_now() override {
    const std::lock_guard hold(all_.mutex_);
    for (; all_.owned_ < all_.all_.size(); ++all_.owned_) {
      ToldText::Line& line = all_.all_[all_.owned_];
      if (line.again) continue;
      kept_ += line.text + "\n";
      upto_ += line.text.size() + 1;
      line.stream = stream;
      line.upto = upto_;
    }
  }
  void print_again(std::uint64_t of, std::uint64_t upto, const std::string& text) override {
    const std::lock_guard hold(all_.mutex_);
    std::uint64_t at = upto - text.size();
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      at += line.size() + 1;
      all_.all_.push_back({line, of, at, true});
    }
  }

 private:
  ToldText& all_;
  std::string kept_;
  std::uint64_t from_ = 0, upto_ = 0;
};

void ToldText::clear() {
  const std::lock_guard hold(mutex_);
  all_.clear();
  owned_ = 0;
}

void ToldText::print(const char* line) {
  const std::lock_guard hold(mutex_);
  all_.push_back({line});
}

std::vector<std::string> ToldText::lines() const {
  const std::lock_guard hold(mutex_);
  std::vector<std::string> lines;
  for (const Line& line : all_) {
    if (!line.again) lines.push_back(line.text);
  }
  return lines;
}

void ToldText::capture() {
  journal::capture_simulated = [this](std::uint64_t stream) { return std::make_unique<SimulatedText>(*this, stream); };
}

void ToldText::pass_on(const std::filesystem::path& lines, const std::filesystem::path& again,
                       const std::filesystem::path& folder, std::uint64_t killed) const {
  const std::lock_guard hold(mutex_);
  std::size_t shown = all_.size(), noted = shown;
  if (killed != 0) {
    balancer::Random random(killed);
    shown = random.below(all_.size() + 1);
    noted = shown - random.below(std::min<std::size_t>(shown, 5) + 1);
  }
  std::ofstream out(lines), out_again(again);
  journal::PrintedFile file(folder);
  for (std::size_t k = 0; k < shown; ++k) {
    const Line& line = all_[k];
    (line.again ? out_again : out) << line.text << '\n';
    if (k < noted && line.upto != 0) file.note(line.stream, line.upto);
  }
}

}  // namespace tessera::differential
