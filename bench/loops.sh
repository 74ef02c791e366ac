# Loops: the policies for loops on the shapes of their sources, simulated.

loops() {
  local program=${BENCH_LOOPS:-$root/build/release/bench/bench_loops}
  [ -x "$program" ] || die "no $program: build it (ninja -C build/release bench_loops), or set BENCH_LOOPS"
  echo
  echo "### Loops"
  echo
  "$program"
}
