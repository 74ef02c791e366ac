#!/usr/bin/env bash
# units.sh asan|tsan SOURCE PLAIN FOLDER JOBS: the tests of the runtime, whole runs and runs by threads of random programs, with a sanitizer. Only
# the runtime is compiled with it, in FOLDER: the compiler, the balancers and the generator of programs, which are pure and have one thread, are those of
# the build in PLAIN. A report ends the program.
set -euo pipefail
kind=$1 source=$2 plain=$3 folder=$4 jobs=$5
status=0
run() {
  printf '== %s\n' "${*##*/}"
  "$@" || status=1
}

# For addresses and undefined behaviour together GCC takes two to three times as long as Clang.
options=(-DCMAKE_UNITY_BUILD=ON -DTESSERA_PLAIN="$plain")
[[ $kind != asan || ! -e $(clang++ -print-file-name=libclang_rt.asan-"$(uname -m)".a 2>/dev/null) ]] || options+=(-DCMAKE_CXX_COMPILER=clang++)
mkdir -p "$folder"
cd "$source"
[[ -f $folder/build.ninja ]] || cmake --preset "$kind" -B "$folder" "${options[@]}" >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; exit 1; }
cmake --build "$folder" --parallel "$jobs" --target differential runtime_test protocol_test >"$folder/build.log" 2>&1 || { cat "$folder/build.log"; exit 1; }

cd "$folder"
differential=(tests/differential/differential --keep "$folder/differences")
# The large worlds take ten times as long; what they do to the machine, the small ones do, too.
for test in runtime protocol; do
  run tests/$test/${test}_test --gtest_brief=1 --gtest_filter="-*Large*:*IsFoundOut*"
done
run "${differential[@]}" --programs 12 --whole 20 --only-whole
run "${differential[@]}" --programs 6 --batch 2 --seed 7
exit "$status"
