# DLML (Santana 2010): auctions among all, in a torus, in a tree. The long runs are kept in santana.csv (santana_runs.sh); what is short is run here.

runs=$root/bench/reproduction/santana.csv
# ran WHAT CORES N ROWS MODE ALGORITHM COLUMN: the median over its seeds.
ran() {
  awk -F, -v what=$1 -v cores=$2 -v n=$3 -v rows=$4 -v mode=$5 -v algorithm=$6 -v column=$7 '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i }
    $1 == what && $3 == cores && $4 == n && $5 == rows && $6 == mode && $7 == algorithm { print $at }' "$runs" | sort -g | awk '{ x[NR] = $1 } END { if (NR) print x[int((NR + 1) / 2)] }'
}
minutes() { awk -v s="$(ran time 40 $1 6 $2 $3 seconds)" 'BEGIN { m = s / 60; printf (m < 1 ? "%.4f" : m < 100 ? "%.2f" : "%.1f"), m }'; }
seconds_of() { ran "$1" "$2" "$3" "$4" faithful "$5" seconds; }
# shown SECONDS: three figures, or a dash.
shown() { [ -n "$1" ] && awk -v x="$1" 'BEGIN { printf (x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f"), x }' || printf -- -; }
smallest() { local best= least= a; for a in auction torus tree; do local s; s=$(ran "$1" "$2" "$3" "$4" faithful $a seconds); if [ -z "$least" ] || awk "BEGIN { exit !($s < $least) }"; then least=$s best=$a; fi; done; echo $best; }

santana_times() {
  local n a line column
  cat <<TEXT
### Response times on 40 cores (table 5.4)

Minutes, published | faithful | ours; our \`steal\` beside them.

| N | global | torus | tree | \`steal\` | least: published, here |
|---|---|---|---|---|---|
TEXT
  for n in 14 15 16 17 18 19; do
    line="| $n"
    for a in auction:global_min torus:torus_min tree:binary_tree_min; do
      line+=" | $(cell santana2010-table5-4 ${a#*:} board_n=$n) \\| $(minutes $n faithful ${a%:*}) \\| $(minutes $n ours ${a%:*})"
    done
    echo "$line | $(minutes $n ours steal) | $([ $n -lt 18 ] && echo tree || echo torus), $(smallest time 40 $n 6) |"
  done
  orders() { local n out=; for n in 14 15 16 17 18 19; do out+=" $n $(holds "$(seconds_of time 40 $n 6 $1)" "$(seconds_of time 40 $n 6 $2)"),"; done; echo "${out%,}"; }
  cat <<TEXT

- Torus before global:$(orders torus auction). Tree before global:$(orders tree auction). Tree before torus:$(orders tree torus) (published up to 17).
- Global loses against the best $(calc "100 * ($(seconds_of time 40 14 6 auction) / $(seconds_of time 40 14 6 torus) - 1)" | xargs printf '%.0f') % for N = 14 and $(calc "100 * ($(seconds_of time 40 19 6 auction) / $(seconds_of time 40 19 6 torus) - 1)" | xargs printf '%.2f') % for N = 19; published 52 and 4 %. That it loses ever less, holds; the published loss
  stays large where runs last for minutes and more: its auctions must have been more than ours, see the messages below.
- Sampled trees against whole ones, faithful, seconds whole (sampled): $(for n in 14 15 16; do for a in auction torus tree; do printf '%s N = %s %s (%s); ' $a $n "$(shown "$(ran whole 40 $n 0 faithful $a seconds)")" "$(shown "$(ran time 40 $n 6 faithful $a seconds)")"; done; done)

TEXT
}
santana_spread() {
  local a line
  declare -A algorithm=([auction]=Global [torus]=Toroide [tree]=Árbol)
  cat <<TEXT
### Spread (table 5.5)

Standard deviation of the items explored by a core, N = 17, in thousands; here in brackets in % of the mean, which the source does not print.

| | published, fast nodes | slow nodes | faithful, fast | slow | ours, fast | slow |
|---|---|---|---|---|---|---|
TEXT
  for a in auction torus tree; do
    line="| \`$a\`"
    for column in nodes_1_4 nodes_5_10; do line+=" | $(calc "$(cell santana2010-table5-5 ${column}_stddev_solutions_explored "algorithm=${algorithm[$a]}") / 1000" | xargs printf '%.0f')"; done
    for mode in faithful ours; do for kind in fast slow; do
      line+=" | $(calc "$(ran time 40 17 6 $mode $a deviation_$kind) / 1000" | xargs printf '%.0f') ($(calc "100 * $(ran time 40 17 6 $mode $a relative_$kind)" | xargs printf '%.2f') %)"
    done; done
    echo "$line |"
  done
  d() { ran time 40 17 6 faithful $1 deviation_$2; }
  cat <<TEXT

Torus spreads best: fast $(holds "$(d torus fast)" "$(d auction fast)"), slow $(holds "$(d torus slow)" "$(d auction slow)"). Fast nodes more uneven than slow ones: $(for a in auction torus tree; do holds "$(d $a slow)" "$(d $a fast)"; done | xargs). Tree between the two: $(holds "$(d torus fast)" "$(d tree fast)" "$(d auction fast)").

TEXT
}
santana_messages() {
  local n a
  cat <<TEXT
### Messages received by a core, of 128

| N | | global | torus, share of it | tree, share of it | \`steal\` |
|---|---|---|---|---|---|
TEXT
  received() { cell santana2010-messages mean_messages_received_per_core board_n=$n "algorithm=$1"; }
  share() { calc "100 * $1 / $2" | xargs printf '%.1f %%'; }
  for n in 16 17; do
    echo "| $n | published | $(received global) | $(received torus), $(share $(received torus) $(received global)) | $(received binary) , $(share $(received binary) $(received global)) | |"
    for mode in faithful ours; do
      m() { ran messages 128 $n 6 $mode $1 messages_per_core; }
      echo "| | $mode | $(m auction) | $(m torus), $(share $(m torus) $(m auction)) | $(m tree), $(share $(m tree) $(m auction)) | $([ $mode = faithful ] || m steal) |"
    done
  done
  m() { ran messages 128 $1 6 faithful $2 messages_per_core; }
  cat <<TEXT

- Torus under a tenth of global: N = 16 $(holds "$(m 16 torus)" "$(calc "$(m 16 auction) / 10")"), 17 $(holds "$(m 17 torus)" "$(calc "$(m 17 auction) / 10")"); torus before tree: $(holds "$(m 16 torus)" "$(m 16 tree)"), $(holds "$(m 17 torus)" "$(m 17 tree)"); tree before global: $(holds "$(m 16 tree)" "$(m 16 auction)"), $(holds "$(m 17 tree)" "$(m 17 auction)").
- How many they are in all **does not hold**: published are $(calc "$(received global) / $(m 17 auction)" | xargs printf '%.0f') times ours for global and N = 17. **What decides**: a rank of the source whose neighbour has load that it may not give asks again at once, and one with its last item in work counts as empty; these faults are not reproduced.

TEXT
}
santana_cores() {
  local n a k line
  cat <<TEXT
### 8 to 1024 cores (figures 5.8 and 5.9), faithful, seconds

| | $(for k in 8 16 32 64 128 256 512 1024; do printf '%s | ' $k; done)
|---|$(printf -- '---|%.0s' {1..8})
TEXT
  for n in 16 17; do for a in auction torus tree; do
    line="| N = $n, \`$a\`"
    for k in 8 16 32 64 128 256 512 1024; do line+=" | $(shown "$(seconds_of cores $k $n 5 $a)")"; done
    echo "$line |"
  done; done
  s() { seconds_of cores $2 $1 5 $3; }
  cat <<TEXT

- N = 16: alike on 8 and 16 cores (within 5 %): $(near "$(s 16 8 auction)" "$(s 16 8 torus)" 0.05), $(near "$(s 16 16 auction)" "$(s 16 16 torus)" 0.05). Torus least from 32 on: $(for k in 32 64 128 256 512; do holds "$(s 16 $k torus)" "$(s 16 $k auction)" && holds "$(s 16 $k torus)" "$(s 16 $k tree)"; done | sort -u | xargs). Tree before global: $(for k in 32 64 128 256 512; do echo "$k $(holds "$(s 16 $k tree)" "$(s 16 $k auction)")"; done | xargs).
- Global has its least time at 64 cores for N = 16 and at 128 for N = 17 as published; here at $(for n in 16 17; do for k in 8 16 32 64 128 256 512; do x=$(s $n $k auction); [ -z "$x" ] || echo "$x $k"; done | sort -g | head -1 | cut -d' ' -f2; done | xargs | sed 's/ / and /'): more items, later: holds; **what decides** where is what a message costs and, as above, how many there are.
- N = 17: torus before tree before global (from 32 cores on): $(for k in 32 64 128 256; do echo "$k $(holds "$(s 17 $k torus)" "$(s 17 $k tree)" "$(s 17 $k auction)")"; done | xargs). With 1024 cores torus took 87 % less than global there (N = 17); here with 512, N = 16: $(calc "100 * (1 - $(s 16 512 torus) / $(s 16 512 auction))" | xargs printf '%.0f') % (global on more takes too long to simulate).
- Torus begins to lose efficiency at 1024 (N = 16): of ideal $(for k in 256 512 1024; do calc "100 * $(ran cores $k 16 5 faithful torus efficiency)" | xargs printf '%.0f %% '; done) on 256, 512, 1024; the tree gains nothing from 256 on, where it has few items for many levels.

TEXT
}
santana_matmul() {
  local side k a rows line
  cat <<TEXT
### Multiplication of matrices (figures 5.12 and 5.13), faithful, seconds

Sides 1000 and 1200; how it was divided is not printed. Assumed: an item is a row of the result, all on the first core, 4 ns a product: \`-w loop:items=SIDE,weight=...,bytes=8 * SIDE,output=8 * SIDE -c aitzaloa\`. (Global on more than 256 cores takes too long to simulate.)

| side | | $(for k in 8 16 32 64 128 256 512 1024; do printf '%s | ' $k; done)
|---|---|$(printf -- '---|%.0s' {1..8})
TEXT
  for side in 1000 1200; do
    local w="loop:items=$side,weight=$((side * side * 4 / 1000))us,bytes=$((8 * side))B,output=$((8 * side))B"
    rows="$(simulated -w $w -c aitzaloa -n '8..256*2' -b auction,torus,tree --set faithful=true)
$(simulated -w $w -c aitzaloa -n 512,1024 -b torus,tree --set faithful=true)"
    for a in auction torus tree; do
      line="| $side | \`$a\`"
      for k in 8 16 32 64 128 256 512 1024; do line+=" | $(shown "$(of "$rows" $a $k 3)")"; done
      echo "$line |"
    done
    [ $side != 1000 ] || local first=$rows
  done
  x() { of "$first" $1 $2 3; }
  cat <<TEXT

- Side 1000: global best with 8 to 32 cores: 8 $(holds "$(x auction 8)" "$(x torus 8)"), 16 $(holds "$(x auction 16)" "$(x torus 16)"), 32 $(holds "$(x auction 32)" "$(x torus 32)"). It loses from 16 (the conclusions; section 5.3.5 says 32): $(holds "$(x auction 16)" "$(x auction 32)"). Torus clearly better from 64: $(holds "$(x torus 64)" "$(calc "$(x auction 64) / 2")").
- Tree best: $(holds "$(x tree 64)" "$(x torus 64)"); torus falls up to 256 and then loses: it has its least at $(for k in 8 16 32 64 128 256 512 1024; do echo "$(x torus $k) $k"; done | sort -g | head -1 | cut -d' ' -f2) here. **What decides** is the size of an item: with rows there are less than ten for each of 128 cores.

TEXT
}

santana() {
  santana_head
  santana_times
  santana_spread
  santana_messages
  santana_cores
  santana_matmul
  santana_costs
}
santana_head() {
  cat <<TEXT
## \`auction\`, \`torus\`, \`tree\` (Santana 2010)

N-Queens, all solutions, no cut-off, an item per partial placement, all born on rank 0: \`-w queens:n=N,rows=6,ships=oldest,weight=$queens_weight\` on \`santana40\` (Pacifico: 16 cores of 3.0 GHz and 24 of 2.4) and \`aitzaloa\`; trees are *sampled*: all below a placement of six rows is one item, as heavy as eight random
descents say, else N = 19 has 460 thousand million. *Faithful* is \`faithful=true\`. Medians of five seeds for N = 14 and 15, three for 16 and 17, one above. Runs that take long are kept in bench/reproduction/santana.csv (\`bench/reproduce queens\` makes it, 40 minutes).

Three assumptions, the same for all figures of a cluster: a message takes its host **1 ms** on both (each core ran a process of the program and one of the balancer; published, global lost a third of runs of minutes, which messages of a few us can't do); an item takes 1.2 us on a fast core (from N = 17); and what is given away is the **oldest** half
of a list, which is what makes the shares of messages on 128 cores come out (chosen by N = 16 there; with every other item (\`ships=alternate\`) torus sends 56 % of what global does, with the newest 78 %).

TEXT
}
santana_costs() {
  cat <<TEXT
### What a message costs decides

Times in ms for N = 13, whole tree, 40 cores, where an event and a message each take their host so long, faithful; our \`steal\` beside them:

| per message | \`auction\` | \`torus\` | \`tree\` | \`steal\` |
|---|---|---|---|---|
TEXT
  local us b other slow queens=queens:n=13,ships=oldest,weight=$queens_weight
  for us in 2 10 50 200 1000 2000; do
    slow=$(with santana40 'event = "1 ms"' "event = \"$us us\"" 'send = "1 ms"' "send = \"$us us\"")
    other="$(simulated -w $queens -c "$slow" -b auction,torus,tree --set faithful=true)
$(simulated -w $queens -c "$slow" -b steal)"
    echo "| $us us |$(for b in auction torus tree steal; do awk -v x="$(of "$other" "$b" - 3)" 'BEGIN { printf " %.0f |", 1000 * x }'; done)"
  done
  cat <<TEXT

The fewer neighbours, the fewer messages; but a leaf of the tree has one neighbour, so work crosses it by ranks that must first run empty. A host's work takes no time from its rank's threads in the simulator; on the source's cores it did.

TEXT
}
