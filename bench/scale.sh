# Scale: how many workers coordinators look after, simulated.

scale() {
  local program=${BENCH_SCALE:-$root/build/release/bench/bench_scale}
  [ -x "$program" ] || die "no $program: build it (ninja -C build/release bench_scale), or set BENCH_SCALE"
  echo
  echo "### Scale"
  echo
  echo "Simulated. Every worker begins with a random number of fragments, some stretches of 64 with three times as many;"
  echo "messages and events cost their host 1 us, a plan 1 us per worker it is about; links of 5 us and 5 GB/s."
  echo "Efficiency is work over workers over time (the coordinators not counted). Command: \`bench/run scale\`."
  echo
  "$program"
}
