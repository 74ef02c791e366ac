// Fragmented programs called from C++: docs/library.md.
//
//   #include <tessera/library.hpp>
//   TESSERA_PROGRAM(heat);  // tessera_add_library(heat heat.fa kernels.cpp)
//
//   tessera::Options options;
//   options.threads = 2;
//   const tessera::Results r = tessera::run(heat(), {100, 0.5, std::span<const double>(start)}, options);
//   std::span<const double> end = r["end"].span<double>();
//
// The arguments are those of `main` in its order, without its names: these are the results. What fails is thrown as a
// RunError with the report as text. With a communicator (tessera/mpi.hpp) each of its ranks makes the same call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tessera.hpp"

namespace tessera {

// Why a run failed: what() is what `tessera run` would print, exit_code what it would end with (docs/errors.md).
class RunError : public std::runtime_error {
 public:
  RunError(const std::string& text, int exit_code) : std::runtime_error(text), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// A compiled program: TESSERA_PROGRAM(name) of one that is linked, or load().
class Program {
 public:
  explicit Program(const abi::Program* table) : table_(table) {}
  // A library that `tessera build --library` made. It stays loaded. Throws RunError.
  static Program load(const std::string& file);
  const abi::Program& table() const { return *table_; }

 private:
  const abi::Program* table_;
};

// What a parameter of `main` gets: a number, a text, or an array, whose bytes are copied. A `value` takes any of them.
class Argument {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Argument(T v) : value_(v) {}
  Argument(const char* text) : value_(text) {}
  Argument(const std::string& text) : value_(text) {}
  Argument(std::string_view text) : value_(std::string(text)) {}
  template <class T, std::size_t N>
  Argument(std::span<T, N> all) {
    using Element = std::remove_const_t<T>;
    static_assert(detail::Plain<Element>, "an array travels as bytes: its elements must be trivially copyable");
    void* to = value_.create(all.size_bytes());
    if (!all.empty()) std::memcpy(to, all.data(), all.size_bytes());
  }
  template <class T>
  Argument(const std::vector<T>& all) : Argument(std::span<const T>(all)) {}
  // The result of another run; nothing is copied.
  Argument(const Input& result) : value_(result.df()) {}

  const DF& value() const { return value_; }

 private:
  DF value_;
};

struct Options {
  int threads = 0;       // workers per rank; 0: share the host's cores
  int ranks = 1;         // within this process; with a communicator it has the ranks
  std::string balancer;  // empty: the usual one
  // Other options of `tessera run`, as on its command line: "--record run.trace --central-margin 0.1".
  std::string more;
  bool quiet = true;  // no summary, no warnings on stderr
  // Results on all ranks, not on rank 0 only.
  bool results_everywhere = false;
  // communicator(comm) of tessera/mpi.hpp. MPI must have been initialised with MPI_THREAD_SERIALIZED or more.
  std::optional<std::int32_t> communicator;
};

// The values of the names among the parameters of `main`. Elsewhere than on rank 0 there are none, unless asked for.
class Results {
 public:
  // As in a kernel: get<double>(), span<double>(), get<std::string>(). What it refers to lives as long as the Results.
  // Throws std::out_of_range when `main` has no name like that, or this rank has no results.
  const Input& operator[](std::string_view name) const;
  const std::vector<std::string>& names() const { return names_; }
  bool here() const { return !values_.empty() || names_.empty(); }
  // What `tessera run --summary` writes: JSON.
  const std::string& summary() const { return summary_; }

 private:
  friend Results run(const Program&, const std::vector<Argument>&, const Options&);
  std::vector<std::string> names_;
  std::map<std::string, std::shared_ptr<const Input>, std::less<>> values_;
  std::string summary_;
};

// run executes the program to its end. One run at a time in a process: a second call waits. Throws RunError; on all
// ranks, with the same text. What ends a process in the middle of a run ends the caller, too: a kernel that crashes, or
// does not return after the run has failed; with MPI by MPI_Abort.
Results run(const Program& program, const std::vector<Argument>& arguments, const Options& options = {});

}  // namespace tessera

// TESSERA_PROGRAM(name) declares name(), the program that the library `name` has.
#define TESSERA_PROGRAM(name)                                                                                   \
  extern "C" const tessera::abi::Program* tessera_program_##name();                                             \
  [[maybe_unused]] static inline tessera::Program name() { return tessera::Program(tessera_program_##name()); } \
  static_assert(true)
