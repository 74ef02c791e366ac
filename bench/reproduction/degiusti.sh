# The multicluster of De Giusti et al.: loops dealt out directly, by power, or on demand; every cell of its tables.

# Its 14 columns: name of the column in the CSV, balancer, parameters.
degiusti_columns() {
  echo "ded equal"
  echo "dep predictive"
  local li cb
  for li in 0 25 50 75; do
    for cb in 1 5 10; do echo "ddd_li${li}_cb$cb demand --set first_percent=$li --set block=$cb"; done
  done
}

degiusti() {
  local n column balancer parameters line one rows=$work/degiusti.rows
  : >"$rows"
  for n in 17 18 19 20 21; do
    local loop="queens_loop:n=$n,placements=all,descents=400,weight=$degiusti_weight"
    one=
    while read -r column balancer parameters; do
      # The master of the dynamic runs is a machine of its own there; here the rank where the loop is born, which works as well.
      "$tessera" simulate -w "$loop" -c degiusti --workers 24 -b $balancer --set transfer_margin=0 $parameters --json "$work/cell.json" >/dev/null
      tr ',{}' '\n\n\n' <"$work/cell.json" | awk -F: -v n=$n -v c=$column '
        { gsub(/[" \[\]]/, "", $1); if ($1 == "seconds") s = $2; if ($1 == "work_seconds") w = $2; if ($1 == "imbalance") i = $2 }
        END { printf "%d %s %.2f %.0f %.2f\n", n, c, w / s, 100 * i, s }' >>"$rows"
    done < <(degiusti_columns)
  done
  got() { awk -v n=$1 -v c=$2 -v k=$3 '$1 == n && $2 == c { print $k }' "$rows"; }
  cat <<TEXT
## \`equal\`, \`predictive\`, \`demand\` (De Giusti et al.)

24 workers of three kinds. Their powers are not published; printed are the optimum 16, so \`1 + d + p = 2\`, and speed-ups of equal shares, which end with the slowest: p is 0.34 to 0.41
(bench/published/clusters.md). Here d = 0.627 and p = 0.373. \`-w queens_loop:n=N,placements=all -c degiusti --workers 24\`: a fragment for each of the W = N^3 placements of the first three rows, also those that are attacked
already, weighed by its subtree (Knuth's descents). Speed-ups against one fast machine, of 16; in brackets the imbalance in %. Published, then here.

| N | direct | predictive | $(for li in 0 25 50 75; do for cb in 1 5 10; do echo "Li $li, Cb $cb |"; done; done | xargs)
|---|---|---|$(printf -- '---|%.0s' {1..12})
TEXT
  for n in 17 18 19 20 21; do
    line="| $n"
    for c in $(degiusti_columns | cut -d' ' -f1); do
      local head=$c; case $c in ddd*) head=${c}_speedup ;; esac
      line+=" | $(cell degiusti-table2 $head board_n=$n) ($(cell degiusti-table1 ${c}_percent board_n=$n)), **$(got $n $c 3)** ($(got $n $c 4))"
    done
    echo "$line |"
  done
  cat <<TEXT

Table 3, times: published | here, where a fast machine alone takes as long as speed-up and time of the source say (59.9, 435, 3343, 26860 and 226660, the same from all 14 columns). No more than the speed-ups above, but cell by cell.

| N | direct | predictive | $(for li in 0 25 50 75; do for cb in 1 5 10; do echo "Li $li, Cb $cb |"; done; done | xargs)
|---|---|---|$(printf -- '---|%.0s' {1..12})
TEXT
  local alone
  for n in 17 18 19 20 21; do
    alone=$(calc "$(cell degiusti-table2 ded board_n=$n) * $(cell degiusti-table3 ded_time board_n=$n)")
    line="| $n"
    for c in $(degiusti_columns | cut -d' ' -f1); do line+=" | $(cell degiusti-table3 ${c}_time board_n=$n) \\| $(calc "$alone / $(got $n $c 3)" | xargs printf '%.2f')"; done
    echo "$line |"
  done
  # The source does not say whether placements that are attacked already are dealt out: without them.
  free() { simulated -w "queens_loop:n=$1,descents=400,weight=$degiusti_weight" -c degiusti --workers 24 -b $2 --set transfer_margin=0 | awk '{ printf "%.1f", 16 * $4 / 100 }'; }
  in_band() { # COLUMNS LOW HIGH: how many of these speed-ups are within
    awk -v want="$1" -v lo=$2 -v hi=$3 'BEGIN { k = split(want, w, " "); for (i = 1; i <= k; ++i) ok[w[i]] = 1 } ok[$2] { ++all; in_ += $3 >= lo && $3 <= hi } END { printf "%d of %d", in_, all }' "$rows"
  }
  local ordinary="ddd_li0_cb1 ddd_li0_cb5 ddd_li0_cb10 ddd_li25_cb1 ddd_li25_cb5 ddd_li50_cb1 ddd_li50_cb5"
  order() { local ok=0 n; for n in 17 18 19 20 21; do [ "$(holds "$(got $n ded 3)" "$(got $n dep 3)" "$(got $n $1 3)")" = holds ] && ok=$((ok + 1)); done; echo "$ok of 5"; }
  cat <<TEXT

- \`demand\` before \`predictive\` before \`equal\` (Li = 25, Cb = 1): $(order ddd_li25_cb1) boards.
- In the published bands: \`equal\` 8.1 to 9.8: $(in_band ded 8.0 9.9); \`predictive\` 12.8 to 14.3: $(in_band dep 12.7 14.4); \`demand\` with Li up to 50 without the outliers, 14.6 to 15.7: $(in_band "$ordinary" 14.5 15.8).
  With only the placements dealt in which no queen attacks another, \`equal\` $(for n in 17 18 19 20 21; do free $n equal; echo; done | xargs), \`predictive\` $(for n in 17 18 19 20 21; do free $n predictive; echo; done | xargs): which are dealt **decides** over \`predictive\`, for blocks of 48 meet rows of N placements.
  **What decides** for \`equal\` is p, which follows from those very figures; so only the others say something.
- Outliers at Cb = 10, with Li = 25 (N = 17, 20) and Li = 50 (all): speed-up below 14 here in $(in_band "ddd_li50_cb10" 0 14) for Li = 50. The source does not say why a block of ten, which shrinks by one with each request, should cost half; nothing in the method as it is described does.
- Li = 75 loses (11.9 to 13.9): $(in_band "ddd_li75_cb1 ddd_li75_cb5 ddd_li75_cb10" 11.8 14.0). Three quarters that are dealt by power are no more than a worker can do while powers are right and fragments alike; **what decides** is
  that here powers are the true ones. With powers of the clocks (2000 : 800 : 700, so 1 : 0.4 : 0.35) instead: $(
  simulated -w "queens_loop:n=17,placements=all,descents=400,weight=$degiusti_weight" -c degiusti --workers 24 -b demand --set transfer_margin=0 --set first_percent=75 --set block=1 --set "powers=1,1,1,1,1,1,1,1,.4,.4,.4,.4,.4,.4,.4,.4,.35,.35,.35,.35,.35,.35,.35,.35" |
    awk '{ printf "%s s, efficiency %s %%", $3, $4 }') for N = 17 and Li = 75.

TEXT
}
degiusti_weight=8ns
