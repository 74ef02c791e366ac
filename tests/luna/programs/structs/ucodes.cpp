#include "ucenv.h"
struct Particle { double x[3]; int id; };
extern "C" {
void c_make(int n, OutputDF &p) {
  Particle *all = p.create<Particle>(n);
  for (int i = 0; i < n; i++) { all[i].id = i; for (int k = 0; k < 3; k++) all[i].x[k] = i; }
}
void c_move(const InputDF &from, double dt, OutputDF &to) {
  const Particle *in = from.getData<Particle>();
  const size_t n = from.getSize() / sizeof(Particle);
  Particle *out = (Particle *)to.create(from.get_size());
  memcpy(out, in, from.getSize());
  for (size_t i = 0; i < n; i++) out[i].x[0] += dt;
}
void c_print(InputDF &p) {
  const Particle *all = p.getData<Particle>();
  for (size_t i = 0; i < p.getSize() / sizeof(Particle); i++) printf("%d: %g %g\n", all[i].id, all[i].x[0], all[i].x[2]);
}
}
