// What a kernel includes. Kernels are `extern "C" void f(...)` in C++ files; a parameter of the .fa
// program arrives as
//
//     int -> int    real -> double    string -> const char *
//     value -> const InputDF &        name -> OutputDF &
//
//     extern "C" void scale(double k, const InputDF &x, OutputDF &y) {
//       const double *in = x.getData<double>();
//       double *out = y.create<double>(x.getSize() / sizeof(double));
//       for (size_t i = 0; i < x.getSize() / sizeof(double); i++) out[i] = k * in[i];
//     }
//
// The headers below are part of the interface: programs use them without including them. Parsing them takes time, so
// `tessera` and `luna` have this file precompiled.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <queue>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/df.hpp"
#include "tessera/durable.hpp"

using DF = tessera::DF;
using InputDF = tessera::DF;
using OutputDF = tessera::DF;

namespace luna::ucenv {
using DF = tessera::DF;
using InputDF = tessera::DF;
using OutputDF = tessera::DF;
}  // namespace luna::ucenv
