// How the file is laid out hangs on the version of Charm++ and on how it was built, and it does not say so. Each
// layout that there has been is tried: the right one ends where the file ends, and has a 0 or a 1 for each bool.
#include "balancer/simulator/lbdump_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "balancer/simulator/cluster.hpp"
#include "balancer/simulator/loads.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::array<unsigned char, 4> kMagic = {0x10, 0xea, 0xbd, 0xf9};
constexpr std::size_t kHeadBytes = 16;  // how the machine that wrote it has its numbers
constexpr int kNewestVersion = 3;

struct Layout {
  bool lists = true;       // each list after its length in 8 bytes (7.0); or first all four lengths in 4 bytes each
  bool pointer = false;    // before an object's collection the size of a pointer, and one (before 6.6)
  int words = 2;           // of 4 bytes in an object's number: 2, or 4 (before 6.8)
  bool cpu_times = false;  // beside wall times (CMK_LB_CPUTIMER)
  bool user_data = false;  // a word whether there is some (CMK_LB_USER_DATA)
  bool size = true;        // of the object's data, encoded in 2 bytes (from 6.8)
  bool wide = false;       // the receivers of one message to many after their number in 8 bytes (after 7.0)
};
std::vector<Layout> layouts() {
  std::vector<Layout> all;
  for (unsigned bits = 0; bits < 128; ++bits) {
    const auto bit = [&](unsigned n) { return (bits >> n & 1) != 0; };
    all.push_back({!bit(5), bit(4), bit(3) ? 4 : 2, bit(0), bit(1), !bit(2), bit(6)});
  }
  return all;
}

struct Fault {
  std::size_t at;
  std::string what;
};

// The bytes of a file, from a place on; what is not there, or can't be, is a Fault.
class Bytes {
 public:
  explicit Bytes(const std::vector<char>& all) : all_(all), big_(all[at_number_format()] == 0) {}

  std::size_t at() const { return at_; }
  bool over() const { return at_ == all_.size(); }
  [[noreturn]] void wrong(std::size_t from, std::string what) const { throw Fault{from, std::move(what)}; }

  std::int32_t word() { return std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(unsigned_number(4))); }
  std::uint64_t long_word() { return unsigned_number(8); }
  double real() { return std::bit_cast<double>(unsigned_number(8)); }
  bool truth() {
    const std::size_t from = at_;
    const std::uint64_t b = unsigned_number(1);
    if (b > 1) wrong(from, "a byte that is neither true nor false");
    return b == 1;
  }
  std::uint64_t byte() { return unsigned_number(1); }
  void skip(std::size_t n) {
    if (n > all_.size() - at_) wrong(all_.size(), "the end of the file where more should come");
    at_ += n;
  }
  double seconds() {
    const std::size_t from = at_;
    const double s = real();
    if (!(s > -1e9 && s < 1e9)) wrong(from, "a time that is none");
    return s;
  }
  // How many of something come, each of so many bytes at least.
  std::size_t count(bool in_8_bytes, std::size_t least) {
    const std::size_t from = at_;
    const std::uint64_t n = in_8_bytes ? long_word() : static_cast<std::uint64_t>(std::int64_t{word()});
    if (n > (all_.size() - at_) / least) wrong(from, "more entries than the file has room for");
    return n;
  }
  std::int32_t processor(std::size_t of) {
    const std::size_t from = at_;
    const std::int32_t p = word();
    if (p < 0 || static_cast<std::size_t>(p) >= of)
      wrong(from, "processor " + std::to_string(p) + " of " + std::to_string(of));
    return p;
  }

 private:
  static std::size_t at_number_format() { return kHeadBytes - 6; }
  std::uint64_t unsigned_number(std::size_t bytes) {
    const std::size_t from = at_;
    skip(bytes);
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto b = static_cast<unsigned char>(all_[from + (big_ ? i : bytes - 1 - i)]);
      n = n << 8 | b;
    }
    return n;
  }

  const std::vector<char>& all_;
  std::size_t at_ = kHeadBytes;
  bool big_;
};

// One file, read by one layout.
class Step {
 public:
  Step(const std::vector<char>& all, const Layout& layout, LoadSums& sums) : in_(all), layout_(layout), sums_(sums) {}

  LoadPhase read() {
    const std::size_t from = in_.at();
    version_ = in_.word();
    if (version_ < 0 || version_ > kNewestVersion) in_.wrong(from, "version " + std::to_string(version_));
    in_.word();  // processors that had told what they had
    if (layout_.lists) {
      in_.word();  // objects that may be moved
      processors(in_.count(true, kLeastProcessor));
      objects(in_.count(true, kLeastObject));
      if (in_.count(true, 4) != names_.size()) in_.wrong(in_.at() - 8, "places of another number of objects");
      places();
      messages(in_.count(true, kLeastMessage));
    } else {
      const std::size_t n = in_.count(false, kLeastProcessor), objs = in_.count(false, kLeastObject);
      in_.word();
      const std::size_t sent = in_.count(false, kLeastMessage);
      processors(n);
      objects(objs);
      places();
      in_.skip(4 * names_.size());  // where they were to go
      messages(sent);
    }
    if (!in_.over()) in_.wrong(in_.at(), "more than belongs to it");
    return std::move(phase_);
  }

 private:
  static constexpr std::size_t kLeastProcessor = 8 * 3 + 4 + 1 + 4, kLeastObject = 4 * 3 + 8 + 8 + 2,
                               kLeastMessage = 25;

  // What a processor did beside the objects is a task that stays there.
  void processors(std::size_t n) {
    if (n == 0 || n > static_cast<std::size_t>(kMostRanks)) in_.wrong(in_.at(), std::to_string(n) + " processors");
    processors_ = n;
    for (std::size_t p = 0; p < n; ++p) {
      in_.seconds();
      in_.seconds();
      const double beside = in_.seconds();
      if (layout_.cpu_times) in_.skip(16);
      in_.word();  // its speed
      in_.truth();
      in_.word();
      if (version_ >= 2) in_.word();
      if (beside > 0) task("beside " + std::to_string(p), beside, static_cast<std::int32_t>(p), false);
    }
  }
  void task(const std::string& name, double seconds, std::int32_t rank, bool moves) {
    if (!sums_.take_seconds(seconds)) in_.wrong(in_.at(), "a task of " + std::to_string(seconds) + " seconds");
    phase_.tasks[name] = {std::llround(seconds * 1e9), rank, moves};
  }
  // Its collection and its number in that; `entry`: as it stands in a list of objects.
  std::string object(bool entry) {
    if (entry && layout_.pointer) {
      const std::size_t from = in_.at();
      const std::int32_t bytes = in_.word();
      if (bytes != 4 && bytes != 8) in_.wrong(from, "a pointer of " + std::to_string(bytes) + " bytes");
      in_.skip(static_cast<std::size_t>(bytes));
    }
    std::string name = std::to_string(in_.word());
    if (entry) in_.word();
    for (int w = 0; w < layout_.words; w += 2) name += "." + std::to_string(in_.long_word());
    if (entry) in_.word();
    return name;
  }
  void objects(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = in_.at();
      names_.push_back(object(true));
      seconds_.push_back(in_.seconds());
      if (seconds_.back() < 0) in_.wrong(from, "an object that took less than no time");
      if (layout_.cpu_times) in_.skip(8);
      moves_.push_back(in_.truth());
      in_.truth();  // may arrive at any time
      if (layout_.user_data && in_.word() != 0) in_.wrong(in_.at() - 4, "data of users, whose size it does not tell");
      if (layout_.size) in_.skip(2);
    }
  }
  void places() {
    for (std::size_t i = 0; i < names_.size(); ++i) task(names_[i], seconds_[i], in_.processor(processors_), moves_[i]);
  }
  void messages(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t processor = in_.word();  // -1: an object sent it
      const std::string from = object(false);
      std::vector<std::string> to;
      const std::size_t kind_at = in_.at();
      switch (in_.byte()) {
        case 1:
          in_.word();
          break;  // to a processor
        case 2:
          to.push_back(object(false));
          in_.word();
          break;
        case 3:
          for (std::size_t k = in_.count(layout_.wide, 12); k > 0; --k) to.push_back(object(false));
          break;
        default:
          in_.wrong(kind_at, "a message to neither processor nor object");
      }
      in_.word();
      const std::size_t bytes_at = in_.at();
      const std::int32_t bytes = in_.word();
      if (processor != -1) continue;
      for (const std::string& t : to) {
        if (!sums_.take_bytes(bytes)) in_.wrong(bytes_at, "a message of " + std::to_string(bytes) + " bytes");
        if (t != from) phase_.edges.push_back({from, t, bytes});
      }
    }
  }

  Bytes in_;
  const Layout layout_;
  LoadSums& sums_;
  int version_ = 0;
  std::size_t processors_ = 0;
  std::vector<std::string> names_;
  std::vector<double> seconds_;
  std::vector<bool> moves_;
  LoadPhase phase_;
};

std::optional<std::vector<char>> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::vector<char>(std::istreambuf_iterator<char>(in), {});
}

// By the layout of the step before, if it fits; else by the first that does. Tells what is wrong by the one that came
// furthest.
LoadPhase read_step(const std::string& path, std::optional<Layout>& known, LoadSums& sums) {
  const std::optional<std::vector<char>> all = bytes_of(path);
  if (!all) throw TraceError(path + ": can't be read");
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>((*all)[i]); };
  if (all->size() < kHeadBytes || !std::equal(kMagic.begin(), kMagic.end(), all->begin(), [](unsigned char a, char b) {
        return a == static_cast<unsigned char>(b);
      })) {
    throw TraceError(path + ": is no LB dump of Charm++ (its first 4 bytes)");
  }
  // Of version 0 (before 6.8) there are sizes of four integers, of version 1 of five; at the end the sizes of bool and
  // pointer.
  const std::size_t format = at(4) == 0 ? 9 : 10;
  if (at(4) > 1 || at(7) != 4 || at(format + 2) != 8 || at(format) > 1 || at(format + 4) != 1) {
    throw TraceError(path + ": byte 4: is an LB dump of a machine whose numbers are not known here");
  }
  std::vector<char> even = *all;
  even[kHeadBytes - 6] = static_cast<char>(at(format));
  std::vector<Layout> tried = layouts();
  if (known) tried.insert(tried.begin(), *known);
  Fault furthest{0, ""};
  for (const Layout& layout : tried) {
    LoadSums mine = sums;
    try {
      LoadPhase phase = Step(even, layout, mine).read();
      known = layout;
      sums = mine;
      return phase;
    } catch (const Fault& f) {
      if (f.at >= furthest.at) furthest = f;
    }
  }
  throw TraceError(path + ": byte " + std::to_string(furthest.at) + ": " + furthest.what +
                   "; the file is broken, or of a Charm++ that writes it in a way not known here");
}

}  // namespace

bool is_lbdump(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, kMagic.size()> first{};
  in.read(first.data(), first.size());
  return in && std::memcmp(first.data(), kMagic.data(), kMagic.size()) == 0;
}

Trace read_lbdump(const std::string& path) {
  const std::filesystem::path name(path);
  std::string ending = name.extension().string();  // `.STEP`
  std::int64_t step = 0;
  const char* const digits = ending.data() + std::min<std::size_t>(1, ending.size());
  const auto [end, error] = std::from_chars(digits, ending.data() + ending.size(), step);
  const bool numbered = error == std::errc{} && end == ending.data() + ending.size() && step >= 0;
  std::map<std::int64_t, LoadPhase> phases;
  std::optional<Layout> layout;
  LoadSums sums;
  std::string file = path;
  do {
    phases[step] = read_step(file, layout, sums);
    ++step;
    file = path.substr(0, path.size() - ending.size()) + "." + std::to_string(step);
  } while (numbered && std::filesystem::is_regular_file(file) && is_lbdump(file));
  Trace trace;
  trace.program = name.stem().string();
  trace.work = workload_of(phases, "lbdump");
  return trace;
}

}  // namespace tessera::balancer::simulator
