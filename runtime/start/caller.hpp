// Caller: the program in this process that has called the runtime as a library (abi/tessera/library.hpp): what it has
// given and gets back. The process is its own, not the run's: stdout, signals, children and MPI stay as it has them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/run.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

struct Caller {
  std::optional<std::int32_t> communicator;  // MPI's number of it, as Fortran has it; none: ranks in this process
  bool everywhere = false;                   // all ranks get the results, not rank 0 only
  // By parameters of `main`.
  std::vector<ValueRef> given;
  std::vector<ValueRef> results;  // of names
  std::string summary;            // JSON
  std::string report;             // what would be printed about why it failed
  std::optional<Parcel> end;      // keep_end

  void say(std::string_view text) {
    const std::lock_guard hold(mutex_);
    report += text;
    if (report.empty() || report.back() != '\n') report += '\n';
  }

 private:
  std::mutex mutex_;
};

// tell prints what a run says of its end, or keeps it for the caller.
void tell(const RunOptions&, const std::string& text);

// Rank 0 is through the last barrier first: what it sends then may come while others are in it. keep_end keeps such a
// parcel; false: it is a message of the run.
bool keep_end(Caller&, Parcel&);

// share_end gives the other ranks of a run what rank 0 knows of its end: the exit code, which is returned, the report
// and, if wanted, the results. Every rank calls it, when all of the run is over.
int share_end(Transport&, Caller&, int exit_code);

}  // namespace tessera::runtime
