# No harm: a program whose fragments cost more to move than to run must be left alone.

noharm() {
  local program="$root/examples/rowreduce/rowreduce.fa" flags="-n 4 -t 1" i none central ratios=""
  local none_times="" central_times=""
  # Pairs in the order none, central, central, none: a drift of the machine cancels.
  for ((i = 0; i < runs; i++)); do
    if ((i % 2 == 0)); then
      none=$(seconds $flags --balancer none "$program")
      central=$(seconds $flags --balancer central "$program")
    else
      central=$(seconds $flags --balancer central "$program")
      none=$(seconds $flags --balancer none "$program")
    fi
    none_times+="$none"$'\n'
    central_times+="$central"$'\n'
    ratios+="$(calc "$central / $none")"$'\n'
  done
  echo
  echo "### No harm"
  echo
  echo "Row reduction, 50 rows of 300,000 numbers, real kernels, 4 ranks. $runs pairs of runs, alternating."
  echo
  echo "| | median (min..max) | command |"
  echo "|---|---|---|"
  echo "| none | $(printf %s "$none_times" | scaled 1 '%.3f') s | \`tessera run examples/rowreduce/rowreduce.fa $flags --balancer none\` |"
  echo "| central | $(printf %s "$central_times" | scaled 1 '%.3f') s | \`tessera run examples/rowreduce/rowreduce.fa $flags --balancer central\` |"
  echo "| ratio of pairs | $(printf %s "$ratios" | scaled 1 '%.3f') | |"
}
