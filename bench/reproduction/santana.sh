# DLML (Santana 2010): auctions among all, in a torus, in a tree.

# by_chance N BALANCER [MESSAGE]: seconds, lowest, median and highest, with latencies of 46 to 54 us instead of 50. MESSAGE: what one costs its host.
by_chance() {
  local us
  for us in 46 48 50 52 54; do
    of "$(simulated -w "queens:n=$1" -c "$(with santana40 '50 us' "$us us" '1 ms' "${3:-1 ms}")" -b "$2")" "$2" - 3
  done | sort -n | sed -n '1p;3p;5p' | xargs
}
# queens_on_40 N: the table of Santana's 40 cores, and which orders hold.
queens_on_40() {
  local rows b
  rows=$(simulated -w "queens:n=$1" -c santana40 -b auction,torus,tree,steal,auto)
  echo "| | time, ms | efficiency | imbalance | messages per rank | moved |"
  echo "|---|---|---|---|---|---|"
  for b in auction torus tree steal auto; do row "$rows" "$b"; done
  cat <<TEXT

- \`torus\` before \`auction\`: $(holds "$(of "$rows" torus - 3)" "$(of "$rows" auction - 3)").
- \`tree\` before \`auction\`: $(holds "$(of "$rows" tree - 3)" "$(of "$rows" auction - 3)"); before \`torus\`: $(holds "$(of "$rows" tree - 3)" "$(of "$rows" torus - 3)"). See below.
- \`torus\` spreads best (imbalance): $(holds "$(of "$rows" torus - 5)" "$(of "$rows" auction - 5)") against \`auction\`, $(holds "$(of "$rows" torus - 5)" "$(of "$rows" tree - 5)") against \`tree\`.
- our \`steal\` before all: $(holds "$(of "$rows" steal - 3)" "$(of "$rows" torus - 3)") against \`torus\`, $(holds "$(of "$rows" steal - 3)" "$(of "$rows" auction - 3)") against \`auction\`, $(holds "$(of "$rows" steal - 3)" "$(of "$rows" tree - 3)") against \`tree\`.
TEXT
  [ "$1" -le 15 ] || return 0
  local chance=()
  for b in auction torus tree steal; do chance+=($(by_chance "$1" $b)); done
  cat <<TEXT
- By chance, with latencies of 46 to 54 us, median (lowest .. highest) of five, s: \`auction\` ${chance[1]} (${chance[0]} .. ${chance[2]}), \`torus\` ${chance[4]} (${chance[3]} .. ${chance[5]}),
  \`tree\` ${chance[7]} (${chance[6]} .. ${chance[8]}), \`steal\` ${chance[10]} (${chance[9]} .. ${chance[11]}). Of the medians: \`torus\` before \`auction\` $(holds "${chance[4]}" "${chance[1]}"),
  \`tree\` before \`auction\` $(holds "${chance[7]}" "${chance[1]}"), before \`torus\` $(holds "${chance[7]}" "${chance[4]}"), \`steal\` before all $(holds "${chance[10]}" "${chance[4]}" "${chance[1]}").
TEXT
}
# spread_on_40 N: table 5.5, how unevenly items are spread over the cores of each kind of node.
spread_on_40() {
  local b mode json=$work/spread.json
  declare -A algorithm=([auction]=Global [torus]=Toroide [tree]=Árbol)
  deviation() { # FIRST LAST: of the items of these ranks, in thousands
    tr -d ' \n' <"$json" | awk -v from="$1" -v to="$2" '{ s = $0; sub(/.*"fragments":\[/, "", s); sub(/\].*/, "", s); split(s, f, ",")
      for (i = from; i <= to; ++i) { sum += f[i]; square += f[i] * f[i] }
      n = to - from + 1; m = sum / n; d = square / n - m * m; d = d > 0 ? sqrt(d) : 0; printf "%.1f (%.1f %%)", d / 1000, (m > 0 ? 100 * d / m : 0) }'
  }
  cat <<TEXT
Spread (table 5.5): standard deviation of the items explored per core, in thousands and in % of the mean, which the source does not print. Published for N = 17, here N = $1, with the source's own rules (\`faithful=true\`) and ours.

| | published, fast nodes | slow nodes | faithful, fast | slow | ours, fast | slow |
|---|---|---|---|---|---|---|
TEXT
  for b in auction torus tree; do
    local line="| \`$b\` | $(cell santana2010-table5-5 nodes_1_4_stddev_solutions_explored "algorithm=${algorithm[$b]}") | $(cell santana2010-table5-5 nodes_5_10_stddev_solutions_explored "algorithm=${algorithm[$b]}")"
    for mode in true false; do
      "$tessera" simulate -w "queens:n=$1" -c santana40 -b $b --set faithful=$mode --json "$json" >/dev/null
      line+=" | $(deviation 1 16) | $(deviation 17 40)"
    done
    echo "$line |"
  done
  echo
}

santana() {
  cat <<TEXT
## \`auction\`, \`torus\`, \`tree\` (Santana 2010)

N-Queens, all solutions, no cut-off, an item per partial placement, all born on rank 0. Published for N = 14 to 17; here N = $n. An
item goes from anywhere in a rank's list (\`ships=alternate\`): the oldest half of a depth-first list is nearly all of its work, and a rank
that gave it away had to ask again at once. That, and back-offs of milliseconds in runs of a tenth of a second, was why \`tree\` was far behind here.

\`-w queens:n=$n -c santana40\`: 40 cores, 16 fast and 24 slow. Published for N = 17: 6.42, 4.72, 4.52 minutes for global, torus, tree (N = 14:
0.062, 0.055, 0.041; N = 15: 0.219, 0.179, 0.150).

TEXT
queens_on_40 "$n"
echo
cat "$root/bench/reproduction.queens.md"
echo
spread_on_40 14
cat <<TEXT

What a message costs decides between them: the fewer neighbours, the fewer messages. The 1 ms of \`santana40\` above is chosen by what the source lost (below),
after seeing the following; the order is no finding, what it depends on is. Times in ms for N = 13, where an event and a
message each take their host so long:

| per message | \`auction\` | \`torus\` | \`tree\` | \`steal\` |
|---|---|---|---|---|
TEXT
for us in 2 10 50 200 1000 2000; do
  other=$(simulated -w queens:n=13 -c "$(with santana40 'event = "1 ms"' "event = \"$us us\"" 'send = "1 ms"' "send = \"$us us\"")" -b auction,torus,tree,steal)
  echo "| $us us |$(for b in auction torus tree steal; do awk -v x="$(of "$other" "$b" - 3)" 'BEGIN { printf " %.0f |", 1000 * x }'; done)"
done
cheap() { by_chance "$n" "$1" '50 us' | cut -d' ' -f2; }
published=$(simulated -w queens:n=14 -c santana40 -b auction,torus,tree --set faithful=true)
faithful() { awk -v x="$(of "$published" "$1" - 3)" 'BEGIN { printf "%.0f", 1000 * x }'; }
cat <<TEXT

Published efficiencies say where the source was: N = 14 to 17 have 27 million to 8 thousand million items, and N = 14 took \`tree\` 2.5 s, three times what
N = 17 took per item; \`auction\` lost 30 % even in a run of 6.4 minutes. Neither is possible with messages of a few us. With 50 us the medians of five are
$(cheap auction), $(cheap torus) and $(cheap tree) s for \`auction\`, \`torus\` and \`tree\` at N = $n: a leaf has one neighbour, so work crosses the tree by ranks that must first
run empty, and parts of it starve while others have plenty. What \`tree\` saves is messages, and no more than they cost. The
protocol as published (\`faithful = true\`) is no different: $(faithful auction), $(faithful torus) and $(faithful tree) ms for N = 14. A host's
work takes no time from its rank's threads in the simulator; on the source's cores it did.

\`-w queens:n=14 -c santana128\`: messages received per core on 128 cores. Published for N = 16: 17,897, 1,039, 2,102; both neighbour policies under a
tenth of global.

| | time, ms | efficiency | imbalance | messages per rank | moved |
|---|---|---|---|---|---|
TEXT
rows=$(simulated -w queens:n=14 -c santana128 -b auction,torus,tree,steal --json "$work/128.json")
for b in auction torus tree steal; do row "$rows" "$b"; done
tenth() { holds "$(of "$1" "$2" - 6)" "$(awk -v x="$(of "$1" auction - 6)" 'BEGIN { print x / 10 }')"; }
# shipment BALANCER: what one of its shipments brought and cost.
shipment() {
  tr ',{}' '\n\n\n' <"$work/128.json" | awk -F'"' -v b="$1" '
    $2 == "balancer" { at = $4 }
    at == b { v = $3; sub(/^[: ]*/, "", v); x[$2] = v }
    END { printf "%.1f ms of work for %.0f messages", 1e3 * x["work_seconds"] / x["shipments"], x["messages"] / x["shipments"] }'
}
dear=$(simulated -w queens:n=13 -c "$(with santana128 'event = "2 us"' 'event = "50 us"' 'send = "2 us"' 'send = "50 us"')" -b auction,torus,tree)
cat <<TEXT

Under a tenth: $(tenth "$rows" torus) for \`torus\`, $(tenth "$rows" tree) for \`tree\`. A shipment brings $(shipment auction) with \`auction\`, which finds the
longest list of all, $(shipment torus) with \`torus\`: what the best of four neighbours has is often what it has just been given. So a rank
asks many times as often, and each time of eight messages instead of 254 that saves too little. With 50 us for a message and N = 13 it asks
less often: $(of "$dear" auction - 6), $(of "$dear" torus - 6) and $(of "$dear" tree - 6) messages; $(tenth "$dear" torus) for \`torus\`, $(tenth "$dear" tree) for \`tree\`.

\`-w queens:n=13 -c santana1024 -n 8..512*2\`, ms: published, global gets worse from 64 to 128 cores on, torus gains far longer.

| cores | \`auction\` | \`torus\` | \`tree\` | \`steal\` |
|---|---|---|---|---|
TEXT
rows=$(simulated -w queens:n=13 -c santana1024 -b auction,torus,tree,steal -n '8..512*2')
more=$(simulated -w queens:n=15 -c santana1024 -b torus -n 256,512)
longer() { awk -v x="$(of "$more" torus "$1" 3)" 'BEGIN { printf "%.0f", 1000 * x }'; }
for r in 8 16 32 64 128 256 512; do
  echo "| $r |$(for b in auction torus tree steal; do awk -v x="$(of "$rows" "$b" "$r" 3)" 'BEGIN { printf " %.1f |", 1000 * x }'; done)"
done
cat <<TEXT

Global slower with 256 cores than with 128: $(holds "$(of "$rows" auction 128 3)" "$(of "$rows" auction 256 3)"). \`torus\` faster with 512 than with 256: $(holds "$(of "$rows" torus 512 3)" "$(of "$rows" torus 256 3)"). With N = 15, whose items last
until the grid is filled, \`torus\` takes $(longer 256) ms on 256 and $(longer 512) ms on 512: $(holds "$(of "$more" torus 512 3)" "$(of "$more" torus 256 3)").
\`steal\` before \`torus\`:$(for r in 8 16 32 64 128 256 512; do echo " $r $(holds "$(of "$rows" steal "$r" 3)" "$(of "$rows" torus "$r" 3)")"; done | paste -sd,).

TEXT
}
