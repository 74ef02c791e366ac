# Balancing quality on emulated nodes: the block matrix multiplication whose kernels sleep.

# The program of the published measurements: 10 x 10 blocks of 360 x 360, sleeping kernels.
matmul="examples/matmul/matmul.fa -D EMULATE=1"

# Published: seconds on 2 3 4 8 12 16 ranks with the central balancer, and 60.4 on one.
declare -A published=([2]=63.5 [3]=31.2 [4]=21.3 [8]=15.2 [12]=10.1 [16]=6.7)

emulated() { seconds -t 1 -D EMULATE=1 "$root/examples/matmul/matmul.fa" "$@"; }

# row LABEL RANKS WORKERS BASE FLAGS...: one line of the table.
row() {
  local label=$1 n=$2 workers=$3 base=$4 times t
  shift 4
  times=$(repeat "$row_runs" emulated -n "$n" "$@")
  t=$(median <<<"$times")
  printf '| %s | %s | %s | %s | %s | `tessera run %s -t 1 -n %s %s` |\n' "$n" "$label" \
    "$(scaled 1 %.2f <<<"$times")" "$(calc "$base / $t" | scaled 1 %.2f)" \
    "$(calc "$base / $t / $workers" | scaled 1 %.2f)" "$matmul" "$n" "$*"
}

balancing() {
  local base times n
  echo
  echo "### Balancing quality"
  echo
  times=$(repeat 3 emulated)
  base=$(median <<<"$times")
  echo "One rank: $(scaled 1 %.2f <<<"$times") s (\`tessera run $matmul -t 1\`; published 60.4 s)."
  echo "Speed-up is against it; efficiency is speed-up per rank that executes fragments (with"
  echo "\`central\` the last rank is the coordinator and executes none)."
  echo
  echo "| ranks | balancer | seconds: median (min..max) | speed-up | efficiency | command |"
  echo "|---|---|---|---|---|---|"
  for n in $ranks; do
    row_runs=1 row none "$n" "$n" "$base" --balancer none
    row_runs=$runs
    row "steal, faithful" "$n" "$n" "$base" --balancer steal --set faithful=true
    row steal "$n" "$n" "$base" --balancer steal
    row central "$n" $((n - 1)) "$base" --balancer central
    [ -z "${published[$n]:-}" ] ||
      printf '| %s | central, published | %s | %s | %s | |\n' "$n" "${published[$n]}" \
        "$(calc "60.4 / ${published[$n]}" | scaled 1 %.2f)" \
        "$(calc "60.4 / ${published[$n]} / ($n - 1)" | scaled 1 %.2f)"
  done
}
