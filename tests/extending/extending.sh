#!/usr/bin/env bash
# extending.sh SOURCE COPY COMPILER [brief]: copies the tree, applies the patches of docs/extending.md, builds what they touch (without optimisation), and
# runs the tests that they bring. brief: only has the compiler look at the files that they touch. COPY is made anew, and removed when all is well.
set -euo pipefail
source=$1 copy=$2 compiler=$3 brief=${4:-}
fail() { printf 'docs/extending.md: %s\n' "$*" >&2; exit 1; }

rm -rf "$copy"
mkdir -p "$copy"
(cd "$source" && tar c CMakeLists.txt balancer cli cmake compiler files python runtime stdlib tests) | tar x -C "$copy"
cd "$copy"
# Of the tests only the new ones are built.
find tests -mindepth 2 -maxdepth 2 -name CMakeLists.txt ! -path 'tests/balancer/*' ! -path 'tests/compiler/*' -delete
rm tests/balancer/*_test.cpp tests/compiler/*_test.cpp

awk '/^```diff$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source/docs/extending.md" >patches
grep -c '^+++ ' patches >/dev/null || fail 'has no patches'
patch -p1 --forward --no-backup-if-mismatch <patches >patched 2>&1 || { cat patched; fail 'a patch does not apply any more: change it as the lines around it have changed'; }

# What the compiler says of each file that a patch touches, in two units: each file includes much of what the others do.
flags=(-std=c++20 -O0 -Wall -Wextra -Werror -I. -Iruntime/abi "-DTESSERA_SOURCE_DIR=\".\"")
if [[ -n $brief ]]; then
  touched=$(sed -nE 's|^\+\+\+ b/(.*\.cpp)$|\1|p' patches)
  for part in '^(balancer|runtime|tests/balancer|tests/runtime)/' '^(compiler|tests/compiler)/'; do
    grep -E "$part" <<<"$touched" | sed 's|.*|#include "&"|' >unit.cpp
    "$compiler" "${flags[@]}" -fsyntax-only unit.cpp || fail 'a patched file does not compile'
  done
  rm -rf "$copy"
  exit
fi

cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON -DTESSERA_BENCH=OFF -DTESSERA_WERROR=ON \
  -DCMAKE_CXX_COMPILER="$compiler" >configured 2>&1 || { cat configured; fail 'the patched tree can not be configured'; }
cmake --build build --parallel 2 --target balancer_test compiler_test >built 2>&1 || { cat built; fail 'the patched tree does not build'; }

# The runtime: what the message touches, not all that includes it. Its test needs the codec, which knows values.
"$compiler" "${flags[@]}" -fsyntax-only runtime/node/communication.cpp || fail 'the patched runtime does not compile'
"$compiler" "${flags[@]}" tests/runtime/remarks_test.cpp runtime/comm/messages.cpp runtime/memory/*.cpp -o remarks_test \
  -ffunction-sections -Wl,--gc-sections -lgtest -lgtest_main -lfmt -ltbbmalloc || fail 'the test of the message does not compile'

# ran PROGRAM COUNT: so many tests, all well.
ran() {
  "$1" >tested 2>&1 || { cat tested; fail "a test of $1 fails"; }
  grep -q "^\[  PASSED  \] $2 test" tested || { cat tested; fail "$1 has not run $2 tests"; }
}
ran build/tests/balancer/balancer_test 2
ran build/tests/compiler/compiler_test 2
ran ./remarks_test 1
rm -rf "$copy"
