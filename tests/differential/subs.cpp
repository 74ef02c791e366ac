// Writer: whole subs.
#include "writer.hpp"

namespace tessera::differential {

std::string Writer::sub(int statements) {
  Sub s;
  s.name = "sub" + std::to_string(subs_.size());
  Visible v;
  const int count = random_.below(4);
  for (int k = 0; k < count; ++k) {
    Parameter p;
    p.way = random_.chance(50) ? Parameter::Way::value : Parameter::Way::in;
    p.kind = random_.one_of(Kinds{Kind::integer, Kind::integer, Kind::real, Kind::string});
    p.name = "p" + std::to_string(++names_);
    if (p.way == Parameter::Way::in) p.sizes = sizes();
    s.parameters.push_back(p);
  }
  s.parameters.push_back({Parameter::Way::out, "out" + std::to_string(++names_),
                          random_.one_of(Kinds{Kind::integer, Kind::integer, Kind::real, Kind::string}), sizes()});
  std::string list;
  for (const Parameter& p : s.parameters) {
    static const char* const kTypes[] = {"int", "real", "string"};
    const bool value = p.way == Parameter::Way::value;
    std::string type = value ? kTypes[static_cast<int>(p.kind)] : "name";
    if (value && p.kind == Kind::integer && random_.chance(20)) type = "long";
    if (value && random_.chance(15)) type = random_.chance(50) ? "value" : "value &";
    list += (list.empty() ? "" : ", ") + type + " " + p.name;
    if (p.way == Parameter::Way::in) v.fragments.push_back({p.name, p.kind, p.sizes, 0, 999});
    // A value comes from any expression.
    if (value && p.kind == Kind::integer) v.scalars.push_back({p.name, p.kind, -1e9, 1e9});
    if (value && p.kind == Kind::real) v.scalars.push_back({p.name, p.kind, -1e9, 1e9});
    if (value && p.kind == Kind::string) v.scalars.push_back({p.name, p.kind, 0, 0});
  }
  std::string own;
  if (random_.chance(20)) {
    s.place = "place" + std::to_string(++names_);
    own = " @ { nfparam " + s.place + "; }";
    v.scalars.push_back({s.place, Kind::integer, -1e9, 1e9});
  }
  weight_ = 1;
  cost_ = 1;
  const Parameter& out = s.parameters.back();
  const Protected kept(targets_, out.name);
  const Fragment wanted{out.name, out.kind, out.sizes, 0, 999};
  const std::string make =
      out.sizes.empty() ? produce(out.kind, out.name, v, 2) : produce_array(wanted, out.name, v, 2);
  std::string rest = body(v, statements, 1, make);
  rest.pop_back();
  s.cost = cost_;
  subs_.push_back(s);
  return "sub " + s.name + "(" + list + ") " + rest + own + "\n";
}

std::string Writer::main(const std::string& parameters, const Visible& v, int statements, const std::string& more) {
  weight_ = 1;
  std::string each = more;  // every sub is called
  for (const Sub& s : subs_) {
    if (!s.parameters.back().sizes.empty()) continue;
    Visible inner = v;
    const std::string t = name("t", inner);
    const std::string call = by_sub(s, {t, s.parameters.back().kind, {}, 0, 999}, t, inner);
    each += "if 1 " + braces(call + "show(\"" + s.name + "\", " + t + ");\n", t);
  }
  return "sub main(" + parameters + ") " + body(v, statements, 3, each);
}

std::string Writer::recursive_sub() {
  Sub s;
  s.name = "rec" + std::to_string(subs_.size());
  s.recursion = random_.between(1, 4);
  const std::string n = "n" + std::to_string(++names_);
  const std::string in = "p" + std::to_string(++names_);
  const std::string out = "out" + std::to_string(++names_);
  s.parameters = {{Parameter::Way::value, n, Kind::integer, {}},
                  {Parameter::Way::value, in, Kind::integer, {}},
                  {Parameter::Way::out, out, Kind::integer, {}}};
  Visible v;
  v.scalars = {{n, Kind::integer, -2, double(s.recursion)}, {in, Kind::integer, -1e9, 1e9}};
  weight_ = 4;
  cost_ = 0;
  const Protected kept(targets_, out + " " + n);
  const std::string base = produce(Kind::integer, out, v, 1);
  const auto again = [&](const std::string& to, int less) {
    return s.name + "(" + n + " - " + std::to_string(less) + ", " + expressions_.text(Kind::integer, v, 1) + ", " + to +
           ")" + advice(v) + ";\n";
  };
  std::vector<std::string> parts = {
      again("ra", 1), "mix(ra, rb, " + out + ")" + advice(v) + ";\n",
      random_.chance(60) ? again("rb", random_.between(1, 2)) : kernel(Kind::integer, "rb", v)};
  random_.shuffle(parts);
  s.cost = 12 * (1 << s.recursion) + cost_;
  subs_.push_back(s);
  return "sub " + s.name + "(int " + n + ", int " + in + ", name " + out + ") {\nif " + n + " <= 0 " + braces(base) +
         "if " + n + " > 0 " + braces(parts[0] + parts[1] + parts[2], "ra, rb") + "}\n";
}

}  // namespace tessera::differential
