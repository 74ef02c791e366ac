// A journal's folder for tests, and short names for what is in its files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runtime/journal/folder.hpp"
#include "runtime/journal/known.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::runtime::journal {

namespace fs = std::filesystem;

inline Id name(std::uint64_t k) { return abi::mix({1, 2}, k); }
inline Id key(std::uint64_t k) { return abi::mix({3, 4}, k); }

// Wherever it is looked for first.
inline Recall recall(const Known& known, const Id& id, std::uint32_t group = 0) {
  Known::Near near;
  const Recall found = known.recall(id, group, near);
  for (std::uint32_t from = 0; from < 10; ++from) {
    near = {from, {from, from, 0}};
    EXPECT_EQ(known.recall(id, group, near), found) << from;
  }
  return found;
}
inline bool recalls(const Known& known, const Id& id, std::uint32_t group = 0) {
  return recall(known, id, group) != Recall::no;
}

struct Fragment {
  std::vector<Id> reads;
  std::vector<Output> outputs;
};

class JournalFiles : public testing::Test {
 protected:
  static Header header(std::uint64_t attempt = 1) {
    Header h;
    h.attempt = attempt;
    h.blocks = 7;
    h.origin.arguments = {"5"};
    return h;
  }
  fs::path path(std::uint32_t number = 0) const { return file_name(folder_, 1, 0, number); }
  static void write(File& file, std::uint64_t number, const Fragment& f) {
    std::vector<std::byte> rows;
    append(rows, Done{key(number), f.reads, f.outputs});
    file.records(rows);
  }
  static void write(File& file, const Id& id, std::int32_t i) {
    std::vector<std::byte> rows;
    append(rows, ValueOf{id, {}, abi::Type::integer, std::as_bytes(std::span(&i, 1)), 0});
    file.records(rows);
  }
  tests::TemporaryFolder folder_;
};

inline Learned learned(std::int64_t count, balancer::Time mean) {
  balancer::ProfileGroup g;
  g.position = "p.fa:1";
  g.label = "f";
  g.count = count;
  g.mean = mean;
  return {g};
}

// Some records of each kind, and a value with a frame of its own.
inline void write_some(const fs::path& path, const Header& header) {
  File file(path, header);
  for (std::uint64_t k = 0; k < 3; ++k) {
    std::vector<std::byte> rows;
    const Id reads[] = {name(k)};
    const Output outputs[] = {{name(k + 1), 1}, {name(k + 10), -1}};
    append(rows, NeedsText{5, k});
    append(rows, Done{key(k), reads, outputs});
    append(rows, Text{5, k, "a line\n"});
    append(rows, TakenBack{name(k), key(100 + k)});
    append(rows, Gone{name(k + 10)});
    append(rows, Ran{reads});
    append(rows, Range{name(20), static_cast<std::int64_t>(k), 30, 2, 3});
    append(rows, learned(static_cast<std::int64_t>(k + 1), 100));
    append(rows, SeriesPlaces{static_cast<std::int32_t>(k), 4, {10 + k, 20}, {1, 2}});
    append(rows, HostLinks{{"here", "there", 1000 + static_cast<balancer::Time>(k), 1e9}});
    if (k == 1) file.begin_sweep(1);
    file.records(rows);
    const std::string text(513 + k, 'x');
    file.value({name(k + 1), key(k), abi::Type::string, std::as_bytes(std::span(text)), 0});
    if (k == 1) file.end_sweep();
  }
}

// What is in it, as text.
inline std::multiset<std::string> records_of(const fs::path& path) {
  std::multiset<std::string> all;
  Header h;
  for_each_record(
      path, h,
      {[&](const Done& d) {
         all.insert("done " + std::to_string(d.key.lo) + " " + std::to_string(d.reads.size()) + " " +
                    std::to_string(d.outputs.size()));
       },
       [&](const ValueOf& v) {
         all.insert("value " + std::to_string(v.id.lo) +
                    std::string(reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size()));
       },
       [&](const TakenBack& t) { all.insert("taken back " + std::to_string(t.id.lo) + std::to_string(t.key.lo)); },
       [&](const Gone& g) { all.insert("gone " + std::to_string(g.id.lo)); },
       [&](const Learned& l) { all.insert("learned " + l.at(0).label + std::to_string(l.at(0).count)); },
       [&](const Ran& r) { all.insert("ran " + std::to_string(r.keys.size()) + std::to_string(r.keys[0].lo)); },
       [&](const Range& r) { all.insert("range " + std::to_string(r.first)); },
       [&](const Text& t) { all.insert("text " + std::to_string(t.from) + std::string(t.text)); },
       [&](const NeedsText& n) { return all.insert("needs " + std::to_string(n.upto)), true; },
       {},
       [&](std::uint64_t sweep) { all.insert("whole " + std::to_string(sweep)); },
       [&](const SeriesPlaces& p) { all.insert("places " + std::to_string(p.rank) + std::to_string(p.series.at(0))); },
       [&](const HostLinks& l) { all.insert("links " + l.at(0).to + std::to_string(l.at(0).latency)); }});
  return all;
}

}  // namespace tessera::runtime::journal
