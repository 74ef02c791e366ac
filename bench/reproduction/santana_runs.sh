# The runs behind the part of Santana, which take some 40 minutes of one core: `bench/reproduce queens` writes them to bench/reproduction/santana.csv.

# One cost of a message for each cluster, 1 ms (configs/clusters); a placement takes 1.2 us on a fast core, from the published time of N = 17.
queens_weight=1200ns
# dlml_runs WHAT CLUSTER CORES N ROWS MODE SEEDS ALGORITHMS: a line for each run. ROWS 0: the whole tree.
dlml_runs() {
  local what=$1 cluster=$2 cores=$3 n=$4 rows=$5 mode=$6 seeds=$7 csv=$work/runs.csv json=$work/runs.json faithful=() seed b
  [ "$mode" != faithful ] || faithful=(--set faithful=true)
  for b in $8; do
    for ((seed = 1; seed <= seeds; ++seed)); do
      "$tessera" simulate -w "queens:n=$n,rows=$rows,weight=$queens_weight,ships=oldest" -c "$cluster" -n "$cores" -b "$b" "${faithful[@]}" --seed $seed --csv "$csv" --json "$json" >/dev/null
      # Items explored by a core are what it was busy for; of a sampled tree it ran fewer.
      tr -d ' \n' <"$json" | awk -v head="$what,$cluster,$cores,$n,$rows,$mode,$b,$seed" -v weight="${queens_weight%ns}" -v row="$(tail -1 "$csv")" '
        function deviation(from, to,   i, k, x, s, q, m) {
          for (i = from; i <= to; ++i) { x = busy[i] * (i <= 16 || cores != 40 ? 1 : 0.8) * 1e9 / weight; s += x; q += x * x; ++k }
          m = s / k; return sprintf("%.0f,%.4f", sqrt(q / k - m * m > 0 ? q / k - m * m : 0), m > 0 ? sqrt(q / k - m * m > 0 ? q / k - m * m : 0) / m : 0) }
        { sub(/"[^"]*"/, "w", row); split(row, r, ","); cores = r[5]
          s = $0; sub(/.*"busy_seconds":\[/, "", s); sub(/\].*/, "", s); split(s, busy, ",")
          printf "%s,%.4f,%.4f,%.0f,%s,%s\n", head, r[7], r[10], r[13] / cores, deviation(1, cores == 40 ? 16 : cores), (cores == 40 ? deviation(17, 40) : "0,0") }'
    done
  done
}
santana_runs() {
  local all="auction torus tree" n cores
  echo "what,cluster,cores,n,rows,mode,algorithm,seed,seconds,efficiency,messages_per_core,deviation_fast,relative_fast,deviation_slow,relative_slow"
  for n in 14 15 16 17 18 19; do
    local seeds=5; [ $n -lt 16 ] || seeds=3; [ $n -lt 18 ] || seeds=1
    dlml_runs time santana40 40 $n 6 faithful $seeds "$all"
    dlml_runs time santana40 40 $n 6 ours $seeds "$all steal"
  done
  for n in 16 17; do
    dlml_runs messages aitzaloa 128 $n 6 faithful 1 "$all"
    dlml_runs messages aitzaloa 128 $n 6 ours 1 "$all steal"
    for cores in 8 16 32 64 256 512; do dlml_runs cores aitzaloa $cores $n 5 faithful 1 "$([ $cores = 512 ] && [ $n = 17 ] && echo torus tree || echo "$all")"; done
    dlml_runs cores aitzaloa 128 $n 5 faithful 1 "$all"
    dlml_runs cores aitzaloa 1024 $n 5 faithful 1 "torus tree"
  done
  for n in 14 15 16; do dlml_runs whole santana40 40 $n 0 faithful 1 "$all"; done
}
