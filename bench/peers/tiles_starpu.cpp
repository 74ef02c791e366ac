// StarPU: each tile is registered as a piece of data; tasks are ordered by the data they access.
#include "starpu_codelet.hpp"
#include "tiles.hpp"

namespace {

class System {
 public:
  // Registered where it is: the only memory here is that of the processors, so StarPU copies none.
  struct Tile {
    DF value;
    starpu_data_handle_t handle = nullptr;

    Tile() {
      starpu_variable_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&value), sizeof value);
    }
    Tile(const Tile&) = delete;
    ~Tile() { starpu_data_unregister(handle); }
  };

  template <class F>
  void task(F f, Tile& to) {
    static Codelet codelet([](void* b[], void* argument) { taken<F>(argument)(value(b, 0)); }, {STARPU_RW});
    starpu_task_insert(&codelet, STARPU_VALUE, &f, sizeof f, STARPU_RW, to.handle, 0);
  }
  template <class F>
  void task(F f, Tile& to, Tile& from) {
    static Codelet codelet([](void* b[], void* argument) { taken<F>(argument)(value(b, 0), value(b, 1)); },
                           {STARPU_RW, STARPU_R});
    starpu_task_insert(&codelet, STARPU_VALUE, &f, sizeof f, STARPU_RW, to.handle, STARPU_R, from.handle, 0);
  }
  template <class F>
  void task(F f, Tile& to, Tile& left, Tile& right) {
    static Codelet codelet([](void* b[], void* argument) { taken<F>(argument)(value(b, 0), value(b, 1), value(b, 2)); },
                           {STARPU_RW, STARPU_R, STARPU_R});
    starpu_task_insert(&codelet, STARPU_VALUE, &f, sizeof f, STARPU_RW, to.handle, STARPU_R, left.handle, STARPU_R,
                       right.handle, 0);
  }
  template <class F>
  void merge(F f, Tile& to, Tile& from) {
    static Codelet codelet([](void* b[], void* argument) { taken<F>(argument)(value(b, 0), value(b, 1)); },
                           {STARPU_RW, STARPU_RW});
    starpu_task_insert(&codelet, STARPU_VALUE, &f, sizeof f, STARPU_RW, to.handle, STARPU_RW, from.handle, 0);
  }
  void wait() { starpu_task_wait_for_all(); }

 private:
  static DF& value(void* buffers[], int k) {
    return *reinterpret_cast<DF*>(STARPU_VARIABLE_GET_PTR(static_cast<void**>(buffers)[k]));
  }
  template <class F>
  static F taken(void* argument) {  // F captures numbers only
    alignas(F) char copy[sizeof(F)];
    starpu_codelet_unpack_args(argument, copy);
    return *reinterpret_cast<F*>(copy);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return peer::run<System>(argc, argv, [](int threads, auto f) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = threads;
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf) != 0) std::abort();
    f();
    starpu_shutdown();
  });
}
