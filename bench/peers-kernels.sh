# The examples with BLAS kernels beside the other task systems: the same kernels (bench/peers/tiles.hpp), one
# thread for BLAS (`tessera run` sees to that itself), every result checked. Runs alternate as those of
# `peers` do. With --check, which the test `bench.peers_kernels` gives: small sizes, once.

# Name, size, options of `tessera run`.
kernel_sizes() {
  if [ -n "$check" ]; then
    echo "cholesky 5 7 -D TILES=5 -D TILE=7"
    echo "matmul 5 7 -D BLOCKS=5 -D BLOCK_SIZE=7"
    return
  fi
  echo "matmul 7 360 -D BLOCKS=7 -D BLOCK_SIZE=360"
  echo "matmul 24 32 -D BLOCKS=24 -D BLOCK_SIZE=32"
  echo "matmul 32 16 -D BLOCKS=32 -D BLOCK_SIZE=16"
  echo "cholesky 12 256 -D TILES=12 -D TILE=256"
  echo "cholesky 40 32 -D TILES=40 -D TILE=32"
  echo "cholesky 56 16 -D TILES=56 -D TILE=16"
}

# build_kernels PEER SOURCE HEADER LIBRARIES COMPILER WORDS...: an entry of `peers`. A peer whose header is
# not there is left out; one that does not compile all the same is an error.
build_kernels() {
  local name=$1 source=$2 header=$3 libraries=$4 program lib
  shift 4
  if ! echo "#include <$header>" | "$@" -E -x c++ - >/dev/null 2>"$work/err"; then
    echo "bench/run: left out, for it is not installed: $name" >&2
    return
  fi
  lib=$(runtime_folder)
  for program in matmul cholesky; do
    "$@" -O2 -std=c++20 -I "$root/runtime/abi" -DPROGRAM="\"$program.hpp\"" -o "$work/$program-$name" \
      "$root/bench/peers/$source.cpp" -L "$lib" -ltessera -Wl,-rpath,"$lib" -lopenblas $libraries 2>"$work/err" ||
      die "$source.cpp does not compile for $name: $(cat "$work/err")"
  done
  peers+=("$name")
}

# kernels_of PEER PROGRAM TILES TILE THREADS: seconds; nothing when it takes longer than 60 s.
kernels_of() {
  settle
  OPENBLAS_NUM_THREADS=1 STARPU_SILENT=1 OMP_WAIT_POLICY=passive timeout 60 "$work/$2-$1" "${@:3}" 2>"$work/err" && return
  [ $? -eq 124 ] || die "$2-$1 ${*:3} failed: $(cat "$work/err")"
}

peers-kernels() {
  local peers=() i program tiles tile words threads
  build_kernels oneTBB tiles_tbb oneapi/tbb/flow_graph.h -ltbb g++
  build_kernels OpenMP-GCC tiles_openmp omp.h "" g++ -fopenmp
  build_kernels OpenMP-Clang tiles_openmp omp.h "" clang++ -fopenmp
  build_kernels StarPU tiles_starpu starpu.h "$(pkg-config --libs starpu-1.3 2>/dev/null)" \
    g++ $(pkg-config --cflags starpu-1.3 2>/dev/null)
  [ -z "$check" ] || runs=1
  echo
  echo "### Real kernels beside other task systems"
  echo
  echo "Milliseconds, from the first tile made to the last one checked: median (min..max) of $runs runs; behind a peer's, Tessera's time"
  echo "as a share of it: the median of the pairs. \`bench/run peers-kernels\`."
  echo
  peers_header 'program | tiles | threads'
  while read -r program tiles tile words; do
    quiet $words "$root/examples/$program/$program.fa"  # compiled now, not just before a measurement
    for threads in 1 2; do
      rm -f "$work"/times-* "$work"/shares-*
      for ((i = 0; i < runs; i++)); do
        beside_peers "$(seconds -t $threads $words "$root/examples/$program/$program.fa")" "$program-$tile-$threads" \
          kernels_of "$program" "$tiles" "$tile" $threads
      done
      peers_row "$program | $tiles x $tiles of $tile x $tile | $threads" 1e3 '%.1f' 'over 60 s'
    done
  done < <(kernel_sizes)
}
