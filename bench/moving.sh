# What it costs to run a fragment on another rank than its input was made on, and how many bytes travel when
# fragments share their inputs.

# moved PROGRAM BYTES COUNT [ROUNDS]: a row, of pairs of runs: read on rank 1, and on rank 0 where all is made.
moved() {
  local program=$1 bytes=$2 count=$3 rounds=${4:-} i at
  for ((i = 0; i < runs; i++)); do
    at=$(seconds -n 2 -t 1 --balancer none "$programs/$program.fa" -- "$count" "$bytes" 1 $rounds)
    calc "1e6 * ($at - $(seconds -n 2 -t 1 --balancer none "$programs/$program.fa" -- "$count" "$bytes" 0 $rounds)) / ($count * ${rounds:-1})"
  done >"$work/m-$program-$bytes"
  echo "| $bytes bytes | ${rounds:+$rounds x }$count | $(scaled 1 '%.2f' <"$work/m-$program-$bytes") | \`tessera run bench/programs/$program.fa -n 2 -t 1 --balancer none -- $count $bytes 1${rounds:+ $rounds}\` |"
}

moving() {
  local bytes b i
  echo
  echo "### Fragments and their inputs on the way"
  echo
  echo "Fragments placed on rank 1 whose inputs were made on rank 0, two ranks: microseconds for each more than with both on rank 0, from the"
  echo "first value made to the last fragment run; median (min..max) of $runs pairs. First all at once, in memory that was never used before; then"
  echo "in rounds of 1,000, each value made when rank 1 has said that it read the one before."
  echo
  echo "| input | fragments | us each | command |"
  echo "|---|---|---|---|"
  for bytes in 64 1024 16384 262144 1048576 16777216; do
    moved moving "$bytes" $((bytes <= 4096 ? 4000 : bytes <= 65536 ? 1000 : 100000000 / bytes + 1))
  done
  for bytes in 64 1024 16384; do moved moving_again "$bytes" 1000 40; done
  echo
  echo "1,000 fragments of 60 ms (they sleep) that read two of 200 blocks of 2 MB each, all made on rank 0; 16 ranks. \"Needed\" is each block"
  echo "once for each other rank that read it. Aim: at most 1.3 times as much sent."
  echo
  echo "| balancer | seconds | sent | sent / needed | command |"
  echo "|---|---|---|---|---|"
  for b in central steal auto; do
    rm -f "$work"/b-*
    for ((i = 0; i < runs; i++)); do
      rm -f "$work"/log.*
      seconds -n 16 -t 1 --balancer "$b" "$programs/blocks.fa" -- "$work/log" >>"$work/b-seconds"
      total bytes_sent >>"$work/b-sent"
      cat "$work"/log.* | awk -v sent="$(tail -1 "$work/b-sent")" '
        $1 != 0 { need[$1 " " $2]; need[$1 " " $3] }
        END { print sent / (length(need) * 2097152) }' >>"$work/b-ratio"
    done
    echo "| $b | $(scaled 1 '%.2f' <"$work/b-seconds") | $(scaled 1e-9 '%.2f' <"$work/b-sent") GB | $(scaled 1 '%.2f' <"$work/b-ratio") | \`tessera run bench/programs/blocks.fa -n 16 -t 1 --balancer $b -- log\` |"
  done
}
