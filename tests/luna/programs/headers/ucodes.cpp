#include "ucenv.h"
using namespace std;
static mutex guard;
static atomic<int> calls{0};
extern "C" void c_all(int n, OutputDF &x) {
  lock_guard<mutex> held(guard);
  condition_variable unused;
  vector<int> v(n, 1);
  v.push_back(7);
  sort(v.begin(), v.end(), greater<int>());
  set<int> s(v.begin(), v.end());
  unordered_map<string, int> m{{"a", 1}};
  queue<int> q;
  q.push(accumulate(v.begin(), v.end(), 0));
  function<int(int)> f = [](int k) { return k + 1; };
  unique_ptr<int> p(new int(0));
  pair<int, int> both(q.front(), m["a"]);
  ostringstream text;
  text << typeid(int).name() << fabs(-1.0);
  if (s.size() != 2) throw runtime_error("sets");
  thread t([] { ++calls; });
  t.join();
  int8_t small = 1;
  size_t length = strlen("12") + abs(-1);
  assert(length == 3);
  x = f(both.first) + *p + calls - small + (text.str() == "i1" ? 1 : 0);
}
extern "C" void c_show(int v) { cout << v << endl; }
