// Cluster files: TOML, read with toml++. Every message says file and line, what stands there and
// what may.
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "balancer/settings.hpp"
#include "balancer/simulator/cluster_model.hpp"
#include "balancer/units.hpp"

namespace tessera::balancer::simulator {
namespace {

// Reader takes the keys of one table, each at most once, and complains of those nobody took.
class Reader {
 public:
  Reader(const std::string& path, const std::string& name, const toml::table& table)
      : path_(path), name_(name), table_(table) {}

  const std::string& path() const { return path_; }

  [[noreturn]] void wrong(const toml::node& at, const std::string& key, const std::string& allowed) const {
    throw ClusterError(place(at.source()) + shown(key) + " must be " + allowed);
  }

  double number(const std::string& key, double otherwise, double min, double max, const std::string& allowed) {
    const toml::node* n = take(key);
    if (n == nullptr) return otherwise;
    const auto value = n->value<double>();
    if (!n->is_number() || !(*value >= min && *value <= max)) wrong(*n, key, allowed);
    return *value;
  }
  std::int32_t integer(const std::string& key, std::int32_t otherwise, std::int32_t min, std::int32_t max) {
    const toml::node* n = take(key);
    if (n == nullptr) return otherwise;
    const auto value = n->value_exact<std::int64_t>();
    if (!value || *value < min || *value > max) {
      wrong(*n, key, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    }
    return static_cast<std::int32_t>(*value);
  }
  // A text with a unit; plain numbers would leave people guessing.
  Time duration(const std::string& key, Time otherwise, Time least = 0) {
    const toml::node* n = take(key);
    if (n == nullptr) return otherwise;
    const auto text = n->value_exact<std::string>();
    const auto value = parse_duration(text ? *text : n->value_exact<std::int64_t>() == 0 ? "0" : "");
    if (!value || *value < least) {
      wrong(*n, key,
            least > 0 ? "a time above 0 with its unit, as \"50 us\""
                      : "a time with its unit, as \"50 us\" or \"1.5 s\", or \"0\"");
    }
    return *value;
  }
  double bandwidth(const std::string& key, double otherwise) {
    const toml::node* n = take(key);
    if (n == nullptr) return otherwise;
    const auto text = n->value_exact<std::string>();
    const auto value = text ? parse_bandwidth(*text) : std::nullopt;
    if (!value || *value < 1) {
      wrong(*n, key, "a bandwidth with its unit, as \"1 Gbit/s\" or \"200 MB/s\"");
    }
    return *value;
  }
  std::string text(const std::string& key) {
    const toml::node* n = take(key);
    if (n == nullptr) return {};
    const auto value = n->value_exact<std::string>();
    if (!value) wrong(*n, key, "a text in quotes");
    return *value;
  }
  LinkModel link(LinkModel l) {
    l.latency = duration("latency", l.latency);
    l.bandwidth = bandwidth("bandwidth", l.bandwidth);
    l.jitter = duration("jitter", l.jitter);
    if (l.jitter > 3 * kSecond) wrong(*table_.get("jitter"), "jitter", "at most \"3 s\"");
    return l;
  }
  // Whole numbers above 0, at least one.
  std::vector<std::int32_t> sides(const std::string& key) {
    const toml::node& n = need(key);
    take(key);
    std::vector<std::int32_t> found;
    const toml::array* all = n.as_array();
    for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
      const auto side = (*all)[i].value_exact<std::int64_t>();
      if (!side || *side < 1 || *side > 4096) {
        found.clear();
        break;
      }
      found.push_back(static_cast<std::int32_t>(*side));
    }
    if (found.empty() || found.size() > 8) wrong(n, key, "a list of at most 8 whole numbers from 1 to 4096");
    return found;
  }
  Processing processing() {
    return {duration("event", 0), duration("send", 0), duration("plan_per_rank", 0),
            duration("ship", 0),  duration("wake", 0), duration("timer", 0)};
  }

  // Calls `read` with the table of that name, if there is one.
  void table(const std::string& key, const std::function<void(Reader&)>& read) {
    const toml::node* n = take(key);
    if (n == nullptr) return;
    if (!n->is_table()) wrong(*n, key, "a table: [" + key + "]");
    Reader inner(path_, key, *n->as_table());
    read(inner);
    inner.finish();
  }
  // ... with each table of an array [[key]].
  void tables(const std::string& key, const std::function<void(Reader&)>& read) {
    const toml::node* n = take(key);
    if (n == nullptr) return;
    const toml::array* all = n->as_array();
    if (all == nullptr) wrong(*n, key, "a list of tables: [[" + key + "]]");
    for (const toml::node& one : *all) {
      if (!one.is_table()) wrong(one, key, "a list of tables: [[" + key + "]]");
      Reader inner(path_, key, *one.as_table());
      read(inner);
      inner.finish();
    }
  }
  const toml::node* take(const std::string& key) {
    known_.push_back(key);
    return table_.get(key);
  }
  const toml::node& need(const std::string& key) const {
    const toml::node* n = table_.get(key);
    if (n != nullptr) return *n;
    throw ClusterError(path_ + ":" + std::to_string(table_.source().begin.line) + ": [[" + name_ + "]] lacks '" + key +
                       "'");
  }
  void finish() const {
    for (const auto& [key, value] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      std::string list;
      for (const std::string& k : known_) list += (list.empty() ? "" : ", ") + k;
      throw ClusterError(place(key.source()) + "unknown key " + shown(std::string(key.str())) +
                         "; known here: " + list);
    }
  }

 private:
  // What a change has put there is on no line.
  std::string place(const toml::source_region& at) const {
    return at.begin.line == 0 ? "" : path_ + ":" + std::to_string(at.begin.line) + ": ";
  }
  std::string shown(const std::string& key) const { return "'" + (name_.empty() ? "" : name_ + ".") + key + "'"; }
  std::string path_, name_;
  const toml::table& table_;
  std::vector<std::string> known_;
};

Rank rank_of(Reader& r, const ClusterModel& m) {
  r.need("rank");
  return Rank{r.integer("rank", 0, 0, m.ranks() - 1)};
}

ClusterModel read(Reader& root) {
  ClusterModel m;
  m.name = root.text("name");
  m.about = root.text("about");
  m.threads = root.integer("threads", 1, 1, 4096);
  const std::int32_t ranks = root.integer("ranks", 0, 1, 1 << 20);
  root.tables("node", [&](Reader& r) {
    ClusterModel::Nodes n;
    n.count = r.integer("count", 1, 1, 1 << 20);
    n.speed = r.number("speed", 1, 1e-6, 1e6, "a number above 0, relative to the others");
    n.cores = r.integer("cores", 0, 1, 4096);
    m.nodes.push_back(n);
  });
  if (m.nodes.empty() == (ranks == 0)) {
    throw ClusterError(root.path() + ": a cluster has either `ranks = N`, all alike, or a " +
                       "[[node]] table with `count` and `speed` for each kind of rank");
  }
  if (m.nodes.empty()) m.nodes.push_back({ranks, 1, 0});
  root.table("link", [&](Reader& r) { m.link = r.link(m.link); });
  root.table("host", [&](Reader& r) {
    m.ranks_per_host = r.integer("ranks", 1, 1, 1 << 20);
    m.inside_host = r.link(m.inside_host);
  });
  root.table("sites", [&](Reader& r) {
    const toml::array* hosts = r.need("hosts").as_array();
    r.take("hosts");
    const auto good = [](const toml::node& n) { return n.value_exact<std::int64_t>() > 0; };
    if (hosts == nullptr || hosts->empty() || !std::all_of(hosts->begin(), hosts->end(), good)) {
      r.wrong(r.need("hosts"), "hosts", "a list of whole numbers above 0: hosts of each site");
    }
    for (const toml::node& n : *hosts) {
      m.hosts_per_site.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(*n.value<std::int64_t>(), 1 << 20)));
    }
    m.between_sites = r.link(m.between_sites);
  });
  root.tables("tier", [&](Reader& r) {
    Tier t;
    r.need("of");
    t.of = r.integer("of", t.of, 1, 1 << 20);
    t.lines = r.integer("lines", t.lines, 1, 1 << 16);
    t.latency = r.duration("latency", t.latency);
    t.bandwidth = r.bandwidth("bandwidth", m.link.bandwidth);
    m.tiers.push_back(t);
  });
  root.table("torus", [&](Reader& r) {
    m.torus.sides = r.sides("sides");
    m.torus.latency = r.duration("latency", m.torus.latency);
    m.torus.bandwidth = r.bandwidth("bandwidth", m.link.bandwidth);
  });
  if (!m.torus.sides.empty() + !m.tiers.empty() + !m.hosts_per_site.empty() > 1) {
    throw ClusterError(root.path() + ": hosts are joined by [[tier]] tables, a [torus] or [sites]: one of them");
  }
  root.table("processing", [&](Reader& r) { m.processing = r.processing(); });
  m.coordinator = m.processing;
  root.table("coordinator", [&](Reader& r) { m.coordinator = r.processing(); });
  root.tables("outside", [&](Reader& r) {
    Change c{0, rank_of(r, m), Change::Kind::outside_load, 0, 0};
    c.at = r.duration("at", 0);
    r.need("tasks");
    c.tasks = r.number("tasks", 0, 0, 1e6, "a number of competing tasks, at least 0");
    m.changes.push_back(c);
    const Time until = r.duration("until", 0);
    if (until == 0) return;
    if (until <= c.at) r.wrong(r.need("until"), "until", "later than 'at'");
    m.changes.push_back({until, c.rank, Change::Kind::outside_load, 0, 0});
  });
  root.tables("leave", [&](Reader& r) {
    Change c{0, rank_of(r, m), Change::Kind::leave, 0, 100 * kMillisecond};
    r.need("at");
    c.at = r.duration("at", 0);
    c.grace = r.duration("grace", c.grace);
    m.changes.push_back(c);
  });
  root.tables("join", [&](Reader& r) {
    Change c{0, rank_of(r, m), Change::Kind::join, 0, 0};
    r.need("at");
    c.at = r.duration("at", 0);
    const bool left_before = std::any_of(m.changes.begin(), m.changes.end(), [&](const Change& o) {
      return o.kind == Change::Kind::leave && o.rank == c.rank && o.at < c.at;
    });
    if (!left_before) m.absent.push_back(c.rank);
    m.changes.push_back(c);
  });
  return m;
}

// Numbers without a unit are numbers.
void change(toml::table& table, const std::string& key, const std::string& text) {
  toml::table* inner = &table;
  std::size_t begin = 0;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; begin = dot + 1, dot = key.find('.', begin)) {
    toml::node& n = inner->emplace<toml::table>(key.substr(begin, dot - begin)).first->second;
    inner = n.as_table();
    if (inner == nullptr)
      throw ClusterError("'" + key.substr(0, dot) + "' is no table, so '" + key + "' can't be changed");
  }
  const std::string name = key.substr(begin);
  const std::optional<double> number = parse_number(text);
  if (!number) {
    inner->insert_or_assign(name, text);
  } else if (*number == std::floor(*number) && std::abs(*number) < 1e15) {
    inner->insert_or_assign(name, static_cast<std::int64_t>(*number));
  } else {
    inner->insert_or_assign(name, *number);
  }
}

}  // namespace

ClusterModel load_cluster(const std::string& path, const ClusterChanges& changes) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw ClusterError("no such cluster file: " + path);
  }
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& e) {
    throw ClusterError(path + ":" + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
  }
  for (const auto& [key, text] : changes) change(table, key, text);
  Reader root(path, "", table);
  ClusterModel m = read(root);
  root.finish();
  if (m.name.empty()) m.name = std::filesystem::path(path).stem().string();
  return m;
}

}  // namespace tessera::balancer::simulator
