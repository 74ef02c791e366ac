// Values of any kind: given, copied, printed.
#include <cctype>
#include <cstdio>
#include <tessera.hpp>

#include "std/matrix.hpp"

using tessera::Input;
using tessera::Output;
using namespace tessera::stdlib;

namespace {

// A printf format with one conversion, checked against what it is to show.
class Format {
 public:
  explicit Format(const char* format) : format_(format) {
    for (std::size_t k = 0; k < format_.size(); ++k) {
      if (format_[k] != '%') continue;
      if (format_[k + 1] == '%') {
        ++k;
        continue;
      }
      const std::size_t from = k++;
      while (format_[k] != 0 &&
             std::string_view("-+ #0.").find(format_[k]) != std::string_view::npos)
        ++k;
      while (std::isdigit(static_cast<unsigned char>(format_[k])) != 0 || format_[k] == '.') ++k;
      const char c = format_[k];
      require(c != 0 && std::string_view("diouxXcfFeEgGaAs").find(c) != std::string_view::npos,
              "the format \"" + format_ + "\": `" + format_.substr(from, k - from + 1) +
                  "` is none of %d %x %c %f %e %g %s and the like");
      require(conversion_ == 0,
              "the format \"" + format_ + "\" has two conversions; it shows one value");
      conversion_ = c;
      at_ = k;
    }
    require(conversion_ != 0,
            "the format \"" + format_ + "\" has no conversion, such as %d, %g or %s");
  }

  void add(std::string& text, int v) const {
    if (is("fFeEgGaA")) return add(text, static_cast<double>(v));
    require(is("diouxXc"), wrong("an int", "%d"));
    put(text, v);
  }
  void add(std::string& text, long v) const {
    if (v == static_cast<int>(v)) return add(text, static_cast<int>(v));
    if (is("fFeEgGaA")) return add(text, static_cast<double>(v));
    require(is("dioxXu"), wrong("a long", "%d"));
    Format wide = *this;  // %d is for 32 bits
    wide.format_.insert(at_, "l");
    wide.put(text, v);
  }
  void add(std::string& text, double v) const {
    require(is("fFeEgGaA"), wrong("a real", "%g"));
    put(text, v);
  }
  void add(std::string& text, const std::string& v) const {
    require(is("s"), wrong("a string", "%s"));
    put(text, v.c_str());
  }

 private:
  bool is(std::string_view letters) const {
    return letters.find(conversion_) != std::string_view::npos;
  }
  std::string wrong(const char* type, const char* instead) const {
    return "the format \"" + format_ + "\" is for something else than " + type + ", which " +
           instead + " shows";
  }
  template <class T>
  void put(std::string& text, T v) const {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int n = std::snprintf(nullptr, 0, format_.c_str(), v);
    require(n >= 0, "the format \"" + format_ + "\" can't be used");
    const std::size_t from = text.size();
    text.resize(from + static_cast<std::size_t>(n) + 1);
    std::snprintf(text.data() + from, static_cast<std::size_t>(n) + 1, format_.c_str(), v);
#pragma GCC diagnostic pop
    text.pop_back();
  }

  std::string format_;
  char conversion_ = 0;
  std::size_t at_ = 0;  // where it stands
};

void add_row(std::string& text, const Format& format, std::span<const double> row) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (k > 0) text += ' ';
    format.add(text, row[k]);
  }
  text += '\n';
}

// lines is what `print` shows: a number or a string on a line, a vector on one, a matrix by rows.
// Without a format, %d, %g or %s.
std::string lines(const char* format, const Input& v) {
  std::string text;
  const auto chosen = [&](const char* usual) { return Format(format == nullptr ? usual : format); };
  switch (v.type()) {
    case tessera::abi::Type::integer:
      chosen("%d").add(text, v.get<int>());
      break;
    case tessera::abi::Type::longint:
      chosen("%d").add(text, v.get<long>());
      break;
    case tessera::abi::Type::real:
      chosen("%g").add(text, v.get<double>());
      break;
    case tessera::abi::Type::string:
      if (format == nullptr) {
        text = v.get<std::string>();
      } else {
        Format(format).add(text, v.get<std::string>());
      }
      break;
    default: {
      const Format each = chosen("%g");
      if (!is_matrix(v)) {
        add_row(text, each, v.span<double>());
        return text;
      }
      const auto m = matrix(v);
      for (int i = 0; i < m.rows; ++i) add_row(text, each, m.row(i));
      return text;
    }
  }
  return text + '\n';
}

// One call, so that lines of other fragments do not come between.
void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

extern "C" {

void tessera_std_set(const Input& v, Output& x) { x.share(v); }
void tessera_std_print(const Input& v) { write(lines(nullptr, v)); }
void tessera_std_print_format(const char* format, const Input& v) { write(lines(format, v)); }
void tessera_std_lines(const char* format, const Input& v, Output& text) {
  text = lines(format, v);
}
void tessera_std_write(const Input& text) { write(text.get<std::string_view>()); }

}  // extern "C"
