# Plans: what the central balancer's planner costs, and how near to the best possible it comes.

plan() {
  local program=${BENCH_PLAN:-$root/build/release/bench/bench_plan}
  [ -x "$program" ] || die "no $program: build it (ninja -C build/release bench_plan), or set BENCH_PLAN"
  settle
  echo
  echo "### Plans"
  echo
  echo "Best of nine (processor time). Finish is the largest finishing time after the plan; the bound is that no plan"
  echo "finishes earlier (the mean load, the heaviest fragment). Command: \`bench/run plan\`."
  echo
  "$program"
}
