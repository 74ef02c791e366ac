# `auto` against every other policy on drawn workloads and clusters, one half of which nobody looks at.

auto_set() {
  local program=${BENCH_AUTO_SET:-$root/build/release/bench/bench_auto_set}
  [ -x "$program" ] || die "no $program: build it (ninja -C build/release bench_auto_set), or set BENCH_AUTO_SET"
  echo
  echo "### \`auto\` on drawn workloads"
  echo
  "$program" --cases 120 --jobs "$(nproc)"
  "$program" --cases 120 --jobs "$(nproc)" --judge
}
