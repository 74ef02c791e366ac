# CBIR (Chaparro 2005): a search in millions of images on unequal computers, with and without load by others.

# chaparro_cluster NODES [TASKS]: a cluster file of the implied speeds: from that of the slowest evenly up to where the mean is what is implied; rank 0, of the mean speed, beside TASKS of others.
chaparro_cluster() {
  local file=$work/cbir-$1-${2:-0}.toml n=$1 least mean
  least=$(calc "$(cell chaparro2005-5-2-2-speedup-no-load nodes_$1_speedup variant=without) / $1")
  mean=$(calc "$(cell chaparro2005-5-2-2-speedup-no-load nodes_$1_speedup variant=with) / $1")
  {
    printf 'name = "cbir%s"\n' "$n"
    awk -v n="$n" -v a="$least" -v m="$mean" 'BEGIN {
      print "[[node]]\nspeed = " m
      for (i = 1; i < n; ++i) printf "[[node]]\nspeed = %.4f\n", a + (2 * m - 2 * a) * (i - 1) / (n - 2) }'
    printf '[link]\nlatency = "100 us"\nbandwidth = "100 Mbit/s"\n'
    [ -z "${2:-}" ] || printf '[[outside]]\nrank = 0\ntasks = %s\n' "$2"
  } >"$file"
  echo "$file"
}
# cbir CLUSTER IMAGES BALANCER: time until the last node has searched and sorted, and the standard deviation of when they had.
cbir() {
  local items=$(($2 / 1000)) json=$work/cbir.json
  "$tessera" simulate -w "loop:items=$items,weight=1955ms,born=blocks" -c "$1" -b "$3" $4 --json "$json" >/dev/null
  # 1,000 images are 1.955 s of search at speed 1, and a tenth of a second of sorting on any node.
  tr -d ' \n' <"$json" | awk '
    function list(name, into,   s, n) { s = $0; sub(".*\"" name "\":\\[", "", s); sub("\\].*", "", s); return split(s, into, ",") }
    { n = list("end_seconds", e); list("fragments", f)
      for (i = 1; i <= n; ++i) { t = e[i] + f[i] * 0.1; sum += t; square += t * t; if (t > most) most = t }
      m = sum / n; printf "%.0f %.0f\n", most, sqrt(square / n - m * m) }'
}

chaparro() {
  cat <<TEXT
## \`mirror\` (Chaparro 2005)

A search in 30 million images (12.5 million with load), equal shares at the start, states every 10 s; 1,000 images are a fragment. No speeds are published; they are implied by the speed-ups (bench/published/clusters.md): a reference node
searches 511.5 images per unit of time, the slowest node has 0.817, 0.765, 0.563 of its speed with 5, 15, 25 nodes, all together at least 0.929, 0.839, 0.653 on average. Here they rise evenly from the slowest to where that is the mean. Each node sorts what it
has found, 10,000 in a second. The overloaded node has the mean speed and so many tasks of others that it is as slow as is implied. *Faithful* is \`faithful=true\`, \`info_period=10\`.

| nodes | load | published without, with, falls by | here \`none\`, faithful, falls by | ours | standard deviation published | here | ours |
|---|---|---|---|---|---|---|---|
TEXT
  local sorting; sorting=$(calc "0.1 / 1.955") # seconds of sorting for each of search at speed 1
  local n tasks c images a b o file std load falls= same=
  local implied; declare -A implied=([5]=0.463 [15]=0.447 [25]=0.378)
  for load in no one twice; do
    for n in 5 15 25; do
      [ $load != twice ] || [ $n = 25 ] || continue
      images=12500000 tasks=
      case $load in
        no) images=30000000 file=5-2-1-time-no-load std=5-2-4-stddev-no-load ;;
        one) tasks=${implied[$n]} file=5-3-1-time-load std=5-3-2-stddev-load ;;
        twice) tasks=0.297 file= std= ;;
      esac
      [ -z "$tasks" ] || tasks=$(calc "$(cell chaparro2005-5-2-2-speedup-no-load nodes_${n}_speedup variant=with) / $n / $tasks - 1")
      c=$(chaparro_cluster $n $tasks)
      a=$(cbir "$c" $images none "") b=$(cbir "$c" $images mirror "--set faithful=true --set info_period=10 --set post_processing=$sorting") o=$(cbir "$c" $images mirror "--set post_processing=$sorting")
      [ "$load$n" != no25 ] || local without; [ "$load$n" != no25 ] || without=$(cbir "$c" $images mirror "--set faithful=true --set info_period=10")
      local pa pb sa=- sb=-
      if [ -n "$file" ]; then
        pa=$(cell chaparro2005-$file nodes_${n}_time variant=without) pb=$(cell chaparro2005-$file nodes_${n}_time variant=with)
        sa=$(cell chaparro2005-$std nodes_${n}_stddev variant=without) sb=$(cell chaparro2005-$std nodes_${n}_stddev variant=with)
      else
        pa=$(cell chaparro2005-5-3-3-double-load same_node_double_load_time variant=without) pb=$(cell chaparro2005-5-3-3-double-load same_node_double_load_time variant=with)
      fi
      echo "| $n | $load | $pa, $pb, $(fall $pa $pb) | ${a% *}, ${b% *}, $(fall ${a% *} ${b% *}) | ${o% *} | $sa, $sb | ${a#* }, ${b#* } | ${o#* } |"
      [ "$load$n" != one25 ] || local once=$b
      [ "$load$n" != twice25 ] || same="$(calc "100 * (${b% *} - ${once% *}) / ${once% *}")"
      [ "$load$n" != no25 ] || local with=$b
      falls+="$load $n $(near "$(calc "(${a% *} - ${b% *}) / ${a% *}")" "$(calc "($pa - $pb) / $pa")" 0.25); "
    done
  done
  cat <<TEXT

- Times without load and without balancing agree because the speeds were taken from them; that those with balancing do says that faithful \`mirror\` gets all that the speeds allow, as the source's did.
- How much it falls, within a quarter: $falls
- Doubling the load leaves the balanced time as it is: published exactly, here $(round "$same" 1) %.
- The correction for sorting (C + Ce te - Cr tr, \`post_processing=$(round "$sorting" 4)\`): with 25 nodes $(echo "$with" | sed 's/ /, deviation /'), without it $(echo "$without" | sed 's/ /, deviation /'): who has searched more sorts longer, and is given less for it.
- Deviations with balancing are smaller here than published in each case, those without it by half: **what decides** are speeds between the slowest and the mean, which nobody has published, and for the balanced ones the size of what is given: 1,000 images here, not published.
- The source measures speeds by a short probe at the start; a live run here is told them (\`--powers\`), or learns them from what fragments take.

TEXT
}
