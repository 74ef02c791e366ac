// What a program prints with one call arrives in one piece, whichever ranks print at the same time.
//
// A launcher reads what each rank prints through a pipe or terminal of its own, in pieces of some thousand bytes that
// end anywhere, and writes them one after the other: lines of different ranks get mixed. So the ranks of a host
// all print into what its first rank prints into. There a call's text is one write, which the system keeps whole, and
// what was printed is on its way whatever becomes of the rank.
#pragma once

#include <sys/types.h>

namespace tessera::runtime {

// print_whole_lines: from now on printf, puts, std::cout write each line at once and in one piece, up to
// a megabyte; also std::cout without synchronisation.
void print_whole_lines();

// OutputPlace is where a process prints, for the others of its host: of stdout or stderr.
struct OutputPlace {
  pid_t process = 0;
  pid_t reader = 0;  // the ancestor that reads it; 0: none does, or it tells ranks apart (mpirun --tag-output)
  dev_t device = 0;
  ino_t file = 0;
};
OutputPlace output_place(int descriptor);

// print_into has this process print where `first` does, if one launcher reads what both print; whether it does now.
// Otherwise, as when each rank prints into a file or a filter of its own, everything stays as it is.
bool print_into(const OutputPlace& first, int descriptor);

// print_in_one_stream: all ranks of the run print there, so pieces come in the order written, wherever they end.
void print_in_one_stream(int descriptor);

}  // namespace tessera::runtime
