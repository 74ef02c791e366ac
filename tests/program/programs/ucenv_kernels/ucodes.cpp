#include "ucenv.h"

#include <vector>

using namespace std;
using namespace luna::ucenv;

struct Point {
  double x, y;
  int id;
};

extern "C" {

void k_numbers(int n, double k, const char *text, OutputDF &i, OutputDF &r, OutputDF &s) {
  i = n;
  r = k;
  s = string(text);
}

void k_set_value(OutputDF &i, OutputDF &r, OutputDF &s, OutputDF &d) {
  i.setValue(0);
  r.setValue<double>(7);
  s.setValue<string>("text");
  const string digits = "42";
  d.setValue(digits);
}

void k_typed(const InputDF &i, const InputDF &r, const InputDF &s) {
  printf("typed %d %d %g %g %s\n", i.getValue<int>(), i.get_int(), r.getValue<double>(), r.get_real(),
         s.get_string().c_str());
}

void k_cast(const InputDF &i, const InputDF &r, const InputDF &s) {
  printf("cast %g %d %s %d\n", i.cast_real(), r.cast_int(), i.cast_string().c_str(), s.cast_int());
}

void k_fill(const int n, luna::ucenv::OutputDF &y) {
  double *all = y.create<double>(n, 1.5);
  for (int i = 0; i < n; i++) all[i] += i;
  y.getData<double>()[0] = 10;
}

void k_struct(OutputDF &p) {
  Point *point = p.create<Point>(1);
  point->x = 0.5;
  point->id = 7;
}

void k_bytes(const InputDF &a, const InputDF &p) {
  const double *d = a.getData<double>();
  const Point *point = static_cast<const Point *>(p.get_data());
  printf("bytes %zu %zu: %g %g %g; %g %g %d\n", a.getSize() / sizeof(double), p.get_size() / sizeof(Point), d[0],
         d[1], d[2], point->x, point->y, point->id);
}

// Inputs without const, and by value: writing to them changes nobody else's.
void k_forms(InputDF &i, InputDF a, DF b, OutputDF &y) {
  a.getData<double>()[1] = -1;
  b.getData<double>()[2] = -2;
  DF sum = i + DF(1);
  vector<DF> all = {sum, i};
  y = all[0].get_int() + all[1].get_int();
  printf("forms %g %g\n", a.getData<double>()[2], b.getData<double>()[1]);
}

void k_copy(const InputDF &x, OutputDF &a, OutputDF &b, OutputDF &c) {
  a.copy(x);
  b = x;
  void *to = c.create(x.getSize());
  memcpy(to, x.get_data(), x.get_size());
}

void k_state(const InputDF &x, OutputDF &y) {
  DF named = x;
  named.setName("my name");
  const bool unset = y.is_unset() && !y.is_set();
  y = 0;
  printf("state %s %s, %d %d %d\n", named.getName().c_str(), named.to_string().c_str(), unset, y.is_set(),
         y.is_unset());
}

void k_arithmetic(const InputDF &i, const InputDF &r) {
  printf("%d %d %d %d %d\n", (i + 5).get_int(), (i - i).get_int(), (i * 2).get_int(), (i / 5).get_int(),
         (i % 5).get_int());
  printf("%g %g\n", (i * r).get_real(), (r + 1).get_real());
  printf("%d%d%d%d%d%d%d\n", i < r, i <= r, i == 12, i != 0, i >= r, i > r, i && r);
}

}  // extern "C"
