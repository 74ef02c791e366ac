# METG(50 %), as Task Bench defines it: the smallest granularity (time x cores / tasks) at which half of the time of
# the cores goes to the kernels of a stencil with so many points per core. The kernels' own time is that of long ones on one worker.

# metg_seconds OPTIONS... -- WIDTH STEPS ITERATIONS: of the run.
metg_seconds() { seconds "$programs/metg.fa" "$@"; }

# granularity OPTIONS... WIDTH ITERATIONS: nanoseconds of the two cores per task, median of three runs of about 0.2 s.
granularity() {
  local width=${*: -2:1} iterations=${*: -1}
  local steps
  steps=$(calc "int(2e8 / $width / (400 + 2 * $iterations))")
  calc "2e9 * $(repeat 3 metg_seconds "${@:1:$#-2}" -- "$width" "$steps" "$iterations" | median) / ($width * $steps)"
}

# metg_of NS_PER_ITERATION WIDTH OPTIONS...: nanoseconds. Granularity falls with the iterations, efficiency as well.
metg_of() {
  local ns=$1 width=$2 low=10 high=20000 i mid g
  shift 2
  for ((i = 0; i < 8; i++)); do
    mid=$(calc "int(sqrt($low * $high))")
    g=$(granularity "$@" "$width" "$mid")
    if [ "$(calc "($mid * $ns >= 0.5 * $g)")" = 1 ]; then high=$mid; else low=$mid; fi
  done
  calc "2 * $high * $ns"
}

metg() {
  local ns name options points
  echo
  echo "### METG(50 %)"
  echo
  echo "Stencil on two cores, nanoseconds: median (min..max) of $runs searches. \`tessera run bench/programs/metg.fa ... -- WIDTH STEPS ITERATIONS\`."
  echo
  echo "| | 1 point per core | 4 points per core |"
  echo "|---|---|---|"
  ns=$(calc "1e9 * $(metg_seconds -t 1 -- 8 500 20000) / (8 * 500 * 20000)")
  while read -r name options; do
    printf '| %s |' "${name//_/ }"
    for points in 1 4; do
      printf ' %s |' "$(repeat "$runs" metg_of "$ns" $((2 * points)) $options | scaled 1 '%.0f')"
    done
    echo
  done <<<"two_threads -t 2
two_ranks -n 2 -t 1 --balancer none"
}
