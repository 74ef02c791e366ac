// The MPI transport, outward: parcels into envelopes and pieces, and those into MPI's hands.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/transport/mpi_transport.hpp"

namespace tessera::runtime::mpi {
namespace {
thread_local bool holds_bell = false, sent_meanwhile = false;
}

bool MpiTransport::hold_bell(bool hold) {
  holds_bell = hold;
  return std::exchange(sent_meanwhile, false);
}

void MpiTransport::send(Rank to, Parcel parcel) {
  if (index(to) < 0 || index(to) >= size_) {
    throw std::out_of_range("transport: parcel to rank " + std::to_string(index(to)) + " of " + std::to_string(size_));
  }
  append(Outgoing{to, Control::parcel, std::move(parcel)});
}

void MpiTransport::append(Outgoing out) {
  {
    const std::lock_guard lock(outbox_mutex_);
    outbox_.push_back(std::move(out));
    outbox_full_.store(true, std::memory_order_seq_cst);
  }
  // A sleeper has to get up and push it out. The driver itself looks before it sleeps; who follows it calls progress()
  // first, and one of the two sees the other.
  if (holds_bell) {
    sent_meanwhile = true;
  } else if (driver_.load(std::memory_order_seq_cst) != std::this_thread::get_id()) {
    bell_->ring();
  }
}

bool MpiTransport::send_outbox() {
  if (!outbox_full_.load(std::memory_order_seq_cst)) return false;
  {
    const std::lock_guard lock(outbox_mutex_);
    leaving_.swap(outbox_);
    outbox_full_.store(false, std::memory_order_relaxed);
  }
  for (Outgoing& out : leaving_) {
    Peer& peer = peers_[static_cast<std::size_t>(index(out.to))];
    if (peer.rank == rank_) {
      whole_.push_back({rank_, out.control, std::move(out.parcel)});
    } else if (full(peer) || !peer.backlog.empty()) {
      peer.backlog.push_back(std::move(out));
      ++backlogs_;
    } else {
      pack(peer, out);
    }
  }
  leaving_.clear();
  finish_touched();
  return true;
}

void MpiTransport::pack(Peer& peer, Outgoing& out) {
  touch(peer);
  if (peer.ring_out) peer.to_ring = true;
  wire::RecordWriter record(out, peer.ring_out ? in_ring_ : wire::Limits{});
  record.write([&](const void* data, std::size_t size) { put(peer, data, size); });
  record.pieces([&](wire::OutPiece&& piece) { peer.pieces_out.push_back(std::move(piece)); });
}

bool MpiTransport::full(const Peer& peer) const {
  return peer.ring_out ? !peer.overflow.empty() : peer.envelopes_out >= kEnvelopesInFlight;
}

void MpiTransport::put(Peer& peer, const void* data, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  if (peer.ring_out) {
    const std::size_t n = peer.overflow.empty() ? peer.ring_out.write(from, size) : 0;
    peer.overflow.insert(peer.overflow.end(), from + n, from + size);
    return;
  }
  while (size > 0) {
    if (!peer.open) {
      if (free_envelopes_.empty()) {
        peer.open = std::make_unique<Envelope>();
      } else {
        peer.open = std::move(free_envelopes_.back());
        free_envelopes_.pop_back();
      }
      peer.open->used = 0;
    }
    Envelope& envelope = *peer.open;
    const std::size_t part = std::min(size, envelope.bytes.size() - envelope.used);
    std::memcpy(envelope.bytes.data() + envelope.used, from, part);
    envelope.used += part;
    from += part;
    size -= part;
    if (envelope.used == envelope.bytes.size()) post_envelope(peer);
  }
}

void MpiTransport::post_envelope(Peer& peer) {
  if (!peer.open) return;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(peer.open->bytes.data(), static_cast<int>(peer.open->used), MPI_BYTE, peer.rank, kEnvelopeTag, comm_,
                  &request),
        "MPI_Isend");
  peer.to_ring = true;
  if (peer.bell == nullptr && !std::exchange(peer.met, true)) connected_ = true;
  int done = 0;
  check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) {  // the usual case: eager
    free_envelopes_.push_back(std::move(peer.open));
    return;
  }
  ++peer.envelopes_out;
  sent_.add(request, {&peer, std::move(peer.open), {}});
}

void MpiTransport::start_pieces(Peer& peer) {
  while (peer.pieces_out_active < kPiecesInFlight && !peer.pieces_out.empty()) {
    wire::OutPiece& piece = peer.pieces_out.front();
    wire::OutPiece part = piece;
    part.size = std::min(piece.size, kLargestMessage);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(part.data, static_cast<int>(part.size), MPI_BYTE, peer.rank, kPieceTag, comm_, &request),
          "MPI_Isend");
    piece.data += part.size;
    piece.size -= part.size;
    if (piece.size == 0) peer.pieces_out.pop_front();
    ++peer.pieces_out_active;
    peer.to_ring = true;
    sent_.add(request, {&peer, nullptr, std::move(part)});
  }
}

void MpiTransport::touch(Peer& peer) {
  if (peer.listed) return;
  peer.listed = true;
  touched_.push_back(&peer);
}

// Sends what touched peers still have open, and rings, once for everything.
void MpiTransport::finish_touched() {
  for (Peer* peer : touched_) {
    if (!peer->overflow.empty()) {
      const std::size_t n = peer->ring_out.write(peer->overflow.data(), peer->overflow.size());
      peer->overflow.erase(peer->overflow.begin(), peer->overflow.begin() + static_cast<std::ptrdiff_t>(n));
      peer->to_ring = peer->to_ring || n != 0;
    }
    while (!peer->backlog.empty() && !full(*peer)) {
      pack(*peer, peer->backlog.front());
      peer->backlog.pop_front();
      --backlogs_;
    }
    if (peer->ring_out) {
      peer->ring_out.publish(full(*peer));
      if (full(*peer)) stalled_.push_back(peer);
    }
    post_envelope(*peer);
    start_pieces(*peer);
    post_pieces(*peer);
    if (std::exchange(peer->to_ring, false) && peer->bell != nullptr) peer->bell->ring();
    peer->listed = false;
  }
  touched_.clear();
}

bool MpiTransport::poll_sent() {
  return sent_.poll([this](SentMessage&& message) {
    Peer& peer = *message.peer;
    touch(peer);
    peer.to_ring = true;  // what could not be put in the peer's hands at once now was
    if (message.envelope) {
      --peer.envelopes_out;
      free_envelopes_.push_back(std::move(message.envelope));
    } else {
      --peer.pieces_out_active;
    }
  });
}

}  // namespace tessera::runtime::mpi
