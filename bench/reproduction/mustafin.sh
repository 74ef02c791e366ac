# The main source: LuNA's central balancer and its decentralised one, both programs, simulated and live.

nodes_of_mustafin="2 3 4 8 12 16"
live=$root/bench/reproduction/live.csv

# lived PROGRAM RANKS CONFIGURATION: seconds of the live run that is kept, or nothing.
lived() { awk -F, -v p="$1" -v r="$2" -v c="$3" '$1 == p && $2 == r && $3 == c { printf "%.2f", $4; exit }' "$live" 2>/dev/null; }

# series ROWS BALANCER BASE: `nodes:speed-up` of a simulated balancer, for draw.
series() { for r in $nodes_of_mustafin; do echo "$r:$(calc "$3 / $(of "$1" "$2" "$r" 3)")"; done | xargs; }
series_of() { # FILE COLUMN BASE [KEY=VALUE]: of a published table
  for r in $nodes_of_mustafin; do
    local v
    v=$(cell "$1" "$2" nodes=$r ${4:-})
    [ -z "$v" ] || echo "$r:$(calc "$3 / $v")"
  done | xargs
}

mustafin() {
  local all=${nodes_of_mustafin// /,} second="--set jobs_left_threshold=0.5 --set jobs_difference_ratio=0.1"
  local w="-w matmul -c mustafin" ours first better stealer stays
  ours=$(simulated $w -b central,steal,auto,gossip,diffusion -n $all)
  first=$(simulated $w -b central-faithful -n $all)
  better=$(simulated $w -b central-faithful $second -n $all)
  stealer=$(simulated $w -b steal-published -n $all)
  stays=$(simulated $w -b steal-published --set goes_home=false -n $all)
  cat <<TEXT
## \`central\` against \`steal\` (Mustafin 2022)

\`-w matmul -c mustafin\`: 1,000 multiplications of 60 ms and 200 initialisations, everything born on rank 0. With \`central\` the last rank
coordinates. Times in s. Published: bench/published/mustafin2022-table1.csv, two pairs of thresholds (\`jobs_left_threshold\`, \`jobs_difference_ratio\`), and LuNA's
decentralised balancer. *Faithful* are the published algorithms, \`configs/balancer/central-faithful.toml\` and \`steal-published.toml\`, simulated and live (\`bench/reproduce live\`: the
kernels sleep as long as they took there, a process with one thread for each node; kept in bench/reproduction/live.csv, which says when, under what load, and what is missing). *Ours* are \`central\`, \`steal\` and \`auto\` as they are by default.

### The central balancer, multiplication (table 1, figure 17)

| nodes | published, 1 and 0.5 | faithful, simulated | faithful, live | published, 0.5 and 0.1 | faithful, simulated | faithful, live | ours, simulated | efficiency |
|---|---|---|---|---|---|---|---|---|
TEXT
  local r
  for r in $nodes_of_mustafin; do
    echo "| $r | $(cell mustafin2022-table1 central_time_s nodes=$r central_jobs_left_threshold_s=1.00) | $(round "$(of "$first" central-faithful $r 3)") | $(lived matmul $r central-faithful) | $(
      cell mustafin2022-table1 central_time_s nodes=$r central_jobs_left_threshold_s=0.50) | $(round "$(of "$better" central-faithful $r 3)") | $(lived matmul $r central-faithful-2) | $(
      round "$(of "$ours" central $r 3)") | $(of "$ours" central $r 4) % |"
  done
  local p1 p2
  p1=$(cell mustafin2022-table1 central_time_s nodes=16 central_jobs_left_threshold_s=1.00)
  p2=$(cell mustafin2022-table1 central_time_s nodes=16 central_jobs_left_threshold_s=0.50)
  cat <<TEXT

- Falling with the nodes: $(holds $(for r in 16 12 8 4 3 2; do of "$first" central-faithful $r 3; done)) for the first pair of thresholds, $(
  holds $(for r in 16 12 8 4 3 2; do of "$better" central-faithful $r 3; done)) for the second, $(holds $(for r in 16 12 8 4 3 2; do of "$ours" central $r 3; done)) for ours.
- The second pair before the first, from 3 nodes on:$(for r in 3 4 8 12 16; do echo " $r $(holds "$(of "$better" central-faithful $r 3)" "$(of "$first" central-faithful $r 3)")"; done | paste -sd,). On 16 nodes it saves $(fall "$p1" "$p2") as
  published, $(fall "$(of "$first" central-faithful 16 3)" "$(of "$better" central-faithful 16 3)") simulated.
- Absolute times up to 4 nodes within 5 %:$(for r in 2 3 4; do echo " $r $(near "$(of "$first" central-faithful $r 3)" "$(cell mustafin2022-table1 central_time_s nodes=$r central_jobs_left_threshold_s=1.00)" 0.05)"; done | paste -sd,). From 8 on: 15 workers reach
  $(round "$(cell mustafin2022-table1 central_speedup nodes=16 central_jobs_left_threshold_s=0.50 | awk '{ print 100 * $1 / 15 }')" 0) % of the ideal there, $(of "$better" central-faithful 16 4) % here. **What decides** is not the plan but what the model leaves out and the live runs have little of: what a
  message and a fragment cost that runtime, on one thread per node that executes, moves and speaks.
- Ours before the published algorithm: $(holds "$(of "$ours" central 16 3)" "$(of "$better" central-faithful 16 3)") on 16 nodes, by $(fall "$(of "$better" central-faithful 16 3)" "$(of "$ours" central 16 3)") against the better pair.

### The decentralised balancer, multiplication (table 1, figure 17)

| nodes | published | faithful, simulated | faithful, live | stolen fragments stay, simulated | live | ours, simulated | efficiency |
|---|---|---|---|---|---|---|---|
TEXT
  for r in $nodes_of_mustafin; do
    echo "| $r | $(cell mustafin2022-table1 decentral_time_s nodes=$r) | $(round "$(of "$stealer" steal-published $r 3)") | $(lived matmul $r steal-published) | $(
      round "$(of "$stays" steal-published $r 3)") | $(lived matmul $r steal-published-stays) | $(round "$(of "$ours" steal $r 3)") | $(of "$ours" steal $r 4) % |"
  done
  local base k runs=
  base=$(of "$(simulated -w rowreduce -c mustafin -b none -n 4)" none 4 3)
  for k in 3 4 0; do
    runs+=" $(round "$(of "$(simulated $w -b steal-published --set goes_home=false --set steal_ranks=$k -n 16)" steal-published 16 3)") s with $([ $k = 0 ] && echo all || echo $k),"
  done
  cat <<TEXT

- Saturates, no faster on 16 nodes than on 4: published $(holds 39.93 40.69); faithful $(near "$(of "$stealer" steal-published 16 3)" "$(of "$stealer" steal-published 4 3)" 0.1), with fragments that stay $(
  near "$(of "$stays" steal-published 16 3)" "$(of "$stays" steal-published 4 3)" 0.1).
- A speed-up of 1.5 to 2 (38 to 29 s): $(near "$(of "$stealer" steal-published 16 3)" 40.69 0.2) with both faults of the public implementation: where each stolen fragment goes home at once, nothing ever runs elsewhere, and
  the time is that of one node. So what was measured did not have that fault, or not always. It $(near "$(of "$stays" steal-published 16 3)" 40.69 0.3) (within 30 %) with the other one alone, requests to a fixed run of ranks: where each asks only the next, rank 0 has one
  customer, and all others live from what that one has. **What decides** is the number of ranks in the run, which is not published:$runs of the ranks on 16 nodes; 2 elsewhere in this table.
- Our \`steal\` scales: $(holds $(for r in 16 12 8 4 3 2; do of "$ours" steal $r 3; done)).

![Figure 17](pictures/mustafin-17.svg)

State of the art beside them, the same multiplication, simulated, s (efficiency); [\`gossip\`](policies/gossip.md) as in Grapevine and TemperedLB, [\`diffusion\`](policies/diffusion.md) of first order:

| nodes | \`central\` | \`steal\` | \`auto\` | \`gossip\` | \`diffusion\` |
|---|---|---|---|---|---|
$(for r in $nodes_of_mustafin; do
    line="| $r"
    for b in central steal auto gossip diffusion; do line+=" | $(round "$(of "$ours" $b $r 3)") ($(of "$ours" $b $r 4) %)"; done
    echo "$line |"
  done)

### Row reduction (table 4, figure 18)

It must **not** be balanced: 2,450 fragments of about 1 ms with inputs of 2.4 MB. \`-w rowreduce -c mustafin\`; times over that of one node, which is $(cell mustafin2022-table4 decentral_time_s processes=1) s published and $(round "$base") s here, for half of the published run is not inside
fragments.

| nodes | published, central | decentralised | \`central-faithful\` | live | \`steal-published\` | live | fragments stay | \`central\` | \`steal\` | \`auto\` | \`gossip\` | \`diffusion\` |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
TEXT
  local rows p
  rows=$(simulated -w rowreduce -c mustafin -b central-faithful,steal-published,central,steal,auto,gossip,diffusion -n $all)
  stays=$(simulated -w rowreduce -c mustafin -b steal-published --set goes_home=false -n $all)
  over() { [ -z "$1" ] || round "$(calc "$1 / $2")"; }
  for r in $nodes_of_mustafin; do
    p=$(lived rowreduce $r none)
    echo "| $r | $(over "$(cell mustafin2022-table4 central_time_s processes=$r)" 6.19) | $(over "$(cell mustafin2022-table4 decentral_time_s processes=$r)" 6.19) | $(over "$(of "$rows" central-faithful $r 3)" "$base") | $(
      over "$(lived rowreduce $r central-faithful)" "$p") | $(over "$(of "$rows" steal-published $r 3)" "$base") | $(over "$(lived rowreduce $r steal-published)" "$p") | $(over "$(of "$stays" steal-published $r 3)" "$base") | $(
      over "$(of "$rows" central $r 3)" "$base") | $(over "$(of "$rows" steal $r 3)" "$base") | $(over "$(of "$rows" auto $r 3)" "$base") | $(over "$(of "$rows" gossip $r 3)" "$base") | $(over "$(of "$rows" diffusion $r 3)" "$base") |"
  done
  cat <<TEXT

- Ours within 2 % of no balancing on every number of nodes: $(for b in central steal auto gossip diffusion; do for r in $nodes_of_mustafin; do of "$rows" $b $r 3; done; done | sort -n | tail -1 | awk -v b="$base" '{ print $1 <= 1.02 * b ? "holds" : "**does not hold**" }').
- The published central balancer moved nothing because groups had been loaded that were not worth it; its 2 to 9 % are the price of watching. \`central-faithful\` weighs each fragment against its transfer: $(
  for r in $nodes_of_mustafin; do of "$rows" central-faithful $r 3; done | sort -n | tail -1 | awk -v b="$base" '{ print $1 <= 1.1 * b ? "holds" : "**does not hold**" }') (within 10 %).

![Figure 18](pictures/mustafin-18.svg)

### Weights by group (tables 2 and 3)

Mean weights that the balancer is told, \`--save_groups\` of the live runs beside those printed.

| program | statement | published, ms | times | here, ms | times |
|---|---|---|---|---|---|
| multiplication | mult_mat (group 21) | $(weight_of 2 21) | $(cell mustafin2022-table2 count group=21) | $(lived_weight matmul multiply) |
| | init_mat (10, 13) | $(weight_of 2 10), $(weight_of 2 13) | 2 x $(cell mustafin2022-table2 count group=10) | $(lived_weight matmul init_a) |
| | sum_mat (33) | $(weight_of 2 33) | $(cell mustafin2022-table2 count group=33) | $(lived_weight matmul add) |
| row reduction | row_reduction (4) | $(weight_of 3 4) | $(cell mustafin2022-table3 count group=4) | $(lived_weight rowreduce reduce) |
| | (21) | $(weight_of 3 21) | $(cell mustafin2022-table3 count group=21) | $(lived_weight rowreduce generate) |

Multiplication: the kernels sleep for 60.9 and 2.6 ms, so agreement is none; additions of blocks are ours, and there are 900 of them. Row reduction computes here, on a processor of another age that other programs used as well;
of its 2,450 pairs of rows 800 need no reduction.

TEXT
  local picture=$root/docs/pictures
  { printf 'published, central, 1 and 0.5\t%s\n' "$(series_of mustafin2022-table1 central_time_s 60.43 central_jobs_left_threshold_s=1.00)"
    printf 'published, central, 0.5 and 0.1\t%s\n' "$(series_of mustafin2022-table1 central_time_s 60.43 central_jobs_left_threshold_s=0.50)"
    printf 'published, decentralised\t%s\n' "$(series_of mustafin2022-table1 decentral_time_s 60.43)"
    printf 'central-faithful, 0.5 and 0.1\t%s\n' "$(series "$better" central-faithful 60.52)"
    printf 'steal-published\t%s\n' "$(series "$stealer" steal-published 60.52)"
    printf 'central\t%s\n' "$(series "$ours" central 60.52)"
    printf 'steal\t%s\n' "$(series "$ours" steal 60.52)"
  } | draw "$picture/mustafin-17.svg" "Block multiplication: speed-up against one node" "speed-up"
  { printf 'published, central\t%s\n' "$(for r in $nodes_of_mustafin; do echo "$r:$(calc "$(cell mustafin2022-table4 central_time_s processes=$r) / 6.19")"; done | xargs)"
    printf 'published, decentralised\t%s\n' "$(for r in $nodes_of_mustafin; do echo "$r:$(calc "$(cell mustafin2022-table4 decentral_time_s processes=$r) / 6.19")"; done | xargs)"
    for b in central-faithful steal-published central steal; do
      printf '%s\t%s\n' $b "$(for r in $nodes_of_mustafin; do echo "$r:$(calc "$(of "$rows" $b $r 3) / $base")"; done | xargs)"
    done
  } | draw "$picture/mustafin-18.svg" "Row reduction: time over that of one node" "time / time on one node"
}
weight_of() { cell mustafin2022-table$1 weight_s group=$2 | awk '{ printf "%.3g", 1000 * $1 }'; }
# lived_weight PROGRAM STATEMENT: `ms | times`, as the live run saved them.
lived_weight() { awk -F, -v p="$1" -v s="$2" '$1 == "weight:" p && $3 == s { printf "%.3g | %d", 1000 * $4, $2; found = 1 } END { if (!found) printf " | " }' "$live" 2>/dev/null || printf ' | '; }

# mustafin_live: the runs of live.csv, to stdout. Some 20 minutes, for the kernels sleep.
mustafin_live() {
  local summary=$work/live.json n
  seconds_of() { sed -n 's/.*"seconds": *\([0-9.]*\).*/\1/p' "$summary" | head -1; }
  # once PROGRAM RANKS NAME FLAGS...
  once() {
    local program=$1 ranks=$2 name=$3 flags
    shift 3
    case $program in matmul) flags="-D EMULATE=1 examples/matmul/matmul.fa" ;; *) flags="examples/rowreduce/rowreduce.fa" ;; esac
    "$tessera" run -q -t 1 $flags -n "$ranks" --summary "$summary" "$@" >"$work/out" || return 1
    grep -q verified "$work/out" || return 1
    echo "$program,$ranks,$name,$(seconds_of)"
  }
  echo "# program,ranks,configuration,seconds; weight:PROGRAM,times,statement,mean seconds. $(date -u +%F), $(nproc) cores ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)), load $(cut -d' ' -f1 /proc/loadavg)"
  for n in ${1:-$nodes_of_mustafin}; do
    once matmul $n central-faithful --config configs/balancer/central-faithful.toml --save-groups "$work/matmul.groups"
    once matmul $n central-faithful-2 --config configs/balancer/central-faithful.toml --set jobs_left_threshold=0.5 --set jobs_difference_ratio=0.1
    once matmul $n steal-published --config configs/balancer/steal-published.toml
    once matmul $n steal-published-stays --config configs/balancer/steal-published.toml --set goes_home=false
    once rowreduce $n none -b none --save-groups "$work/rowreduce.groups"
    once rowreduce $n central-faithful --config configs/balancer/central-faithful.toml
    once rowreduce $n steal-published --config configs/balancer/steal-published.toml
  done
  local program
  for program in matmul rowreduce; do
    awk -v p="$program" '
      /^\[\[/ { label = ""; count = ""; weight = "" }
      /^ *(label|name) *=/ { label = $0; sub(/^[^"]*"/, "", label); sub(/[" ].*/, "", label) }
      /^ *count *=/ { count = $3 }
      /^ *(mean|weight|mean_ns|weight_ns) *=/ { weight = $3 }
      label != "" && count != "" && weight != "" { printf "weight:%s,%d,%s,%.9f\n", p, count, label, weight / 1e9; label = "" }' "$work/$program.groups"
  done
}
