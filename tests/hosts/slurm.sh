#!/bin/bash
# slurm.sh WHAT TESSERA: beside the Slurm of with_slurm.sh, four nodes: what docs/clusters.md and docs/recovery.md say of Slurm, as it stands there. Exit
# code 0 when it is so.
set -u
what=$1 tessera=$2
docs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../docs" && pwd)
work=$(mktemp -d /tmp/tessera-jobs-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=${TESSERA_TEST_CACHE:-$work/cache} PATH=$(dirname "$tessera"):$PATH
export XDG_RUNTIME_DIR=$work  # others run programs, too
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # users are not root

cat >where.fa <<'X'
C++ head ${{
#include <unistd.h>
$}}
C++ sub show(int i) ${{ char name[100]; gethostname(name, sizeof name); printf("%d on %s\n", i, name); $}}
sub main() { for i = 0..ranks - 1 show(i) @ { locator_cyclic: i; }; }
X
# A chain over all ranks.
cat >steps.fa <<'X'
C++ head ${{
#include <unistd.h>
$}}
C++ sub first(name x) ${{ x = 0; $}}
C++ sub next(int a, int ms, name x) ${{ usleep(1000 * ms); x = a + 1; if (a == 3) { printf("begun\n"); fflush(stdout); } $}}
C++ sub last(int a) ${{ printf("steps %d\n", a); $}}
sub main(int n, int ms) { df x; first(x[0]); for i = 1..n next(x[i - 1], ms, x[i]) @ { locator_cyclic: i; }; last(x[n]); }
X
limit() { timeout 240 "$@"; }
fail() { echo "$*"; for f in out said slurm.out; do echo "--- $f"; cat $f 2>/dev/null; done; exit 1; }
said() { grep -qF -- "$1" said || fail "stderr lacks: $1"; }
code() { [ "$1" = "$2" ] || fail "exit code $1, not $2"; }
# job [OPTIONS]: a script, from stdin
job() { { echo '#!/bin/bash'; echo "#SBATCH --nodes=4 --ntasks-per-node=1 $*"; cat; } >job.sh; }
batch() { limit sbatch --wait -Q -o slurm.out "$@" job.sh; }
on_all() { [ "$(sort out | tr '\n' ' ')" = "0 on h1 1 on h2 2 on h3 3 on h4 " ] || fail "not one rank on each node"; }
# crashed: in MPI_Init, where a message may come before Open MPI 4.1 can take it (docs/clusters.md): what can be done is to start it again.
crashed() { grep -qs "^srun: error: .*Segmentation fault" said && [ ! -s out ] && ! grep -q '^tessera:' said; }
begun() { for _ in $(seq 600); do grep -qs begun out && return; sleep 0.1; done; fail "it does not begin"; }
over() { for _ in $(seq 600); do [ -z "$(squeue -h)" ] && return; sleep 0.1; done; squeue; fail "the job does not end"; }
number() { squeue -h -o %A | head -n 1; }

case $what in
  batch)  # `tessera run -n auto` in a job; threads from --cpus-per-task
    job --cpus-per-task=2 <<<'tessera run where.fa -n auto >out 2>said'
    batch; code $? 0
    on_all
    said "tessera: 4 ranks, by SLURM_NTASKS"
    said "on 4 ranks (8 worker threads)"
    batch --cpus-per-task=1; code $? 0
    said "on 4 ranks (4 worker threads)"
    sed -i 's/ --ntasks-per-node=1//' job.sh  # one rank on each node, too
    batch --cpus-per-task=1; code $? 0
    on_all ;;
  pmix)  # a built program that srun starts
    tessera build where.fa -o where || exit 1
    job --cpus-per-task=2 <<<'srun -K --mpi=pmix ./where >out 2>said'
    begin() { local status; for _ in 1 2 3; do batch "$@"; status=$?; crashed || break; done; code $status 0; }
    begin
    on_all
    said "on 4 ranks (8 worker threads)"
    begin --ntasks-per-node=2 --cpus-per-task=1
    said "on 8 ranks (8 worker threads)" ;;
  refused)  # what would start runs beside each other, or wait for ever
    limit srun -Q -N 2 "$tessera" run where.fa -n 2 >out 2>said
    code $? 2
    tessera build where.fa -o where || exit 1
    limit srun -Q -N 2 --mpi=none ./where >out 2>said
    code $? 3 ;;
  drain)  # a node is given back
    job --cpus-per-task=1 <<<'tessera run steps.fa -n auto -- 300 20 >out 2>said'
    sbatch -Q -o slurm.out job.sh || exit 1
    begun
    limit srun -Q --overlap --jobid="$(number)" -N1 -n1 -w h1 "$tessera" drain 1 >drained 2>&1
    status=$?
    [ $status = 0 ] && grep -q "rank 1 on h2 has left" drained || fail "drain: $status: $(cat drained)"
    over
    grep -q "steps 300" out || fail "the run has not come to its end" ;;
  limit)  # the batch script of docs/recovery.md: a signal before the limit, and the job is queued again
    sed -n '/#SBATCH --signal=B:TERM@60/,/scontrol requeue/p' "$docs/recovery.md" | sed 's/^    //' >recipe
    [ "$(wc -l <recipe)" -ge 6 ] || fail "docs/recovery.md has no such recipe"
    job --cpus-per-task=1 < <(sed 's|tessera run solve.fa -n auto --journal J|tessera run steps.fa -n auto --journal J -- 150 40 >>out 2>>said|' recipe)
    sbatch -Q -o slurm.out --open-mode=append job.sh || exit 1
    begun
    sleep 1
    limit scancel --batch --signal=TERM "$(number)"
    # Slurm holds what is queued again back for two minutes.
    for _ in $(seq 60); do [ "$(squeue -h -o %t)" = PD ] && break; sleep 0.5; done
    [ "$(squeue -h -o %t)" = PD ] || fail "it is not queued again: $(squeue)"
    for _ in $(seq 60); do scontrol update jobid="$(number)" starttime=now 2>/dev/null; [ "$(squeue -h -o %t)" = PD ] || break; sleep 0.5; done
    over
    grep -q "steps 150" out || fail "the job has not gone on to its end"
    said "the same command goes on from the journal"
    [ "$(grep -c begun out)" = 1 ] || fail "it has begun anew" ;;
  files)  # a job that is ended leaves what was measured
    options="--summary s.json --record r.trace --save-groups s.groups --balancer none"
    tessera build steps.fa -o steps || exit 1
    for command in "tessera run steps.fa -n auto $options -- 100000 20" "srun -K --mpi=pmix ./steps 100000 20"; do
      rm -f s.json r.trace s.groups out
      job --cpus-per-task=1 <<X
case "$command" in srun*) export TESSERA_OPTIONS="$options" ;; esac
exec $command >out 2>said
X
      for _ in 1 2 3; do
        sbatch -Q -o slurm.out job.sh || exit 1
        for _ in $(seq 600); do grep -qs begun out || [ -z "$(squeue -h)" ] && break; sleep 0.1; done
        crashed || break
        over
      done
      begun
      sleep 1
      case "$command" in  # as at the limit: Slurm tells the steps, and the script where it is asked for
        srun*) scancel --signal=TERM "$(number)" ;;
        *) scancel --batch --signal=TERM "$(number)" ;;
      esac
      over
      for file in s.json r.trace s.groups; do [ -s $file ] || fail "$command: no $file"; done
      grep -q '"interrupted": true' s.json || fail "$command: the summary does not say that it was interrupted"
      "$tessera" simulate r.trace >simulated 2>&1 || fail "$command: the trace is none: $(cat simulated)"
    done ;;
  *) echo "no check $what"; exit 2 ;;
esac
