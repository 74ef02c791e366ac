# What a kernel file costs the C++ compiler, by the header that it includes.

header_source() {
  case $1 in
    nothing) echo 'extern "C" void f(int) {}' ;;
    ucenv.h)
      echo '#include "ucenv.h"'
      echo 'extern "C" void f(const InputDF &x, OutputDF &y) { y = x.get_int() + 1; }'
      ;;
    tessera.hpp)
      echo '#include <tessera.hpp>'
      echo 'extern "C" void f(const tessera::Input &x, tessera::Output &y) { y = x.get<int>() + 1; }'
      ;;
    tessera/cereal.hpp)
      echo '#include <tessera/cereal.hpp>'
      echo 'struct T { std::vector<int> v; template <class A> void serialize(A &a) { a(v); } };'
      echo 'extern "C" void f(const tessera::Input &x, tessera::Output &y) { y = x.get<T>(); }'
      ;;
  esac >"$work/kernels.cpp"
}

# The file compiled as `tessera` does it, but for precompiled headers.
header_plain() {
  wall c++ -std=c++20 -fPIC -O2 -g -I "$root/runtime/abi" -c "$work/kernels.cpp" -o "$work/kernels.o"
}

# With `tessera build`, the program itself being compiled already: kernels, check and link.
header_build() {
  echo "// $RANDOM$RANDOM" >>"$work/kernels.cpp"
  XDG_CACHE_HOME=$work/cache wall "$tessera" build -q "$work/program.fa" -o "$work/program"
}

headers() {
  printf '\n| a kernel file that includes | compiler alone, s | `tessera build` after a change, s |\n|---|---|---|\n'
  local header
  for header in nothing ucenv.h tessera.hpp tessera/cereal.hpp; do
    header_source "$header"
    if [ "$header" = nothing ]; then
      echo 'import f(int) as f; sub main() { f(1); }'
    else
      echo 'import f(value, name) as f; C++ sub one(name x) ${{ x = 1; $}} sub main() { df x, y; one(x); f(x, y); }'
    fi >"$work/program.fa"
    printf '| `%s` | %s | %s |\n' "$header" "$(repeat "$runs" header_plain | scaled 1 %.2f)" \
      "$(repeat "$runs" header_build | scaled 1 %.2f)"
  done
}
