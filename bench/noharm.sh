# No harm: a program whose fragments cost more to move than to run must be left alone.

# harm BALANCER PROGRAM "FLAGS" [ARGUMENTS...]: the program under `none` and under BALANCER.
harm() {
  local balancer=$1 program=$2 flags=$3 i none other ratios="" none_times="" other_times=""
  shift 3
  # Pairs in the order none, other, other, none: a drift of the machine cancels.
  for ((i = 0; i < runs; i++)); do
    if ((i % 2 == 0)); then
      none=$(seconds $flags --balancer none "$root/$program" -- "$@")
      other=$(seconds $flags --balancer "$balancer" "$root/$program" -- "$@")
    else
      other=$(seconds $flags --balancer "$balancer" "$root/$program" -- "$@")
      none=$(seconds $flags --balancer none "$root/$program" -- "$@")
    fi
    none_times+="$none"$'\n'
    other_times+="$other"$'\n'
    ratios+="$(calc "$other / $none")"$'\n'
  done
  local arguments="${*:+ -- $*}"
  echo
  echo "| | median (min..max) | command |"
  echo "|---|---|---|"
  echo "| none | $(printf %s "$none_times" | scaled 1 '%.3f') s | \`tessera run $program $flags --balancer none$arguments\` |"
  echo "| $balancer | $(printf %s "$other_times" | scaled 1 '%.3f') s | \`tessera run $program $flags --balancer $balancer$arguments\` |"
  echo "| ratio of pairs | $(printf %s "$ratios" | scaled 1 '%.3f') | |"
}

noharm() {
  echo
  echo "### No harm"
  echo
  echo "Row reduction, 50 rows of 300,000 numbers, real kernels, 4 ranks. $runs pairs of runs, alternating."
  harm central examples/rowreduce/rowreduce.fa "-n 4 -t 1"
  echo
  echo "300,000 kernels of some ns that wait for one value, 2 ranks."
  harm auto bench/programs/light.fa "-n 2 -t 1" 10 300000
}
