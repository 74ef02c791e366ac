// examples/rowreduce as a plain C++ program: the same kernels in the same order, called by loops.
//
//   plain-rowreduce ROWS COLUMNS   prints seconds, from the first row made to the last one checked
#include <chrono>
#include <cstdlib>

#include "../../examples/rowreduce/ucodes.cpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int rows = std::atoi(argv[1]);
  const int columns = std::atoi(argv[2]);
  const auto start = std::chrono::steady_clock::now();
  std::vector<OutputDF> row(rows);
  for (int r = 0; r < rows; ++r) generate(r, rows, columns, row[r]);
  const auto usable = [&](int s, int r) {
    OutputDF yes;
    test_pivot(s, row[r], yes);
    return yes.get_int() != 0;
  };
  for (int s = 0; s < rows; ++s) {
    int pivot = s;
    while (!usable(s, pivot)) {
      if (++pivot == rows) singular(s);
    }
    std::swap(row[s], row[pivot]);
    for (int r = 0; r < rows; ++r) {
      if (r == s) continue;
      OutputDF zero, reduced;
      test_zero(s, row[r], zero);
      if (zero.get_int() != 0) continue;
      reduce(s, row[s], row[r], reduced);
      std::swap(row[r], reduced);
    }
  }
  for (int r = 0; r < rows; ++r) {
    OutputDF right;
    check(r, rows, row[r], right);
  }
  std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}
