# LAMGAC (Sanchez 2006): a master that hands out the units of each iteration, on its own clusters (configs/clusters/lamgac-*.toml).

# Its applications: name, cluster, and how lamgac.awk makes them. Printed are sizes, iterations, links, and a few times; from those follow 150 us for a row of 5,000 products and the work of the last two.
sanchez_applications() {
  cat <<'APPLICATIONS'
matrix-vector|ch4|units=500 iterations=20 work=30000 fresh=4000 shared=8 result=4
matrix-matrix A|c2|units=1000 iterations=100 work=150000 fresh=20000 shared=20000 result=4
matrix-matrix B|c2|units=1000 iterations=100 work=150000 before=20000000 shared=20000 result=4
matrix-matrix C|c2|units=1000 iterations=100 work=150000 kept=20000 shared=20000 result=4
Jacobi|c2|units=1000 iterations=10 work=150000 fresh=4000 shared=4000 result=4
GACSYS|c1|units=200 iterations=10 work=580000000 fresh=100 shared=100 result=8
GACSYS|c2|units=200 iterations=10 work=580000000 fresh=100 shared=100 result=8
infrared|c1|units=344 iterations=170 work=21000000 shared=13760 result=40
infrared|c2|units=344 iterations=170 work=21000000 shared=13760 result=40
APPLICATIONS
}
# lamgac_trace FILE PARAMETERS [SHARES]
lamgac_trace() { awk $(printf -- '-v %s ' $2) -v shares="${3:-}" -f "$root/bench/reproduction/lamgac.awk" >"$1"; }
# lamgac_shares CLUSTER PARAMETERS equal|balanced: units of each worker, the master has none. Balanced as the source's rates come to be: all end together, each with its way and its work, on a line that all
# workers of its kind share; nobody gets less than none.
lamgac_shares() {
  awk -v how=$3 -v parameters="$2" '
    BEGIN { n = split(parameters, p, " "); for (i = 1; i <= n; ++i) { split(p[i], kv, "="); v[kv[1]] = kv[2] } }
    $1 == "speed" { speed[++k] = $3 }
    $1 == "hosts" { gsub(/[^0-9,]/, ""); split($0, h, ",") }
    function done_by(T,   r, s) { for (r = 2; r <= k; ++r) { n_of[r] = T > first[r] ? (T - first[r]) / each[r] : 0; s += n_of[r] } return s }
    END {
      for (r = 2; r <= k; ++r) { second = r > h[1] ? h[2] / 5e6 : (h[1] - 1) / 1e8
        first[r] = how == "equal" ? 0 : 8 * v["shared"] * second
        each[r] = how == "equal" ? 1 : v["work"] * 1e-9 / speed[r] + 8 * v["fresh"] * second }
      low = 0; high = 1e6
      for (i = 0; i < 100; ++i) { T = (low + high) / 2; if (done_by(T) < v["units"]) low = T; else high = T }
      done_by(high); left = v["units"]
      for (r = 2; r <= k; ++r) { x = r == k ? left : int(n_of[r] + 0.5); left -= x; printf "%s%d", (r > 2 ? "," : ""), x }
    }' "configs/clusters/lamgac-$1.toml"
}
lamgac_seconds() { of "$(simulated -w "$1" -c "lamgac-$2" -b "$3" ${4:-})" "$3" - 3; } # TRACE CLUSTER BALANCER [SETTINGS]

# Iteration by iteration, as our balancer deals them: mean times between the events that the source has (infrared, figure 5.37).
lamgac_joins() {
  local trace=$work/joins.trace file=$work/joins.toml at event
  lamgac_trace "$trace" "$(sanchez_applications | awk -F'|' '$1 == "infrared" && $2 == "c1" { print $3 }')"
  iteration_ends() { awk '$1 == "f" && $3 == 1 { master[$2] } $1 == "t" && $2 in master { print $5 / 1e9 }' "$1" | sort -g; }
  dealt() { "$tessera" simulate -w "$trace" -c "$file" -b proportional --set transfer_margin=0 --record "$work/joins.record" >/dev/null; }
  cp configs/clusters/lamgac-c1.toml "$file"
  # When an iteration begins is seen from the run with the events before it.
  printf '\n[[join]]\nrank = 7\nat = "100000 s"\n' >>"$file"
  for event in 75:join:7 100:leave:5 151:leave:7; do
    dealt
    at=$(iteration_ends "$work/joins.record" | sed -n "$((${event%%:*} + 1))p")
    sed -i '/100000 s/s/.*/at = "'"$at"' s"/' "$file"
    [ "${event#*:}" = join:7 ] || printf '\n[[leave]]\nrank = %s\nat = "%s s"\ngrace = "10 ms"\n' "${event##*:}" "$at" >>"$file"
  done
  dealt
  iteration_ends "$work/joins.record" | awk '
    { if (NR > 1) took[NR - 1] = $1 - last; last = $1 }
    function mean(a, b,   i, s) { for (i = a; i <= b; ++i) s += took[i]; return s / (b - a + 1) }
    END { printf "%.2f %.2f %.2f %.2f %d", mean(3, 74), mean(78, 99), mean(104, 150), mean(155, 170), NR - 2 }'
}

sanchez() {
  cat <<TEXT
## \`proportional\` (Sanchez 2006)

Its clusters of chapters 4 and 5, \`-c lamgac-ch4\`, \`lamgac-c1\`, \`lamgac-c2\`: links and processors as printed, the access point shared by the portables, speeds assumed (printed nowhere). Its applications as traces (bench/reproduction/lamgac.awk): units, bytes and
iterations as printed, work such that what is printed follows. *Sequential* is the program on the master alone, *equal* and *LAMGAC* hand all units to the workers, equally or in proportion to what a unit takes with its way (the master of the source works not). *Ours* may use the master, too:
\`proportional\` deals without asking whether it pays (\`transfer_margin=0\`), \`auto\` asks. Seconds.

| application | group | sequential, master | on the 450 MHz | equal | LAMGAC | equal / LAMGAC | shares of LAMGAC | \`proportional\` | \`auto\` |
|---|---|---|---|---|---|---|---|---|---|
TEXT
  local name cluster parameters equal shares t=$work/lamgac.trace e l s
  declare -A got
  while IFS='|' read -r name cluster parameters; do
    equal=$(lamgac_shares $cluster "$parameters" equal) shares=$(lamgac_shares $cluster "$parameters" balanced)
    lamgac_trace "$t" "$parameters" "$equal"; e=$(lamgac_seconds "$t" $cluster none)
    lamgac_trace "$t" "$parameters" "$shares"; l=$(lamgac_seconds "$t" $cluster none)
    lamgac_trace "$t" "$(sed 's/before=[0-9]*//' <<<"$parameters")"; s=$(lamgac_seconds "$t" $cluster none)
    got["$name $cluster s"]=$s got["$name $cluster e"]=$e got["$name $cluster l"]=$l got["$name $cluster shares"]=$shares
    echo "| $name | $cluster | $(round $s) | $(calc "$s / 0.22" | xargs printf '%.2f') | $(round $e) | $(round $l) | $(calc "$e / $l" | xargs printf '%.1f') | $shares | $(round "$(lamgac_seconds "$t" $cluster proportional "--set transfer_margin=0")") | $(round "$(lamgac_seconds "$t" $cluster auto)") |"
  done < <(sanchez_applications)
  local slow; slow=$(calc "${got[matrix-matrix C c2 s]} / 0.22")
  set -- $(lamgac_joins)
  cat <<TEXT

- Matrix-vector: published about 5 times less than equal shares, 6.5 s with 500 rows: here $(calc "${got[matrix-vector ch4 e]} / ${got[matrix-vector ch4 l]}" | xargs printf '%.1f') times, $(round "${got[matrix-vector ch4 l]}") s. The two portables held 24 of 500 rows: here ${got[matrix-vector ch4 shares]} (of CF1, CF2, CP1, CP2). Sequential much faster than all: $(holds "${got[matrix-vector ch4 s]}" "${got[matrix-vector ch4 l]}").
- Matrix-matrix A: published 520, 420, 30, 30 rows of the first iteration: here ${got[matrix-matrix A c2 shares]}. B about 76 s, 69 of which send A to the portables: $(round "${got[matrix-matrix B c2 l]}" 1) s, $(near "${got[matrix-matrix B c2 l]}" 76 0.1). A is least efficient, C best: $(holds "${got[matrix-matrix C c2 l]}" "${got[matrix-matrix B c2 l]}" "${got[matrix-matrix A c2 l]}").
  Balanced before equal for A, B, C: $(for v in A B C; do holds "${got[matrix-matrix $v c2 l]}" "${got[matrix-matrix $v c2 e]}"; done | xargs). Sequential on the master before all: $(holds "${got[matrix-matrix C c2 s]}" "${got[matrix-matrix C c2 l]}"); on the 450 MHz before B $(holds "$slow" "${got[matrix-matrix B c2 l]}"), not before C $(holds "${got[matrix-matrix C c2 l]}" "$slow").
- Jacobi: sequential before parallel: $(holds "${got[Jacobi c2 s]}" "${got[Jacobi c2 l]}"); balanced before equal: $(holds "${got[Jacobi c2 l]}" "${got[Jacobi c2 e]}"). About 20 s follow from the printed overheads: $(near "${got[Jacobi c2 l]}" 20 0.25).
- GACSYS: sequential after parallel, but before equal shares on C2: $(holds "${got[GACSYS c1 l]}" "${got[GACSYS c1 s]}"), $(holds "${got[GACSYS c1 e]}" "${got[GACSYS c1 s]}"), $(holds "${got[GACSYS c2 s]}" "${got[GACSYS c2 e]}"). Work chosen for the 211 s that follow from the overheads.
- Infrared: sequential after balanced: $(holds "${got[infrared c1 l]}" "${got[infrared c1 s]}"); on the fastest before equal shares, C1 $(holds "${got[infrared c1 s]}" "${got[infrared c1 e]}"), C2 $(holds "${got[infrared c2 s]}" "${got[infrared c2 e]}"); on the slowest before equal shares on C2: $(holds "$(calc "${got[infrared c2 s]} / 0.22")" "${got[infrared c2 e]}").
  **What decides** is what iterations send, of which nothing is printed: where they only compute, a quarter of the cells on the slowest can't take longer than all of them.
- Joins and leaves (infrared, figure 5.37, \`proportional\`): CP3 joins at iteration 75, CP1 leaves at 100, CP3 at 151. Mean of an iteration before, between and after these: $1, $2, $3 and $4 s. Faster after the join, slower after each leave, as published: $(holds $2 $1), $(holds $2 $3), $(holds $3 $4).
  What a lost computer had is done again there, in an iteration more (101 and 152); here fragments that a rank has not run are handed on, so there are $5 iterations. The other three applications lose theirs in the same way.
- What dealing costs: the source's \`LAMGAC_Balance()\` grows by 0.5 ms from 2 to 20 processes, and its control threads take up to 1.5 % (Jacobi), 0.19 (GACSYS), 1.1 (infrared). Not measured here with 20 processes; \`bench/run loops\` has the simulated cost of an iteration (one message and one shipment for each worker).

TEXT
}
