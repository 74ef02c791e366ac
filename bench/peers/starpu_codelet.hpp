// A StarPU codelet for the processor: a function, and how it accesses its data.
#pragma once

#include <starpu.h>

#include <initializer_list>

struct Codelet : starpu_codelet {
  Codelet(void (*f)(void*[], void*), std::initializer_list<starpu_data_access_mode> accesses) {
    starpu_codelet_init(this);
    cpu_funcs[0] = f;
    nbuffers = 0;
    for (const auto a : accesses) modes[nbuffers++] = a;
  }
};
