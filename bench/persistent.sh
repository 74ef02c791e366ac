# The same imbalance in each of 400 steps: 64 parts on two ranks, those of the first take four times as
# long. Ideal is half of what one worker takes.

# persistent_row ITERATIONS NAME OPTIONS...
persistent_row() {
  local iterations=$1 name=$2 i
  shift 2
  rm -f "$work"/p-*
  for ((i = 0; i < runs; i++)); do
    seconds -t 1 "$programs/persistent.fa" -- 64 400 "$iterations" >>"$work/p-one"
    seconds "$@" "$programs/persistent.fa" -- 64 400 "$iterations" >>"$work/p-two"
  done
  echo "| $name | $(awk '{ print $1 / 800 * 1e6 }' "$work/p-one" | scaled 1 '%.0f') us | $(paste "$work/p-two" "$work/p-one" |
    awk '{ print 2 * $1 / $2 }' | scaled 1 '%.2f') | \`tessera run bench/programs/persistent.fa $* -- 64 400 $iterations\` |"
}

persistent() {
  local iterations b
  echo
  echo "### The same imbalance in each step"
  echo
  echo "Two ranks on two cores, 400 steps, time as a multiple of the ideal; pairs of runs, median (min..max) of $runs."
  echo
  echo "| balancer | ideal step | time / ideal | command |"
  echo "|---|---|---|---|"
  for iterations in 13800 1380; do
    for b in none steal torus auto; do
      persistent_row "$iterations" "$b" -n 2 -t 1 --balancer "$b"
    done
    persistent_row "$iterations" "none, one rank of two workers" -t 2
  done
}
