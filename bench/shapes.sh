# Programs of other shapes beside the plain stencil: time and instructions per fragment, and memory, with one worker. With
# --check, which the test `bench.shapes` gives, a shape that takes more instructions per fragment than bench/shapes.txt
# allows (name, times those of the plain stencil), by more than a tenth, or whose memory grows with its steps, is an error.

shapes_folder=$programs/shapes

# What is compared: name, aim (time, as a multiple of plain), kernels in n steps, steps that are counted, steps that are timed.
shapes_rows() {
  echo "ring 1.6 64*n 300 20000"
  echo "division 1.6 66*n 300 20000"
  echo "torus 1.6 64*n 300 20000"
  echo "mesh 1.6 64*n 300 20000"
  echo "while_data 1.6 66*n 300 20000"
  echo "while_known 1.6 66*n 300 20000"
  echo "while_beside - 97*n 300 8000"
  echo "while_sum 1.6 65*n 300 20000"
  echo "if_data 1.6 66*n 300 20000"
  echo "calls 1.6 66*n 300 20000"
  echo "recursion 2.5 66*n 300 20000"
  echo "lu - n*(n+1)*(n+2)/6 45 160"
  echo "index 2.5 2*n 10000 500000"
  echo "while_value 2.5 n 20000 1000000"
  echo "chain_recursion 2.5 n 20000 1000000"
}

# kernels FORMULA STEPS
kernels_in() { calc "${1//n/$2}"; }

# shape_ns NAME FORMULA STEPS: nanoseconds per kernel.
shape_ns() { calc "1e9 * $(seconds -t 1 "$shapes_folder/$1.fa" -- "$3") / $(kernels_in "$2" "$3")"; }

# shape_count NAME STEPS: instructions of a run. How many fragments are timed hangs on how long they seem to take, so a run
# beside others counts up to a twentieth more: the fewest of all counts so far are taken.
declare -A fewest_of_shape=()
shape_count() {
  local counted
  TESSERA_OPTIONS="-t 1 --quiet" nice -n -20 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/shape-$1" "$2" \
    >"$work/out" 2>"$work/err" || die "failed: valgrind $1"$'\n'"$(cat "$work/err")"
  counted=$(sed -n 's/.*Collected : *//p' "$work/err")
  [ "${fewest_of_shape[$1.$2]:-$counted}" -lt "$counted" ] || fewest_of_shape[$1.$2]=$counted
}

# count_shape NAME FORMULA STEPS: sets `counted_shape` to the instructions per kernel, beyond those of half as many steps.
count_shape() {
  local few=$(($3 / 2)) many=$3
  [ -e "$work/shape-$1" ] || "$tessera" build -q "$shapes_folder/$1.fa" -o "$work/shape-$1" || die "failed: tessera build $1.fa"
  shape_count "$1" $few
  shape_count "$1" $many
  counted_shape=$(calc "(${fewest_of_shape[$1.$many]} - ${fewest_of_shape[$1.$few]}) / ($(kernels_in "$2" $many) - $(kernels_in "$2" $few))")
}

# shape_mb NAME STEPS: the most memory that the run took.
shape_mb() {
  quiet --summary "$work/summary.json" -t 1 "$shapes_folder/$1.fa" -- "$2"
  calc "$(field peak_memory_kb) / 1024"
}

# Memory of so many steps, and of four times as many, may differ by this: what the allocator has at hand differs.
most_growth_mb=2

check_shapes() {
  local name aim formula counted timed plain got allowed few many try bad=0
  command -v valgrind >/dev/null || die "valgrind is not installed"
  count_shape plain '66*n' 300
  count_shape plain '66*n' 300
  plain=$counted_shape
  while read -r name aim formula counted timed; do
    allowed=$(awk -v n="$name" '$1 == n { print $2 }' "$root/bench/shapes.txt")
    for try in 1 2 3 4; do
      count_shape "$name" "$formula" "$counted"
      got=$(calc "$counted_shape / $plain")
      [ "$(calc "($got > 1.1 * ${allowed:-0})")" = 1 ] || break
    done
    echo "$name $got (recorded: ${allowed:-none}; counted $try times)"
    if [ "$(calc "($got > 1.1 * ${allowed:-0})")" = 1 ]; then
      echo "bench/run: $name takes $got times the instructions of the plain stencil; bench/shapes.txt has ${allowed:-none}" >&2
      bad=1
    fi
    case $name in
      lu) continue ;;     # n * n blocks are alive
      index) continue ;;  # it grows (docs/benchmarks.md): all of p is made before the chain runs
    esac
    few=$(shape_mb "$name" $((timed / 4)))
    many=$(shape_mb "$name" "$timed")
    if [ "$(calc "($many > $few + $most_growth_mb)")" = 1 ]; then
      echo "bench/run: $name takes $few MB in $((timed / 4)) steps and $many MB in $timed" >&2
      bad=1
    fi
  done < <(shapes_rows)
  return $bad
}

measure_shapes() {
  local name aim formula counted timed i mine plain instructions
  echo
  echo "### Shapes beside the plain stencil"
  echo
  echo "One worker, empty kernels. Nanoseconds per kernel, median (min..max) of $runs; times plain: the median of pairs of runs, one"
  echo "after the other, of $shapes_folder/plain.fa (20,000 steps of 64 points) and the shape. Memory after so many steps, and after five times as many. \`bench/run shapes\`."
  echo
  echo "| shape | ns | times plain | aim | instructions, times plain | MB | MB, 5 x the steps |"
  echo "|---|---|---|---|---|---|---|"
  count_shape plain '66*n' 300
  plain=$counted_shape
  while read -r name aim formula counted timed; do
    rm -f "$work/ns" "$work/shares"
    for ((i = 0; i < runs; i++)); do
      mine=$(shape_ns "$name" "$formula" "$timed")
      echo "$mine" >>"$work/ns"
      calc "$mine / $(shape_ns plain '66*n' 20000)" >>"$work/shares"
    done
    count_shape "$name" "$formula" "$counted"
    instructions=$(calc "$counted_shape / $plain")
    printf '| %s | %s | %s | %s | %.2f | %.0f | %s |\n' "$name" "$(scaled 1 '%.0f' <"$work/ns")" \
      "$(scaled 1 '%.2f' <"$work/shares")" "$aim" "$instructions" "$(shape_mb "$name" "$timed")" \
      "$([ "$name" = lu ] || printf '%.0f' "$(shape_mb "$name" $((timed * 5)))")"
  done < <(shapes_rows)
  echo
  echo "1,000,000 steps of ring.fa: $(printf '%.0f' "$(shape_mb ring 1000000)") MB."
  shapes_beside_peers
}

# Of those that other task systems can write, in the sizes of bench/peers/shapes.hpp.
shapes_beside_peers() {
  local peers=() dir=$root/bench/peers name formula steps i
  build_peer oneTBB g++ "$dir/shapes_tbb.cpp" -ltbb
  build_peer OpenMP-GCC g++ -fopenmp "$dir/shapes_openmp.cpp"
  build_peer OpenMP-Clang clang++ -fopenmp "$dir/shapes_openmp.cpp"
  echo
  echo "The same beside other task systems, one thread: nanoseconds per task, and Tessera's time as a share of theirs (pairs)."
  echo
  peers_header shape
  while read -r name formula steps; do
    rm -f "$work"/times-* "$work"/shares-*
    for ((i = 0; i < runs; i++)); do
      beside_peers "$(shape_ns "$name" "$formula" "$steps")" "$name" peer_ns "$name" 1
    done
    peers_row "$name" 1 '%.0f' 'over 20 s'
  done <<<"ring 64*n 2000
while_data 66*n 2000
if_data 66*n 2000
lu n*(n+1)*(n+2)/6 60"
}

shapes() {
  if [ -n "$check" ]; then check_shapes; else measure_shapes; fi
}
