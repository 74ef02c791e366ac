#include "runtime/data/holds.hpp"

#include <utility>

#include "runtime/node/node.hpp"

namespace tessera::runtime {
namespace {

std::uint64_t scope_of(const abi::Name& n) { return n.scope & ~abi::kUsesKnown; }

}  // namespace

void Holds::take(const abi::Name& n, const abi::Id& by) {
  if (home_of(n) != node_.self()) return node_.comm.send(home_of(n), Hold{n, by, false, false});
  on(node_.self(), Hold{n, by, false, false});
}

void Holds::end(const abi::Name& n, const abi::Id& by, bool of_body) {
  if (home_of(n) != node_.self()) return node_.comm.send(home_of(n), Hold{n, by, true, of_body});
  on(node_.self(), Hold{n, by, true, of_body});
}

void Holds::on(Rank, Hold&& m) {
  if (!m.ends) {
    if (node_.scopes.find_home(m.name.scope) == nullptr) return;
    any_.store(true, std::memory_order_relaxed);
    const std::lock_guard hold(mutex_);
    scopes_[scope_of(m.name)][m.name.id].try_emplace(m.by);
    return;
  }
  std::vector<std::shared_ptr<Waiting>> freed;
  {
    const std::lock_guard hold(mutex_);
    const auto scope = scopes_.find(scope_of(m.name));
    if (scope == scopes_.end()) return;
    const auto name = scope->second.find(m.name.id);
    if (name == scope->second.end()) return;
    const auto by = name->second.find(m.by);
    if (by == name->second.end()) return;
    for (auto& waiting : by->second) {
      waiting->again |= m.of_body;
      if (--waiting->holds == 0) freed.push_back(std::move(waiting));
    }
    name->second.erase(by);
    if (name->second.empty()) scope->second.erase(name);
    if (scope->second.empty()) scopes_.erase(scope);
  }
  for (const auto& waiting : freed) {
    waiting->again ? decide(waiting->of) : node_.data.on(node_.self(), DeleteHint{waiting->of.name, waiting->of.block});
  }
}

void Holds::free(HeldDelete&& m) {
  const Rank home = home_of(m.name);
  if (home != node_.self()) return node_.comm.send(home, std::move(m));
  on(node_.self(), std::move(m));
}

void Holds::on(Rank, HeldDelete&& m) {
  if (node_.ranks() == 1) return decide(m);
  const std::lock_guard hold(mutex_);
  told_.push_back(std::move(m));
  if (answers_ == 0) begin_round();
}

// The caller holds the lock.
void Holds::begin_round() {
  asked_for_ = std::exchange(told_, {});
  answers_ = node_.ranks() - 1;
  for (std::int32_t r = 0; r < node_.ranks(); ++r) {
    if (Rank{r} != node_.self()) node_.comm.send(Rank{r}, Settle{});
  }
}

void Holds::on(Rank from, Settle&&) { node_.comm.send(from, Settled{}); }

void Holds::on(Rank, Settled&&) {
  std::vector<HeldDelete> settled;
  {
    const std::lock_guard hold(mutex_);
    if (--answers_ > 0) return;
    settled.swap(asked_for_);
    if (!told_.empty()) begin_round();
  }
  for (const HeldDelete& m : settled) decide(m);
}

void Holds::decide(const HeldDelete& m) {
  {
    const std::lock_guard hold(mutex_);
    const auto scope = scopes_.find(scope_of(m.name));
    const auto waiting = std::make_shared<Waiting>(Waiting{m});
    const auto wait_for = [&](OfName& name) {
      for (auto& [by, list] : name) {
        list.push_back(waiting);
        ++waiting->holds;
      }
    };
    if (scope != scopes_.end() && m.all) {
      for (auto& [id, name] : scope->second) wait_for(name);
    } else if (scope != scopes_.end()) {
      for (const abi::Id& id : m.parts) {
        if (const auto name = scope->second.find(id); name != scope->second.end()) wait_for(name->second);
      }
    }
    if (waiting->holds > 0) return;
  }
  node_.data.on(node_.self(), DeleteHint{m.name, m.block});
}

void Holds::forget(std::uint64_t scope) {
  const std::lock_guard hold(mutex_);
  scopes_.erase(scope);
}

}  // namespace tessera::runtime
