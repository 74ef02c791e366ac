// `matmul` and `rowreduce`: the two programs of the thesis (policies.md, central), as graphs with
// the values they really share.
#include "balancer/simulator/workloads/catalogue.hpp"

namespace tessera::balancer::simulator {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter kMatmul[] = {
    {.name = "blocks",
     .default_value = "10",
     .help = "blocks along a side: blocks^3 products",
     .kind = Kind::integer,
     .min = 1,
     .max = 400},
    {.name = "block",
     .default_value = "1036800B",
     .help = "bytes of a block (360 x 360 doubles); a product needs two",
     .kind = Kind::bytes},
    {.name = "init", .default_value = "2.6ms", .help = "weight of making a block", .kind = Kind::duration},
    {.name = "multiply", .default_value = "60ms", .help = "weight of a product", .kind = Kind::duration},
    {.name = "output", .default_value = "1036800B", .help = "bytes of a product", .kind = Kind::bytes},
};

// C[i][j] gets A[i][k] * B[k][j] for all k. Everything is created on rank 0, blocks of A and B in turns, as by
// examples/matmul/matmul.fa.
Generated matmul(const SettingsReader& read, const Surroundings&) {
  const auto n = static_cast<std::size_t>(read.integer("blocks"));
  const std::int64_t block = read.bytes("block");
  const Time init = read.duration("init"), multiply = read.duration("multiply");
  Workload w;
  w.groups = {movable_group("init_a at matmul.fa:51"), movable_group("init_b at matmul.fa:52"),
              movable_group("multiply at matmul.fa:38")};
  std::vector<std::size_t> a, b;
  for (std::size_t i = 0; i < n * n; ++i) {
    a.push_back(w.add({.group = Group{0}, .weight = init, .output = block}));
    b.push_back(w.add({.group = Group{1}, .weight = init, .output = block}));
    w.births.push_back({0, Rank{0}, a.back()});
    w.births.push_back({0, Rank{0}, b.back()});
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) {
        Fragment product{.group = Group{2}, .weight = multiply, .output = read.bytes("output")};
        product.inputs = {{a[i * n + k], block}, {b[k * n + j], block}};
        w.births.push_back({0, Rank{0}, w.add(std::move(product))});
      }
    }
  }
  Generated g;
  g.graph = std::move(w);
  return g;
}

constexpr Parameter kRowReduce[] = {
    {.name = "rows", .default_value = "50", .help = "rows of the matrix", .kind = Kind::integer, .min = 2, .max = 2000},
    {.name = "row", .default_value = "2.4MB", .help = "bytes of a row (300,000 doubles)", .kind = Kind::bytes},
    {.name = "weight", .default_value = "1ms", .help = "weight of reducing one row by another", .kind = Kind::duration},
};

// Step i divides row i (the pivot) and takes it off every other row; rows are made on rank 0.
Generated rowreduce(const SettingsReader& read, const Surroundings&) {
  const auto rows = static_cast<std::size_t>(read.integer("rows"));
  const std::int64_t bytes = read.bytes("row");
  const Time weight = read.duration("weight");
  Workload w;
  w.groups = {movable_group("init at rows.fa:8"), movable_group("pivot at rows.fa:12"),
              movable_group("reduce at rows.fa:20")};
  std::vector<std::size_t> row;  // the fragment that last wrote it
  const auto add = [&](std::uint32_t g, Time t, std::vector<Input> inputs) {
    Fragment f{.group = Group{g}, .weight = t, .output = bytes};
    f.inputs = std::move(inputs);
    const std::size_t number = w.add(std::move(f));
    w.births.push_back({0, Rank{0}, number});
    return number;
  };
  for (std::size_t r = 0; r < rows; ++r) row.push_back(add(0, weight, {}));
  for (std::size_t i = 0; i < rows; ++i) {
    row[i] = add(1, weight / 2, {{row[i], bytes}});
    for (std::size_t r = 0; r < rows; ++r) {
      if (r != i) row[r] = add(2, weight, {{row[i], bytes}, {row[r], bytes}});
    }
  }
  Generated g;
  g.graph = std::move(w);
  return g;
}

}  // namespace

const WorkloadInfo& matmul_workload() {
  static const WorkloadInfo info{"matmul", "block matrix multiplication, everything born on rank 0 (Mustafin)", kMatmul,
                                 matmul};
  return info;
}

const WorkloadInfo& rowreduce_workload() {
  static const WorkloadInfo info{"rowreduce", "Gauss-Jordan elimination of rows too large to move (Mustafin)",
                                 kRowReduce, rowreduce};
  return info;
}

}  // namespace tessera::balancer::simulator
