#include "kernels.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace tessera::reference {
namespace {

// All ints are in 0..999, so that sums and products of a few of them fit.
std::int32_t mixed(std::int32_t a, std::int32_t b) {
  std::uint32_t h = static_cast<std::uint32_t>(a) * 2654435761u + static_cast<std::uint32_t>(b);
  h = (h ^ (h >> 15)) * 2246822519u;
  return static_cast<std::int32_t>((h ^ (h >> 13)) % 1000u);
}

std::int32_t digest(const void* data, std::size_t size) {
  std::uint32_t h = 17;
  for (std::size_t i = 0; i < size; ++i) h = h * 31u + static_cast<const std::uint8_t*>(data)[i];
  return mixed(static_cast<std::int32_t>(h % 100000u), static_cast<std::int32_t>(size));
}

std::string described(const Value& v) {
  if (const auto* i = std::get_if<std::int32_t>(&v)) return "int " + std::to_string(*i);
  if (const auto* l = std::get_if<std::int64_t>(&v)) return "long " + std::to_string(*l);
  if (const auto* s = std::get_if<std::string>(&v)) return "string " + *s;
  if (const auto* b = std::get_if<Bytes>(&v)) {
    return "bytes " + std::to_string(b->size()) + " " + std::to_string(digest(b->data(), b->size()));
  }
  char text[40];
  std::snprintf(text, sizeof text, "real %.17g", std::get<double>(v));
  return text;
}

using In = const std::vector<Value>&;
using Out = std::vector<Value>;
using Lines = std::vector<std::string>&;
std::int32_t i(const Value& v) { return std::get<std::int32_t>(v); }
double r(const Value& v) { return std::get<double>(v); }
const std::string& s(const Value& v) { return std::get<std::string>(v); }

Out pack(In in, Lines) {
  Bytes b(static_cast<std::size_t>(i(in[0])) * 4);
  for (std::int32_t k = 0; k < i(in[0]); ++k) {
    const std::int32_t v = mixed(i(in[1]), k);
    std::memcpy(b.data() + k * 4, &v, 4);
  }
  return {b};
}

Out show3(In in, Lines lines) {
  char text[80];
  std::snprintf(text, sizeof text, "%d %.17g ", i(in[0]), r(in[1]));
  lines.push_back(text + s(in[2]));
  return {};
}

const std::unordered_map<std::string, Run>& all() {
  static const std::unordered_map<std::string, Run> kAll = {
      {"mix", [](In in, Lines) { return Out{mixed(i(in[0]), i(in[1]))}; }},
      {"split",
       [](In in, Lines) {
         return Out{mixed(i(in[0]), 1), mixed(i(in[0]), 2)};
       }},
      {"far", [](In in, Lines) { return Out{std::get<std::int64_t>(in[0]) / 3 + 4000000000}; }},
      {"eighth", [](In in, Lines) { return Out{i(in[0]) / 8.0}; }},
      {"blend", [](In in, Lines) { return Out{std::fmod(std::fabs(r(in[0]) * 0.5 + r(in[1]) * 0.3), 100.0)}; }},
      {"cut", [](In in, Lines) { return Out{static_cast<std::int32_t>(std::fmod(std::fabs(r(in[0])) * 8, 1000.0))}; }},
      {"word", [](In in, Lines) { return Out{"w" + std::to_string(mixed(i(in[0]), 3) % 100)}; }},
      {"join", [](In in, Lines) { return Out{s(in[0]).substr(0, 12) + "/" + s(in[1]).substr(0, 12)}; }},
      {"measure", [](In in, Lines) { return Out{digest(s(in[0]).data(), s(in[0]).size())}; }},
      {"same", [](In in, Lines) { return Out{in[0]}; }},
      {"either", [](In in, Lines) { return Out{in[i(in[2]) % 2 == 0 ? 0 : 1]}; }},
      {"pack", pack},
      {"total",
       [](In in, Lines) {
         const Bytes& b = std::get<Bytes>(in[0]);
         return Out{digest(b.data(), b.size())};
       }},
      {"nothing", [](In, Lines) { return Out{}; }},
      {"show",
       [](In in, Lines lines) {
         lines.push_back(s(in[0]) + " " + described(in[1]));
         return Out{};
       }},
      {"show3", show3},
  };
  return kAll;
}

}  // namespace

Run kernel(const std::string& name) { return all().at(name); }

const char* kernels_text() {
  return R"fa(C++ head ${<END}
extern "C" void tessera_test_line(const char *) __attribute__((weak));
extern "C" void tessera_test_rest() __attribute__((weak));
static void rest() {
  if (tessera_test_rest) tessera_test_rest();
}
static void line(const std::string &text) {
  if (tessera_test_line) tessera_test_line(text.c_str());
  else printf("%s\n", text.c_str());
}
static int mixed(int a, int b) {
  unsigned h = unsigned(a) * 2654435761u + unsigned(b);
  h = (h ^ (h >> 15)) * 2246822519u;
  return int((h ^ (h >> 13)) % 1000u);
}
static int digest(const void *data, size_t size) {
  unsigned h = 17;
  for (size_t i = 0; i < size; ++i) h = h * 31u + ((const unsigned char *)data)[i];
  return mixed(int(h % 100000u), int(size));
}
END
C++ sub mix(int a, int b, name x) ${{ rest(); x = mixed(a, b); $}}
C++ sub split(int a, name x, name y) ${{ rest(); x = mixed(a, 1); y = mixed(a, 2); $}}
C++ sub far(long a, name x) ${{ rest(); x = a / 3 + 4000000000; $}}
C++ sub eighth(int a, name x) ${{ rest(); x = a / 8.0; $}}
C++ sub blend(real a, real b, name x) ${{ rest(); x = fmod(fabs(a * 0.5 + b * 0.3), 100.0); $}}
C++ sub cut(real a, name x) ${{ rest(); x = int(fmod(fabs(a) * 8, 1000.0)); $}}
C++ sub word(int a, name x) ${{ rest(); x = "w" + std::to_string(mixed(a, 3) % 100); $}}
C++ sub join(string a, string b, name x) ${{
  rest();
  x = std::string(a).substr(0, 12) + "/" + std::string(b).substr(0, 12);
$}}
C++ sub measure(string a, name x) ${{ rest(); x = digest(a, strlen(a)); $}}
C++ sub same(value a, name x) ${{ rest(); x.copy(a); $}}
C++ sub either(value a, value b, int which, name x) ${{ rest(); x.copy(which % 2 == 0 ? a : b); $}}
C++ sub pack(int n, int seed, name x) ${{
  rest();
  int *data = x.create<int>(n);
  for (int k = 0; k < n; ++k) data[k] = mixed(seed, k);
$}}
C++ sub total(value a, name x) ${{ rest(); x = digest(a.getData<char>(), a.getSize()); $}}
C++ sub nothing() ${{ rest(); $}}
C++ sub show(string what, value v) ${{
  rest();
  std::string text = what;
  char real[40];
  switch (v.value->type) {
    case tessera::abi::Type::integer: text += " int " + std::to_string(v.get_int()); break;
    case tessera::abi::Type::longint: text += " long " + std::to_string(v.get_long()); break;
    case tessera::abi::Type::string: text += " string " + v.get_string(); break;
    case tessera::abi::Type::real:
      snprintf(real, sizeof real, " real %.17g", v.get_real());
      text += real;
      break;
    default:
      text += " bytes " + std::to_string(v.getSize()) + " " +
              std::to_string(digest(v.getData<char>(), v.getSize()));
  }
  line(text);
$}}
C++ sub show3(int a, real b, string c) ${{
  rest();
  char text[80];
  snprintf(text, sizeof text, "%d %.17g ", a, b);
  line(std::string(text) + c);
$}}
)fa";
}

}  // namespace tessera::reference
