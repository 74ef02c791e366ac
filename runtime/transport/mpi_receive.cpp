// The MPI transport, inward: rings and envelopes, pieces into place, whole parcels handed out
// in order.
#include <algorithm>

#include "runtime/transport/mpi_transport.hpp"

namespace tessera::runtime::mpi {

void MpiTransport::post_receive(std::size_t slot) {
  check(MPI_Irecv(posted_bytes_[slot].data(), static_cast<int>(wire::kEnvelopeBytes), MPI_BYTE, MPI_ANY_SOURCE,
                  kEnvelopeTag, comm_, &posted_[slot]),
        "MPI_Irecv");
}

// What a ring holds was there before its writer rang: nothing new without that.
bool MpiTransport::take_rings(std::uint32_t rings) {
  if (rings == looked_at_) return false;
  looked_at_ = rings;
  bool any = false;
  for (Peer* peer : neighbours_) {
    if (!peer->ring_in.read([&](std::span<const std::byte> bytes) { read_stream(*peer, bytes); })) continue;
    any = true;
    if (!peer->ring_in.wanted()) continue;
    touch(*peer);
    peer->to_ring = true;
  }
  return any;
}

bool MpiTransport::take_envelopes() {
  bool any = false;
  for (std::size_t i = 0; i < kPosted; ++i) {  // bounded: replies should leave as well
    int done = 0;
    MPI_Status status;
    check(MPI_Test(&posted_[next_posted_], &done, &status), "MPI_Test");
    if (done == 0) break;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Peer& peer = peers_[static_cast<std::size_t>(status.MPI_SOURCE)];
    read_stream(peer, {posted_bytes_[next_posted_].data(), static_cast<std::size_t>(size)});
    post_receive(next_posted_);
    next_posted_ = (next_posted_ + 1) % kPosted;
    any = true;
    if (static_cast<std::size_t>(size) < wire::kEnvelopeBytes)
      break;  // seldom followed by another: that can wait for the next call
  }
  return any;
}

void MpiTransport::read_stream(Peer& peer, std::span<const std::byte> bytes) {
  if (peer.partial.empty()) {
    const std::size_t used = read_records(peer, bytes);
    peer.partial.assign(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
    return;
  }
  peer.partial.insert(peer.partial.end(), bytes.begin(), bytes.end());
  const std::size_t used = read_records(peer, peer.partial);
  peer.partial.erase(peer.partial.begin(), peer.partial.begin() + static_cast<std::ptrdiff_t>(used));
}

std::size_t MpiTransport::read_records(Peer& peer, std::span<const std::byte> bytes) {
  std::size_t used = 0;
  while (true) {
    const std::span<const std::byte> rest = bytes.subspan(used);
    const std::uint64_t size = wire::record_size(rest);
    if (size == 0 || size > rest.size()) return used;
    used += size;
    wire::Incoming in;
    parsed_pieces_.clear();
    wire::read_record(rest.first(size), in, parsed_pieces_);
    if (parsed_pieces_.empty() && peer.incoming.empty()) {
      whole_.push_back({peer.rank, in.control, std::move(in.parcel)});
      continue;
    }
    wire::Incoming& kept = peer.incoming.emplace_back(std::move(in));  // deque: stays in place
    for (const wire::InPiece& piece : parsed_pieces_) {
      for (std::uint64_t at = 0; at < piece.size; at += kLargestMessage) {
        peer.pieces_in.push_back({{piece.data + at, std::min(piece.size - at, kLargestMessage)}, &kept});
        ++kept.missing;
      }
    }
    touch(peer);
  }
}

void MpiTransport::post_pieces(Peer& peer) {
  while (peer.pieces_in_active < kPiecesInFlight && !peer.pieces_in.empty()) {
    const Peer::Piece piece = peer.pieces_in.front();
    peer.pieces_in.pop_front();
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(piece.where.data, static_cast<int>(piece.where.size), MPI_BYTE, peer.rank, kPieceTag, comm_,
                    &request),
          "MPI_Irecv");
    ++peer.pieces_in_active;
    peer.to_ring = true;  // a rendezvous goes on at the sender
    received_.add(request, {&peer, piece.of});
  }
}

bool MpiTransport::poll_received() {
  return received_.poll([this](ReceivedPiece&& piece) {
    Peer& peer = *piece.peer;
    touch(peer);
    peer.to_ring = true;  // the sender may let go of the value
    --peer.pieces_in_active;
    if (--piece.of->missing == 0) hand_out(peer);
  });
}

void MpiTransport::hand_out(Peer& peer) {
  while (!peer.incoming.empty() && peer.incoming.front().missing == 0) {
    wire::Incoming& in = peer.incoming.front();
    in.finish();
    whole_.push_back({peer.rank, in.control, std::move(in.parcel)});
    peer.incoming.pop_front();
  }
}

bool MpiTransport::deliver(const Sink& sink) {
  if (whole_.empty()) return false;
  // By index: a sink that throws leaves the rest for the next call.
  while (next_whole_ < whole_.size()) {
    Whole w = std::move(whole_[next_whole_++]);
    if (w.control == Control::parcel) {
      sink(Rank{w.from}, std::move(w.parcel));
    } else {
      barrier_.received(Rank{w.from}, w.control);
    }
  }
  whole_.clear();
  next_whole_ = 0;
  return true;
}

}  // namespace tessera::runtime::mpi
