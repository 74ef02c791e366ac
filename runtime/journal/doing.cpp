#include "runtime/journal/doing.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/abi/tessera/durable.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/journal/brief.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/run.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime::journal {
namespace {

// Of what a fragment that is no kernel's does: it may come back, with other values of its variables.
Id turn_of(const Cf* c) {
  Id id = c->id;
  unsigned word = 0;
  for (const char* k = c->block->layout; *k != '\0'; word += *k++ == 'n' ? 3 : 1) {
    if (*k == 'i') id = abi::mix(id, c->words()[word]);
  }
  return id;
}

// Turns of one that repeats, and of which nobody needs anything: but for the last one, which ends it.
void skip_turns(const Known& known, Known::Near& near, Cf* c) {
  const std::int64_t last = abi::frame_int(c, 1);
  const std::int64_t next = known.skips().next(c->id, c->block->group, abi::frame_int(c, 0), near.skips);
  abi::frame_int(c, 0) = std::min(next, last);
}

}  // namespace

bool skips(const Journal& journal, Page& page, Cf* c) {
  const Known* const known = journal.known();
  const bool evaluates = c->block->kind == abi::Kind::eval;
  if (known == nullptr || journal.flows() || (c->block->kind != abi::Kind::atomic && !evaluates)) return false;
  if (repeats(c)) {
    recalls(journal, &page, c);
    return false;
  }
  const Recall r = known->recall(c->id, c->block->group, page.near);
  if (r == Recall::gives && !evaluates) c->flags |= abi::kRecalled;
  return r == Recall::skipped;
}

bool recalls(const Journal& journal, Page* page, Cf* c) {
  const Known* const known = journal.known();
  if (known == nullptr || journal.flows() || c->block->kind != abi::Kind::atomic) return false;
  Known::Near somewhere;
  Known::Near& near = page == nullptr ? somewhere : page->near;
  if (repeats(c)) skip_turns(*known, near, c);
  if (known->recall(key_of(c), c->block->group, near) == Recall::no) return false;
  c->flags |= abi::kRecalled;
  return true;
}

std::int64_t next_iteration(const Journal& journal, Page& page, const Cf* loop, std::int64_t i, std::int64_t last) {
  const Known* const known = journal.known();
  const std::uint32_t* const groups = loop->block->body_groups;
  if (known == nullptr || journal.flows() || (loop->block->flags & abi::kPlain) == 0 || *groups == ~0u) return i;
  // Until all of them agree.
  for (std::int64_t from = i - 1; from != i && i <= last;) {
    from = i;
    std::int64_t least = INT64_MAX;
    for (const std::uint32_t* g = groups; *g != ~0u; ++g)
      least = std::min(least, known->skips().next(loop->id, *g, i, page.near.skips));
    i = least;
  }
  return i;
}

bool would_be_over(Page& page, const Cf* c) {
  const Journal& journal = page.journal();
  return journal.flows() && journal.known()->recall(key_of(c), c->block->group, page.near) != Recall::no;
}

Doing::Doing(Surroundings& rank, Worker& w, Cf* c)
    : worker_(w),
      cf_(c),
      outer_(std::exchange(w.doing, this)),
      page_(*w.page),
      kernel_(c->block->kind == abi::Kind::atomic),
      recalled_(abi::recalled(c)),
      group_(c->block->group),
      given_(page_.given()) {
  if (recalled_) return;
  const unsigned inputs = (c->flags & kGathered) != 0 ? c->block->input_count : 0;
  if (kernel_ && is_over(page_, c)) {
    c->flags |= abi::kRecalled;
    recalled_ = true;
    return;
  }
  for (unsigned k = 0; k < inputs && page_.journal().flows(); ++k) {
    const abi::Value* v = abi::input(c, *c->block, k);
    if (v == nullptr || v->type != abi::Type::memo) continue;
    w.doing = outer_;
    const char* const text = "tessera: error: an input is needed that the journal has no value of: a bug in Tessera";
    rank.fail(text, kExitInternal);
    throw std::logic_error(text);
  }
  if (kernel_) {
    key_ = key_of(c);
    if (repeats(c)) page_.loop(c->id);
    if (all_is_written(w, key_, group_)) names_.emplace(c);
    return;
  }
  // What decides about the program is read again when the run goes on.
  for (unsigned k = 0; k < inputs; ++k) {
    if (abi::Value* v = abi::input(c, *c->block, k)) mark_wanted(v);
  }
}

Doing::~Doing() {
  if (simulation != nullptr) page_.journal().printed_by_now();
  worker_.doing = outer_;
  cf_->flags &= static_cast<std::uint16_t>(~abi::kRecalled);
  if (page_.given() > given_) page_.forget(given_);
}

void Doing::output(const Id& id, abi::Value* v, std::int64_t uses) {
  if (kernel_ && !recalled_) page_.give({id, uses}, v);
}

void Doing::took_back(const Id& id) { page_.took_back({id, abi::mix(turn_of(cf_), taken_back_++)}); }

void Doing::durable() {
  durable_ = true;
  if (kernel_ && !names_) names_.emplace(cf_);
}

void Doing::done() {
  if (!kernel_ || recalled_) return;
  if (simulation != nullptr) page_.journal().printed_by_now();
  names_ ? page_.done(key_, *names_, given_) : page_.ran(key_, group_, given_);
  if (durable_) page_.write_now();
}

}  // namespace tessera::runtime::journal

extern "C" void tessera_durable() {
  tessera::abi::Worker* const w = tessera::runtime::thread_worker;
  if (w == nullptr) throw std::logic_error("tessera::durable() was called in a thread that the kernel has started");
  if (w->doing != nullptr) return w->doing->durable();
  if (w->page == nullptr) return;
  if (w->page->noting) tessera::runtime::journal::Brief::durable(*w);
}
