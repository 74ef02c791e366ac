#!/bin/bash
# check.sh CHECK TESSERA MPIRUN: what the command does with MPICH's mpirun.
set -uo pipefail
check=$1 tessera=$2 mpirun=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "$*" >&2; exit 1; }
is() { [[ $2 == "$3" ]] || fail "$1: \`$2\`, not \`$3\`"; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "no \`$2\`"; }; }

cat >p.fa <<'P'
C++ sub part(int i, name x) ${{ x = i; printf("part %d\n", i); $}}
C++ sub add(int a, int b, name x) ${{ x = a + b; $}}
C++ sub show(int sum) ${{ printf("sum %d\n", sum); $}}
sub main(int n) {
  df x, sum;
  add(0, 0, sum[0]);
  for i = 1..n {
    part(i, x[i]) @ { locator_cyclic: i; };
    add(sum[i - 1], x[i], sum[i]);
  }
  show(sum[n]);
}
P
cat >bad.fa <<'P'
C++ sub f(int i) ${{
  if (i == 3) FAULT;
$}}
sub main() {
  for i = 0..8
    f(i) @ { locator_cyclic: i; };
}
P
status=0
case $check in
  run)
    is "three ranks" "$("$tessera" run -q p.fa -n 3 -- 50 | sort | sha1sum)" "$( (seq -f 'part %g' 50; echo 'sum 1275') | sort | sha1sum)"
    "$tessera" run p.fa -n 3 -- 5 >out 2>err || fail "exit code $?"
    has err 'on 3 ranks' ;;
  built)
    "$tessera" build -q p.fa -o p || fail build
    is "a built program" "$("$mpirun" -n 3 ./p 5 2>/dev/null | grep sum)" 'sum 15'
    is "alone" "$(./p 5 2>/dev/null | grep sum)" 'sum 15' ;;
  balanced)
    for balancer in steal central auto; do
      is "$balancer" "$("$tessera" run "$root/examples/imbalance/imbalance.fa" -D STEP=40 -n 4 -b $balancer 2>err)" 'checksum 20100'
      has err 'moved'
    done ;;
  fails)
    sed -i 's/FAULT/throw std::runtime_error("no three")/' bad.fa
    "$tessera" run bad.fa -n 2 >out 2>err || status=$?
    is "the exit code" $status 1
    has err 'no three [T409]' ;;
  crashes)
    sed -i 's/FAULT/*(volatile int *)0 = 1/' bad.fa
    "$tessera" run bad.fa -n 2 >out 2>err || status=$?
    is "the exit code" $status 1
    has err '[T410]' ;;
  ended)
    sed -i 's/FAULT/{ puts("begun"); fflush(stdout); sleep(60); }/' bad.fa
    "$tessera" run bad.fa -n 2 >out 2>err &
    until grep -q begun out; do sleep 0.2; done
    kill -TERM $!
    wait $! || status=$?
    [[ $status -ge 128 ]] || fail "exit code $status"
    sleep 1
    left=$(pgrep -f "exec-program.*$XDG_CACHE_HOME" || true)
    is "what is left" "$left" '' ;;
  hosts)
    echo 'localhost slots=2' >hosts
    is "a host file" "$("$tessera" run -q p.fa --hostfile hosts -- 5 2>&1 | grep sum)" 'sum 15' ;;
  library)
    for p in smooth broken; do "$tessera" build -q --library "$root/examples/library/$p.fa" || fail "build --library"; done
    lib=$(dirname "$(dirname "$tessera")")/lib
    mpicxx.mpich -std=c++20 -I"$root/runtime/abi" "$root/examples/library/solver.cpp" -L. -lsmooth -lbroken -L"$lib" -ltessera \
      -Wl,-rpath,"$PWD:$lib" -o solver || fail "solver does not link"
    "$mpirun" -n 3 ./solver >out 2>err || { cat out err; fail "exit code"; }
    is "its end" "$(tail -1 out)" 'sum 0.75'
    has out 'round 2: largest 21' ;;
  others)
    # Open MPI's, where it is the first in PATH.
    mkdir bin && printf '#!/bin/sh\n' >bin/orterun && chmod +x bin/orterun && ln -s orterun bin/mpirun
    PATH=$PWD/bin:/bin "$tessera" run -q p.fa -n 2 -- 5 >out 2>err || status=$?
    if command -v mpirun.mpich >/dev/null; then is "Debian's beside it" $status 0; else has err "is Open MPI's, and Tessera is built with MPICH"; fi
    if command -v mpirun.openmpi >/dev/null; then
      "$tessera" build -q p.fa -o p
      mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 ./p 5 >out 2>err || status=$?
      is "under Open MPI's" $status 3
      has err 'not by another MPI'
    fi ;;
  *) fail "no check $check" ;;
esac
