# Plans: what the central balancer's planner costs, and how near to the best possible it comes.

plan() {
  local program=${BENCH_PLAN:-$root/build/release/bench/bench_plan}
  [ -x "$program" ] || die "no $program: build it (ninja -C build/release bench_plan), or set BENCH_PLAN"
  settle
  echo
  echo "### Plans"
  echo
  echo "Sixteen fragments a rank, each of its own weight, or groups. Before and after: the largest finishing time by the mean load. The bound is"
  echo "that no plan finishes earlier (the mean load, the heaviest fragment). Moved: of all fragments, and of their weight. Means of 20 instances"
  echo "with 64 ranks, five with about 1,000, one above; ms is the best of five (processor time). Command: \`bench/run plan\`."
  echo
  "$program"
}
