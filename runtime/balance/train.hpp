// TrainArrivals: what parts that were sent back to back tell of the link they came over, by the receiver's clock alone.
//
// The sender's clock says when the sender's memory took the parts, not the wire; and the time to the last part counts
// the latency, and the pauses of a connection that starts slowly. The distances between arrivals do not. A receiver
// sees an arrival late, so each has two times: a look that did not find it, and the one that did. A window between two
// arrivals counts when it is so long that this uncertainty is an eighth of it, and is several times the usual distance,
// for jitter makes heaps. Most windows of a link that is always busy agree; a slow start leaves a few long ones with
// few bytes, a stall on the way one slow and one fast one. So the figure is what 0.7 of the bytes, in the order of
// their windows' rates, did not exceed. Where the train was silent for much of the time, for half a round trip and more
// at once, and fast in between, all windows may have pauses of TCP in them, and nobody is sure.
//
// Example: TrainArrivals a; a.arrived(16384, looked, found); ...; a.speed(round_trip).bandwidth
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::runtime {

struct TrainSpeed {
  double bandwidth = 0;  // bytes/s
  double fastest = 0;    // ... no less than this was reached for a while
  double most = 0;       // it may have been so fast, all in all: a receiver that was busy saw it late
  bool sure = false;     // of `bandwidth`
};

class TrainArrivals {
 public:
  // The next part has come; it was not there at `earliest`, and was at `latest`. ns of any clock, never less than
  // before.
  void arrived(std::uint64_t bytes, std::int64_t earliest, std::int64_t latest);
  // `round_trip`: ns, the best that is known.
  TrainSpeed speed(std::int64_t round_trip) const;

 private:
  struct Point {
    double before, first, bytes;  // come before; in the first part that this look found; come until then
    std::int64_t earliest, latest;
    double at() const { return 0.5 * (static_cast<double>(earliest) + static_cast<double>(latest)); }
    double doubt() const { return static_cast<double>(latest - earliest); }
  };
  struct Window {
    double bytes, rate;
  };
  double usual_distance() const;
  std::vector<Window> windows() const;
  double fastest() const;
  bool pauses(std::int64_t round_trip) const;

  std::vector<Point> points_;
};

}  // namespace tessera::runtime
