// Arithmetic on numbers: what expressions have, for reductions, and what they have not.
#include <cmath>
#include <limits>
#include <tessera.hpp>

#include "std/check.hpp"

using tessera::Input;
using tessera::Output;
using namespace tessera::stdlib;

namespace {

// real assigns the result of a function; one that is no number is an error.
void real(Output& y, double v, const char* function, double x) {
  if (std::isnan(v) && !std::isnan(x)) {
    char text[64];
    std::snprintf(text, sizeof text, "%s of %g is no real number", function, x);
    throw tessera::KernelError(text);
  }
  y = v;
}

// As in expressions, but strings are no numbers here: they would be joined.
void require_number(const Input& x) {
  require(x.type() != tessera::abi::Type::string, shown(x) + " is a string, and a number is needed");
}

}  // namespace

extern "C" {

void tessera_std_add(const Input& a, const Input& b, Output& c) {
  require_number(a);
  require_number(b);
  c.df() = a.df() + b.df();
}
void tessera_std_subtract(const Input& a, const Input& b, Output& c) { c.df() = a.df() - b.df(); }
void tessera_std_multiply(const Input& a, const Input& b, Output& c) { c.df() = a.df() * b.df(); }
void tessera_std_divide(const Input& a, const Input& b, Output& c) { c.df() = a.df() / b.df(); }
void tessera_std_min(const Input& a, const Input& b, Output& c) {
  c.share(b.df() < a.df() ? b : a);
}
void tessera_std_max(const Input& a, const Input& b, Output& c) {
  c.share(a.df() < b.df() ? b : a);
}

void tessera_std_abs(const Input& x, Output& y) {
  if (x.type() == tessera::abi::Type::integer) {
    y = static_cast<unsigned long>(std::abs(x.get<long>()));  // more than an int holds is an error
  } else if (x.type() == tessera::abi::Type::longint) {
    const long v = x.get<long>();
    require(v != std::numeric_limits<long>::min(), "abs of the least long is no long");
    y = std::abs(v);
  } else {
    y = std::fabs(x.get<double>());
  }
}
void tessera_std_sqrt(double x, Output& y) { real(y, std::sqrt(x), "sqrt", x); }
void tessera_std_exp(double x, Output& y) { real(y, std::exp(x), "exp", x); }
void tessera_std_log(double x, Output& y) { real(y, std::log(x), "log", x); }
void tessera_std_sin(double x, Output& y) { real(y, std::sin(x), "sin", x); }
void tessera_std_cos(double x, Output& y) { real(y, std::cos(x), "cos", x); }
void tessera_std_pow(double x, double e, Output& y) { real(y, std::pow(x, e), "pow", x); }

}  // extern "C"
