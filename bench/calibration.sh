# The simulator against live runs on emulated ranks: each run is recorded, and its trace simulated under the same
# balancer on as many ranks. Writes docs/calibration.md.

calibration_ranks="2 4 8"
calibration_balancers="central steal torus"
calibration_seeds="1 2 3 4 5"
declare -A calibration_workloads=(
  [matmul]="-D EMULATE=1 -D BLOCKS=6 examples/matmul/matmul.fa"
  [loop]="-D FRAGMENTS=300 -D STEP=150 examples/imbalance/imbalance.fa"
  [tree]="-D DEPTH=6 bench/programs/tree.fa"
  [pipes]="bench/programs/pipes.fa"
  [inout]="bench/programs/inout.fa"
  [parts]="bench/programs/parts.fa"
  [wave]="bench/programs/wave.fa"
  [merge]="bench/programs/merge.fa"
  [short]="-D CHAINS=12 -D LINKS=60 -D BYTES=200000 -D US=3000 bench/programs/pipes.fa"
  [large]="-D ITEMS=120 -D BYTES=4000000 -D US=20000 bench/programs/inout.fa"
)
# Programs that move data; the simulator was mended by the first of them, and never by the others.
calibration_data="pipes inout parts wave merge short large"
calibration_data_balancers="steal auto"

# live_and_simulated WORKLOAD RANKS BALANCER: one run, as a line `live seconds moved`, and a line `simulated seconds
# moved` of its trace for each seed.
live_and_simulated() {
  local seed words
  read -ra words <<<"${calibration_workloads[$1]}"
  settle
  quiet -t 1 -n "$2" --balancer "$3" --record "$work/run.trace" --summary "$work/summary.json" "${words[@]}"
  echo "live $(field seconds) $(total moved_out | cut -d. -f1)"
  for seed in $calibration_seeds; do
    "$tessera" simulate -w "$work/run.trace" -c emulated -n "$2" -b "$3" --seed "$seed" --json "$work/simulated.json" \
      >"$work/out" || die "failed: tessera simulate of $1 on $2 ranks under $3"
    awk -F'[:,]' '/^ *"seconds":/ { s = $2 } /^ *"moved":/ && m == "" { m = $2 } END { print "simulated", s, m }' "$work/simulated.json"
  done
}

# of_column WHAT COLUMN: those numbers, one per line.
of_column() { awk -v w="$1" -v k="$2" '$1 == w { print $k }'; }
extremes() { sort -g | sed -n '1p;$p' | paste -sd' ' | sed 's/ /../'; }

calibrated_row() {
  local all
  all=$(repeat "$runs" live_and_simulated "$@")
  awk -v what="$1 | $2 | \`$3\`" \
    -v l="$(of_column live 2 <<<"$all" | median)" -v s="$(of_column simulated 2 <<<"$all" | median)" \
    -v lm="$(of_column live 3 <<<"$all" | median)" -v sm="$(of_column simulated 3 <<<"$all" | median)" \
    -v live_range="$(of_column live 3 <<<"$all" | extremes)" -v range="$(of_column simulated 3 <<<"$all" | extremes)" '
    BEGIN {
      moved = lm > 0 ? sprintf("%.2f", sm / lm) : sm == 0 ? "1.00" : "-"
      time_in = s / l >= 0.9 && s / l <= 1.1 ? "yes" : "**no**"
      split(live_range, live, /[.][.]/)
      among = sm >= live[1] && sm <= live[2]
      moved_in = moved != "-" && moved >= 0.8 && moved <= 1.2 ? "yes" : among ? "among live runs" : "**no**"
      printf "| %s | %.3f | %.3f | %.3f | %s | %d (%s) | %d (%s) | %s | %s |\n", what, l, s, s / l, time_in, lm, live_range, sm,
        range, moved, moved_in
    }'
}

calibration_rows() {
  local w n b
  for w in matmul loop tree; do
    for n in $calibration_ranks; do
      for b in $calibration_balancers; do calibrated_row "$w" "$n" "$b"; done
    done
  done
}

data_rows() {
  local w b
  for w in $calibration_data; do
    for b in $calibration_data_balancers; do calibrated_row "$w" 4 "$b"; done
  done
}

calibration_table() {
  echo "| workload | ranks | balancer | live, s | simulated, s | ratio | within 10 % | moved live | moved simulated | ratio | within 20 % |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|"
  echo "$1"
}

# The second table of docs/calibration.md alone: some minutes.
calibrate_data() {
  local rows
  cd "$root"
  rows=$(data_rows)
  echo
  echo "### Simulated against live: programs that move data"
  echo
  calibration_table "$rows"
  echo
  echo "Makespans within 10 %: $(within 8 <<<"$rows") rows."
}

# within K [WHAT]: how many rows have WHAT (yes) in column K, of how many.
within() { awk -F'|' -v k="$1" -v what="${2:-yes}" '$k ~ what { n++ } END { printf "%d of %d", n, NR }'; }

calibrate() {
  local rows data page=$root/docs/calibration.md
  cd "$root"
  rows=$(calibration_rows)
  data=$(data_rows)
  {
    cat "$root/bench/calibration.head.md"
    printf '\n%s\n%s runs were started although other programs were using the processors.\n\n' "$(machine)" "$(disturbed)"
    echo "Makespans within 10 %: $(within 8 <<<"$rows") rows. Moved fragments within 20 %: $(within 12 <<<"$rows") rows;"
    echo "the simulated median among the live runs though not within 20 % of theirs: $(within 12 among <<<"$rows")."
    echo
    calibration_table "$rows"
    printf '\n%s\n\n' "Programs that move data, on 4 ranks: makespans within 10 %: $(within 8 <<<"$data") rows (\`bench/run calibrate_data\`)."
    calibration_table "$data"
    cat "$root/bench/calibration.tail.md"
  } >"$work/calibration.md"
  mv "$work/calibration.md" "$page"
  echo "docs/calibration.md: makespans within 10 %: $(within 8 <<<"$rows") rows, moved fragments within 20 %: $(within 12 <<<"$rows") rows"
}
