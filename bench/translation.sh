# Translation: from a program's text to something that runs, by parts. Processor time, which other
# programs disturb less; on idle processors the parts take about as long.

# statements SHAPE N: a program of about N statements. `chain`: one body of calls. `names`: the same
# with a name declared for each. `subs`: subs of ten statements of all kinds. `deep`: 30 subs, each of 50 loops and conditions inside one another
# with calls at every level.
statements() {
  awk -v shape="$1" -v n="$2" 'BEGIN {
    print "C++ sub init(int v, name x) ${{ x = v; $}}\nC++ sub add(int a, int b, name x) ${{ x = a + b; $}}"
    print "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}"
    if (shape == "deep") {
      calls = int(n / 1500) - 2
      for (k = 0; k < 30; k++) {
        printf "sub part%d(int n, name a, name r) {\n", k
        for (d = 0; d < 50; d++) {
          e = d - d % 2
          if (d % 2 == 0) printf "for i%d = %d..n {\n", d, d
          else printf "if a[i%d] < n + %d {\n", e, d
          for (c = 0; c < calls; c++) printf "add(a[i%d], i%d + %d, r[%d][i%d][%d]);\n", e, e, c, c, e, d
        }
        for (d = 0; d < 50; d++) print "}"
        print "}"
      }
      print "sub main() {\n  df a, r;\n  for i = 0..60 init(i, a[i]);"
      for (k = 0; k < 30; k++) printf "  part%d(0, a, r[%d]);\n", k, k
      print "}"
      exit
    }
    if (shape == "subs") {
      for (k = 0; k < n / 10; k++) {
        printf "sub part%d(int n, name a, name result) {\n  df t, u, w;\n  init(n, t[0]);\n", k
        print "  for i = 1..n\n    add(t[i - 1], a[i] * 2, t[i]);\n  if a[0] > n\n    show(t[n] + a[0]);"
        print "  init(3, u[0]);\n  while u[i] < 10, i = 0 .. out w {\n    add(u[i], i, u[i + 1]);\n  }"
        print "  add(w + t[n], a[n] + 1, result) @ { locator_cyclic: n; };\n}"
      }
      print "sub main() {\n  df a, r;\n  for i = 0..20 init(i, a[i]);"
      for (k = 0; k < n / 10; k++) printf "  part%d(%d, a, r[%d]);\n", k, k % 20, k
      print "}"
      exit
    }
    printf "sub main() {\n  df x0"
    for (k = 1; shape == "names" && k < n; k++) printf ", x%d", k
    print ";\n  init(1, " (shape == "names" ? "x0" : "x0[0]") ");"
    for (k = 1; k < n; k++) {
      if (shape == "names") printf "  add(x%d, %d * 2, x%d);\n", k - 1, k, k
      else printf "  add(x0[%d], %d * 2, x0[%d]);\n", k - 1, k, k
    }
    print "}"
  }'
}

# processor COMMAND...: its processor seconds, children included.
processor() {
  local TIMEFORMAT='%3U %3S'
  { time "$@" >"$work/out" 2>"$work/err"; } 2>"$work/time" || die "failed: $*"$'\n'"$(cat "$work/err")"
  awk '{ printf "%.3f\n", $1 + $2 }' "$work/time"
}

from_nothing() {
  XDG_CACHE_HOME=$(mktemp -d -p "$work") processor "$tessera" run --quiet "$1"
}

translation() {
  local shape optimised c
  c="${CXX:-c++} -std=c++20 -fPIC -w -I $root/runtime/abi"
  echo
  echo "### Translation"
  echo
  echo "Processor seconds, median (min..max) of $runs. The programs are made by \`statements\` in bench/translation.sh."
  echo
  echo "| what | measured | target | command |"
  echo "|---|---|---|---|"
  for shape in chain names subs; do
    statements $shape 10000 >"$work/$shape.fa"
    line "10000 statements ($shape), without the C++ compiler" \
      "$(repeat "$runs" processor "$tessera" check --emit-cpp "$work/$shape.fa" | scaled 1 '%.2f') s" "1 s" \
      "tessera check --emit-cpp $shape.fa"
  done
  statements deep 12000 >"$work/deep.fa"
  line "12000 lines (deep): all, linking and running included" \
    "$(repeat "$runs" from_nothing "$work/deep.fa" | scaled 1 '%.1f') s" "40 s" "tessera run deep.fa, with an empty cache"
  for shape in chain subs; do
    statements $shape 300 >"$work/$shape.fa"
    line "300 statements ($shape): translation" \
      "$(repeat "$runs" processor "$tessera" check --emit-cpp "$work/$shape.fa" | scaled 1 '%.3f') s" "" \
      "tessera check --emit-cpp $shape.fa"
    sed '/^#include "ucenv.h"/,$d' "$work/out" >"$work/$shape.cpp"  # the kernels follow there
    for optimised in -O0 -Og -O1 -O2; do
      line "300 statements ($shape): the C++ compiler with $optimised" \
        "$(repeat "$runs" processor $c $optimised -c "$work/$shape.cpp" -o "$work/$shape.o" | scaled 1 '%.2f') s" "" \
        "c++ $optimised -c $shape.cpp"
    done
    line "300 statements ($shape): all, kernels, linking and running included" \
      "$(repeat "$runs" from_nothing "$work/$shape.fa" | scaled 1 '%.2f') s" "3 s" \
      "tessera run $shape.fa, with an empty cache"
  done
}
