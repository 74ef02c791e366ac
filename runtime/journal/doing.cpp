#include "runtime/journal/doing.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "runtime/abi/tessera/durable.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/run.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime::journal {
namespace {

// The same in every run of the program, whatever it was translated to: a loop that repeats in one fragment has those of
// its turns.
Id key_of(const Cf* c) {
  if ((c->block->flags & abi::kRepeats) == 0) return c->id;
  return abi::mix(abi::mix(c->id, c->words()[0]), 0);
}

// Of what a fragment that is no kernel's does: it may come back, with other values of its variables.
Id turn_of(const Cf* c) {
  Id id = c->id;
  unsigned word = 0;
  for (const char* k = c->block->layout; *k != '\0'; word += *k++ == 'n' ? 3 : 1) {
    if (*k == 'i') id = abi::mix(id, c->words()[word]);
  }
  return id;
}

}  // namespace

bool recalls(const Known* known, Page& page, const abi::Cf* c) {
  return known != nullptr && known->recalls(key_of(c), page.near);
}

Doing::Doing(Surroundings& rank, const Known* known, abi::Worker& w, abi::Cf* c)
    : worker_(w),
      cf_(c),
      outer_(std::exchange(w.doing, this)),
      page_(*w.page),
      kernel_(c->block->kind == abi::Kind::atomic),
      given_(page_.given()) {
  const unsigned inputs = (c->flags & kGathered) != 0 ? c->block->input_count : 0;
  for (unsigned k = 0; k < inputs; ++k) {
    abi::Value* v = abi::input(c, *c->block, k);
    if (v == nullptr || v->type == abi::Type::memo) continue;
    kernel_ ? count_read(v) : reads_unknown(v);
  }
  if (kernel_) {
    key_ = key_of(c);
    recalled_ = known != nullptr && known->recalls(key_, page_.near);
    if (recalled_) {
      c->flags |= abi::kRecalled;
      return;
    }
  }
  for (unsigned k = 0; k < inputs && known != nullptr; ++k) {
    const abi::Value* v = abi::input(c, *c->block, k);
    if (v == nullptr || v->type != abi::Type::memo) continue;
    w.doing = outer_;
    const char* const text = "tessera: error: an input is needed that the journal has no value of: a bug in Tessera";
    rank.fail(text, kExitInternal);
    throw std::logic_error(text);
  }
  names_.emplace(c);
  if (kernel_) return;
  for (unsigned k = 0; k < inputs; ++k) {
    if (abi::Value* v = abi::input(c, *c->block, k)) page_.keep((*names_)[k].id, v);
  }
}

Doing::~Doing() {
  worker_.doing = outer_;
  cf_->flags &= static_cast<std::uint16_t>(~abi::kRecalled);
  page_.forget(given_);
}

void Doing::output(const Id& id, abi::Value* v, std::int64_t uses) {
  if (!kernel_ || recalled_) return;
  page_.give({id, uses}, v);
}

void Doing::took_back(const Id& id) { page_.took_back({id, abi::mix(turn_of(cf_), taken_back_++)}); }

void Doing::done() {
  if (!kernel_ || recalled_) return;
  page_.done(key_, *names_, given_);
  if (durable_) page_.write_now();
}

}  // namespace tessera::runtime::journal

extern "C" void tessera_durable() {
  const tessera::abi::Worker* const w = tessera::runtime::thread_worker;
  if (w == nullptr) throw std::logic_error("tessera::durable() was called in a thread that the kernel has started");
  if (w->doing != nullptr) w->doing->durable();
}
