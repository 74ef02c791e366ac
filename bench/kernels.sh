# What the fragments of real kernels cost beside a plain C++ program that calls the same kernels in loops
# (bench/plain), with the same BLAS; pairs of runs, alternating.

# plain NAME ARGUMENTS...: its seconds.
plain() {
  settle
  "$work/plain-$1" "${@:2}" 2>"$work/err" || die "failed: plain-$1 ${*:2}"$'\n'"$(cat "$work/err")"
}

# runtime_folder: where libtessera.so is.
runtime_folder() {
  local lib
  for lib in "$(dirname "$tessera")/../lib" "$root/build/release/lib"; do
    [ -f "$lib/libtessera.so" ] && break
  done
  echo "$lib"
}

build_plain() {
  local lib
  lib=$(runtime_folder)
  g++ -O2 -std=c++20 -I "$root/runtime/abi" -o "$work/plain-$1" "$root/bench/plain/$1.cpp" \
    -L "$lib" -ltessera -Wl,-rpath,"$lib" -lopenblas 2>"$work/err" || die "bench/plain/$1.cpp does not compile: $(cat "$work/err")"
}

# beside_plain NAME "PLAIN ARGUMENTS" "OPTIONS OF tessera run": two rows.
beside_plain() {
  local i one two
  build_plain "$1"
  rm -f "$work"/k-*
  for ((i = 0; i < runs; i++)); do
    plain "$1" $2 >>"$work/k-plain"
    seconds -t 1 $3 "$root/examples/$1/$1.fa" >>"$work/k-one"
    seconds -t 2 $3 "$root/examples/$1/$1.fa" >>"$work/k-two"
  done
  one=$(paste "$work/k-one" "$work/k-plain" | awk '{ print $1 / $2 }' | scaled 1 '%.3f')
  two=$(paste "$work/k-two" "$work/k-plain" | awk '{ print $1 / $2 }' | scaled 1 '%.3f')
  echo "| $1, $2 | $(scaled 1 '%.3f' <"$work/k-plain") s | $one | $two | \`tessera run examples/$1/$1.fa $3 -t 1\` |"
}

kernels() {
  echo
  echo "### Real kernels beside a plain C++ program"
  echo
  echo "The program calls the same kernels in loops, without Tessera's scheduling: median (min..max) of $runs; the others are ratios of pairs."
  echo
  echo "| | plain | 1 worker / plain | 2 workers / plain | command |"
  echo "|---|---|---|---|---|"
  beside_plain matmul "7 360" "-D BLOCKS=7"
  beside_plain rowreduce "50 300000" ""
  beside_plain cholesky "12 256" "-D TILES=12 -D TILE=256"
}
