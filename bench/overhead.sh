# Overheads: empty kernels, one worker, no balancer.

# line NAME VALUE TARGET COMMAND
line() { printf '| %s | %s | %s | `%s` |\n' "$@"; }

# per_fragment PROGRAM N: median time per fragment.
per_fragment() {
  local scale=$1 format=$2 program=$3 n=$4
  shift 4
  repeat "$runs" seconds "$@" -D "N=$n" "$programs/$program.fa" | scaled "$(calc "$scale / $n")" "$format"
}

peak_mb() {
  quiet --summary "$work/summary.json" "$@"
  field peak_memory_kb
}

hello_compiled() {
  XDG_CACHE_HOME=$(mktemp -d -p "$work") wall "$tessera" run --quiet "$programs/hello.fa"
}

# ranks_cpu SECONDS: processor seconds of 4 ranks, of which one fragment sleeps so long.
ranks_cpu() {
  quiet --summary "$work/summary.json" -n 4 -t 1 --balancer none -D "SECONDS=$1" "$programs/idle.fa"
  total cpu_seconds
}

# The processor time of 4 waiting ranks per second: start and end are taken off by a run without sleep.
idle_cpu() {
  calc "($(ranks_cpu 3) - $(ranks_cpu 0)) / 3"
}

two_workers() {
  local one two
  one=$(seconds -t 1 -D BLOCKS=7 "$root/examples/matmul/matmul.fa")
  two=$(seconds -t 2 -D BLOCKS=7 "$root/examples/matmul/matmul.fa")
  calc "$two / $one"
}

subs() {
  local with
  with=$(seconds -t 1 "$programs/subs.fa")
  calc "$(seconds -t 1 --without inline-subs "$programs/subs.fa") / $with"
}

overhead() {
  local n b=bench/programs
  echo
  echo "### Overheads"
  echo
  echo "Empty kernels, release build, median (min..max) of $runs."
  echo
  echo "| what | measured | first target | command |"
  echo "|---|---|---|---|"
  for n in 100000 1000000 10000000; do
    line "independent fragment, loop of $n" "$(per_fragment 1e9 '%.0f' independent $n -t 1) ns" "300 ns" \
      "tessera run $b/independent.fa -t 1 -D N=$n"
  done
  for n in 100000 10000000; do
    line "peak memory of that loop of $n" "$(repeat "$runs" peak_mb -t 1 -D N=$n "$programs/independent.fa" | scaled 1e-3 "%.1f") MB" \
      "constant" "tessera run $b/independent.fa -t 1 -D N=$n"
  done
  for n in 100000 1000000; do
    line "link of a chain of $n" "$(per_fragment 1e9 '%.0f' chain $n -t 1) ns" "800 ns" \
      "tessera run $b/chain.fa -t 1 -D N=$n"
  done
  line "fragment of a stencil of 1000 x 1000 made by subs: without \`inline-subs\` / with" "$(repeat "$runs" subs | scaled 1 '%.1f')" \
    "" "tessera run $b/subs.fa -t 1"
  line "peak memory of that, with" "$(repeat "$runs" peak_mb -t 1 "$programs/subs.fa" | scaled 1e-3 "%.1f") MB" \
    "" "tessera run $b/subs.fa -t 1"
  line "memory per waiting fragment, 10^6 of them" \
    "$(repeat "$runs" pending_bytes | scaled 1 '%.0f') bytes" "250 bytes" \
    "tessera run $b/pending.fa -t 2 -D N=1000000"
  line "hop between two ranks (MPI), chain of 20000" \
    "$(per_fragment 1e6 '%.1f' hop 20000 -n 2 -t 1 --balancer none) us" "6 us" \
    "tessera run $b/hop.fa -n 2 -t 1 --balancer none -D N=20000"
  line "processor time of 4 waiting ranks together, per second" \
    "$(repeat "$runs" idle_cpu | scaled 1000 '%.1f') ms" "0" \
    "tessera run $b/idle.fa -n 4 -t 1 --balancer none -D SECONDS=3"
  line "7 x 7 blocks of 360 x 360: 2 workers / 1 worker" \
    "$(repeat "$runs" two_workers | scaled 1 '%.3f')" "0.55" \
    "tessera run examples/matmul/matmul.fa -D BLOCKS=7 -t 2"
  quiet "$programs/hello.fa"
  line "hello, unchanged since the last run" \
    "$(repeat "$runs" wall "$tessera" run --quiet "$programs/hello.fa" | scaled 1 '%.3f') s" "0.15 s" \
    "tessera run $b/hello.fa"
  line "hello, compiled" "$(repeat "$runs" hello_compiled | scaled 1 '%.2f') s" "1.2 s" \
    "tessera run $b/hello.fa, with an empty cache"
}

pending_bytes() {
  quiet -t 2 -D N=1000000 "$programs/pending.fa"
  cat "$work/out"
}
