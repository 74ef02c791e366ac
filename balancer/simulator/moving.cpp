// Messages and shipments between ranks.
#include <algorithm>

#include "balancer/links.hpp"
#include "balancer/simulator/simulation.hpp"

namespace tessera::balancer::simulator {

std::uint32_t Simulation::new_parcel(Rank from, Parcel::Kind kind) {
  if (free_parcels_.empty()) {
    free_parcels_.push_back(static_cast<std::uint32_t>(parcels_.size()));
    parcels_.emplace_back();
  }
  const std::uint32_t p = free_parcels_.back();
  free_parcels_.pop_back();
  parcels_[p].from = from;
  parcels_[p].kind = kind;
  return p;
}

void Simulation::post(std::uint32_t parcel, Rank to, Time at) {
  const Parcel& p = parcels_[parcel];
  plan(network_.depart(at, p.from, to, p.bytes), Kind::incoming, to, parcel);
}

void Simulation::deliver(Node& n, std::uint32_t parcel) {
  Parcel& p = parcels_[parcel];
  if (options_.record != nullptr) {
    static constexpr const char* kNames[] = {"PolicyMessage", "Ship", "Give"};
    options_.record->messages.push_back(
        {now_, p.from, n.rank, kNames[static_cast<int>(p.kind)], p.bytes, static_cast<std::int64_t>(p.items.size())});
    // What a value's fragment is called is the program's: its readers find it by that (cli/simulate/record.cpp).
    if (p.kind == Parcel::Kind::note && !p.note.asks) options_.record->came.push_back({now_, n.rank, p.note.id});
  }
  switch (p.kind) {
    case Parcel::Kind::message:
      ++out_.received[static_cast<std::size_t>(index(n.rank))];
      free_parcels_.push_back(parcel);
      return tell(n, Received{p.from, std::move(p.message)});
    case Parcel::Kind::shipment:
      return tell(n, Told{Told::Kind::shipment, {}, parcel});
    case Parcel::Kind::note: {
      const Note note = p.note;
      free_parcels_.push_back(parcel);
      return program_.arrived(n.rank, note, *this);
    }
  }
}

void Simulation::send(Rank from, Rank to, std::int64_t bytes, const Note& note) {
  out_.bytes_fetched += bytes;
  if (options_.record != nullptr && note.asks) options_.record->asked.push_back({now_, from, note.id});
  const std::uint32_t p = new_parcel(from, Parcel::Kind::note);
  parcels_[p].note = note;
  parcels_[p].bytes = bytes;
  post(p, to, now_);
}

Time Simulation::ship_time(const Node& n, const std::vector<GroupCount>& fragments) const {
  std::int64_t count = 0;
  for (const GroupCount& f : fragments) count += program_.groups()[index(f.group)].bulk ? 1 : f.count;
  return count * processing(n).ship;
}

Shipped Simulation::ship(Node& n, const Ship& s) {
  Shipped shipped{s.ticket, s.to, {}, 0};
  if (index(s.to) < 0 || index(s.to) >= options_.ranks || !node(s.to).executes) {
    fault("a shipment to rank " + std::to_string(index(s.to)));
    return shipped;
  }
  const bool left = !n.knows_left.empty() && n.knows_left[static_cast<std::size_t>(index(s.to))];
  std::vector<Item> items;
  std::int64_t outputs = 0;
  for (const GroupCount& want : s.fragments) {
    if (want.count <= 0) fault("a shipment of " + std::to_string(want.count) + " fragments");
    if (s.to == n.rank || left || want.count <= 0) continue;
    const std::size_t group = index(want.group);
    if (has_data_ && group < n.groups.size() && want.count < n.items.count(group)) {
      program_.nearest_first(n.items.first(group), want.count, n.rank, s.to);
    }
    const std::int64_t went = n.items.take(index(want.group), want.count, program_.ships(), items);
    if (went == 0) continue;
    shipped.fragments.push_back({want.group, went});
    const GroupState& g = n.groups[index(want.group)];
    if (g.outputs > 0) outputs += went * (g.output_bytes / g.outputs);
  }
  if (!items.empty()) {
    ++out_.shipments;
    out_.moved += static_cast<std::int64_t>(items.size());
    host_delay_ += ship_time(n, shipped.fragments);
    ship_items(n, s.to, std::move(items), shipped.fragments, s.ticket, true, shipped.bytes);
    out_.bytes_moved += shipped.bytes;
  }
  shipped.bytes += outputs;
  changed(n);
  return shipped;
}

void Simulation::ship_items(Node& n, Rank to, std::vector<Item> items, std::vector<GroupCount> fragments,
                            std::uint64_t ticket, bool by_policy, std::int64_t& bytes) {
  const std::uint32_t parcel = new_parcel(n.rank, Parcel::Kind::shipment);
  for (Item& item : items) {
    if (has_data_) bytes += program_.board(item, n.rank, to, *this);
    item.bytes = 0;
    if (by_policy && !homeward_) program_.resettle(item, to);
    if (by_policy && item.moves < UINT16_MAX) ++item.moves;
    out_.most_moves = std::max<std::int32_t>(out_.most_moves, item.moves);
  }
  Parcel& p = parcels_[parcel];
  p.bytes = bytes + kShipmentBytes + kFragmentBytes * static_cast<std::int64_t>(items.size());
  p.items = std::move(items);
  p.fragments = std::move(fragments);
  p.ticket = ticket;
  p.by_policy = by_policy;
  post(parcel, to, now_ + host_delay_);
}

void Simulation::unload(Node& n, std::uint32_t parcel) {
  if (options_.record != nullptr) {
    for (const Item& item : parcels_[parcel].items) {
      options_.record->moves.push_back({item.state, now_, parcels_[parcel].from, n.rank, parcels_[parcel].by_policy});
    }
  }
  // Parcels may move in memory while the policy acts.
  const std::vector<Item> items = std::move(parcels_[parcel].items);
  const Rank from = parcels_[parcel].from;
  const bool goes_home = parcels_[parcel].by_policy && homeward_;
  if (parcels_[parcel].by_policy) {
    Arrived arrived{parcels_[parcel].from, std::move(parcels_[parcel].fragments), parcels_[parcel].ticket};
    free_parcels_.push_back(parcel);
    host_delay_ += ship_time(n, arrived.fragments);
    changed(n);
    n.host->tell(std::move(arrived));
  } else {
    free_parcels_.push_back(parcel);
  }
  for (const Item& item : items) {
    const Rank home = !goes_home ? n.rank : index(program_.home(item)) < 0 ? from : program_.home(item);
    if (home != n.rank && node(home).here) {
      std::int64_t bytes = 0;
      ship_items(n, home, {item}, {}, 0, false, bytes);
    } else if (program_.landed(n.rank, item, *this)) {
      queue(n, item);
    } else {
      --created_;  // it becomes ready again
    }
  }
}

}  // namespace tessera::balancer::simulator
