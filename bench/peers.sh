# Tessera beside the task systems that Debian packages: the same patterns, empty tasks, results
# checked. All of a pattern run one after the other, again and again, so that the machine's changes meet
# all of them. A peer that is not installed is left out: libtbb-dev, libstarpu-dev, clang and libomp-dev.

# What Tessera runs for a pattern, and how many fragments that is (bench/peers/peer.hpp has the sizes).
peer_program() {
  case $1 in
    independent) echo "200000 -D N=200000" ;;
    chain) echo "200000 -D N=200000" ;;
    stencil) echo "100000 -D WIDTH=400 -D STEPS=250" ;;
    binary_tree) echo "131071 -D DEPTH=16" ;;
    fan) echo "200000 -D N=100000" ;;
    dag) echo "100000 -D N=100000" ;;
  esac
}

# build_peer NAME COMPILER WORDS...: an entry of `peers` when it compiles.
build_peer() {
  local name=$1
  shift
  if "$@" -O2 -std=c++20 -o "$work/peer-$name" >"$work/peer.log" 2>&1; then
    peers+=("$name")
  else
    echo "bench/run: left out, for it does not compile here: $name" >&2
  fi
}

# tessera_ns PATTERN THREADS: nanoseconds per fragment.
tessera_ns() {
  local words
  read -ra words <<<"$(peer_program "$1")"
  calc "1e9 * $(seconds -t "$2" "${words[@]:1}" "$programs/$1.fa") / ${words[0]}"
}

# peer_ns NAME PATTERN THREADS: nanoseconds per task; nothing when it takes longer than 20 s.
peer_ns() {
  settle
  STARPU_SILENT=1 OMP_WAIT_POLICY=passive timeout 20 "$work/peer-$1" "$2" "$3" 2>"$work/err" && return
  [ $? -eq 124 ] || die "$1 $2 failed: $(cat "$work/err")"
}

# Of a function with an array `peers`, the systems that are here.
# peers_header COLUMNS: the head of their table.
peers_header() {
  local p
  printf '| %s | Tessera |' "$1"
  for p in "${peers[@]}"; do printf ' %s | share |' "$p"; done
  printf '\n|%s---|---|' "$(sed 's/[^|]//g; s/|/---|/g' <<<"$1")"
  for p in "${peers[@]}"; do printf -- '---|---|'; done
  echo
}

# beside_peers MINE KEY MEASURE WORDS...: notes our time, and those of the peers as `MEASURE PEER WORDS...` prints them. One that
# prints nothing is too slow, and is not asked again for this KEY.
beside_peers() {
  local mine=$1 key=$2 measure=$3 p theirs
  shift 3
  echo "$mine" >>"$work/times-Tessera"
  for p in "${peers[@]}"; do
    [ ! -f "$work/slow-$p-$key" ] || continue
    theirs=$("$measure" "$p" "$@")
    if [ -z "$theirs" ]; then
      touch "$work/slow-$p-$key"
      continue
    fi
    echo "$theirs" >>"$work/times-$p"
    calc "$mine / $theirs" >>"$work/shares-$p"
  done
}

# peers_row COLUMNS FACTOR FORMAT TOO_SLOW: what was noted, times FACTOR.
peers_row() {
  local p
  printf '| %s | %s |' "$1" "$(scaled "$2" "$3" <"$work/times-Tessera")"
  for p in "${peers[@]}"; do
    if [ -f "$work/times-$p" ]; then
      printf ' %s | %s |' "$(scaled "$2" "$3" <"$work/times-$p")" "$(scaled 1 '%.2f' <"$work/shares-$p")"
    else
      printf ' %s | |' "$4"
    fi
  done
  echo
}

peers() {
  local peers=() pattern threads i dir=$root/bench/peers
  build_peer oneTBB g++ "$dir/tbb.cpp" -ltbb
  build_peer OpenMP-GCC g++ -fopenmp "$dir/openmp.cpp"
  build_peer OpenMP-Clang clang++ -fopenmp "$dir/openmp.cpp"
  build_peer StarPU g++ $(pkg-config --cflags starpu-1.3 2>/dev/null) "$dir/starpu.cpp" \
    $(pkg-config --libs starpu-1.3 2>/dev/null || echo -lstarpu-1.3)
  echo
  echo "### Beside other task systems"
  echo
  echo "Nanoseconds per task, from creating the first to the end of the last: median (min..max) of $runs runs; behind a peer's,"
  echo "Tessera's time as a share of it: the median of the pairs. \`bench/run peers\`."
  echo
  peers_header 'pattern | threads'
  for pattern in independent chain stencil binary_tree fan dag; do
    for threads in 1 2; do
      rm -f "$work"/times-* "$work"/shares-*
      for ((i = 0; i < runs; i++)); do
        beside_peers "$(tessera_ns $pattern $threads)" "$pattern-$threads" peer_ns $pattern $threads
      done
      peers_row "$pattern | $threads" 1 '%.0f' 'over 20 s'
    done
  done
}
