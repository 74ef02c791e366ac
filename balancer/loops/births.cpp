#include "balancer/loops/births.hpp"

#include <algorithm>

namespace tessera::balancer {

Births::Births(const std::vector<GroupInfo>& groups) : entries_(groups.size()) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    entries_[g].range = groups[g].range;
    if (groups[g].range) entries_[g].body = groups[g].body;
  }
  for (const GroupInfo& info : groups) {
    for (const Group b : info.body) at(b);
  }
}

Births::Entry& Births::at(Group g) {
  if (index(g) >= entries_.size()) entries_.resize(index(g) + 1);
  return entries_[index(g)];
}

void Births::told(const LoadChanged& e) {
  for (const GroupLoad& g : e.ready) {
    at(g.group).told = g.ready;
    at(g.group).bytes = g.bytes;
  }
  std::vector<std::int64_t> finished(entries_.size());
  for (const GroupDone& d : e.finished) {
    at(d.group);
    finished.resize(entries_.size());
    finished[index(d.group)] += d.count;
  }
  // Ranges first: what their iterations make is told in the same event.
  for (const bool ranges : {true, false}) {
    for (std::size_t g = 0; g < finished.size(); ++g) {
      if (entries_[g].range == ranges) update(entries_[g], finished[g]);
    }
  }
}

void Births::update(Entry& e, std::int64_t finished) {
  const std::int64_t started = std::max({std::int64_t{0}, finished - e.running, e.ready - e.told});
  e.born = e.told - e.ready + started;
  e.running += started - finished;
  e.ready = e.told;
  const std::int64_t own = std::min(started, e.kept);
  e.kept -= own;
  for (const Group b : e.body) at(b).owed += own;
  const std::int64_t made = std::min(e.born, e.owed);
  e.owed -= made;
  e.born -= made;
  e.kept = std::min(e.kept + made, e.ready);
}

void Births::arrived(const std::vector<GroupCount>& fragments) {
  for (const GroupCount& f : fragments) {
    Entry& e = at(f.group);
    e.ready += f.count;
    e.kept += f.count;
  }
}

void Births::leaving(const std::vector<GroupCount>& fragments) {
  for (const GroupCount& f : fragments) at(f.group).leaving += f.count;
}

void Births::shipped(const std::vector<GroupCount>& asked, const std::vector<GroupCount>& moved) {
  for (const GroupCount& want : asked) {
    Entry& e = at(want.group);
    e.leaving = std::max<std::int64_t>(0, e.leaving - want.count);
    std::int64_t went = 0;
    for (const GroupCount& f : moved) went += f.group == want.group ? f.count : 0;
    e.ready = std::max<std::int64_t>(0, e.ready - went);
    if (went < want.count) {  // the rest has started meanwhile
      e.running += e.ready;
      e.ready = 0;
    }
    e.kept = std::min(e.kept, e.ready);
  }
}

void Births::keep(Group g, std::int64_t n) { at(g).kept = std::min(at(g).kept + n, at(g).ready); }

std::int64_t Births::total() const {
  std::int64_t sum = 0;
  for (const Entry& e : entries_) sum += e.ready;
  return sum;
}

std::int64_t Births::here(std::size_t g) const {
  return std::max<std::int64_t>(0, entries_[g].ready - entries_[g].leaving);
}

std::int64_t Births::fresh(std::size_t g) const {
  const Entry& e = entries_[g];
  return std::max<std::int64_t>(0, e.ready - e.kept - e.leaving);
}

std::int64_t Births::bytes_each(std::size_t g) const {
  const Entry& e = entries_[g];
  return e.told > 0 ? e.bytes / e.told : 0;
}

}  // namespace tessera::balancer
