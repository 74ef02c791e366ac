#!/bin/bash
# check.sh WHAT TESSERA: on h1 of over_hosts.sh with two hosts. Exit code 0 when it is as it should be.
set -u
what=$1 tessera=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d) # on the machine's disk: all hosts see it; /dev/shm is each host's own
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=${TESSERA_TEST_CACHE:-$work/cache}
mpirun="mpirun --allow-run-as-root -n 2 --bind-to none"

cat >where.fa <<'X'
C++ sub where(int i, name x) ${{ x = i; $}}
C++ sub fin(int s) ${{ printf("sum %d\n", s); $}}
sub main() { df a; for i = 0..3 where(i, a[i]) @ { locator_cyclic: i; }; fin(a[0] + a[1] + a[2] + a[3]); }
X
cat >nap.fa <<'X'
C++ sub nap(int i, int s) ${{ printf("napping\n"); fflush(stdout); sleep(s); $}}
sub main(int s) { for i = 0..1 nap(i, s) @ { locator_cyclic: i; }; }
X
limit() { timeout 240 "$@"; }
said() { grep -qF -- "$1" "$work/said" || { echo "stderr lacks: $1"; cat "$work/said"; exit 1; }; }
silent() { ! grep -qF -- "$1" "$work/said" || { echo "stderr has: $1"; cat "$work/said"; exit 1; }; }
code() { [ "$1" = "$2" ] || { echo "exit code $1, not $2"; cat "$work/said"; exit 1; }; }
build() { limit "$tessera" build "$1.fa" -o "$1" || exit 1; }
# during EVENT SECONDS [OPTIONS...]: nap.fa on both hosts, and the event when both nap
during() {
  local event=$1 seconds=$2
  shift 2
  : >out  # what the last one said is no sign of this one
  limit "$tessera" run nap.fa -n 2 --balancer none "$@" -- "$seconds" >out 2>said &
  local pid=$!
  until [ "$(grep -c napping out)" = 2 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
  eval "$event"
  wait $pid
}
# Of h2 the monotonic clock is an hour ahead for what `$work/ahead` starts in place of ssh.
hour_ahead() {
  unshare -T --monotonic 3600 true 2>/dev/null || { echo "skipped: no time namespaces"; exit 77; }
  cat >ahead <<X
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1; shift
printf '%s\n' "\$*" >"$work/\$host.command"
exec "$OMPI_MCA_plm_rsh_agent" "\$host" unshare -T --monotonic 3600 bash "$work/\$host.command"
X
  chmod +x ahead
}

case $what in
  lines)  # that kernels write to stderr: none is cut by another
    cat >lines.fa <<'X'
C++ sub say(int i) ${{ fprintf(stderr, "word %d end\n", i); $}}
sub main() { for i = 1..4000 say(i) @ { locator_cyclic: i; }; }
X
    limit "$tessera" run lines.fa -n 3 -q >out 2>said
    code $? 0
    [ "$(grep -cE '^word [0-9]+ end$' said)" = 4000 ] || { echo "lines are cut:"; grep -vE '^word [0-9]+ end$' said | head; exit 1; } ;;
  hostfile)  # --hostfile says where the ranks are, and how many
    cat >host.fa <<'X'
C++ sub show(int i) ${{ char name[100]; gethostname(name, sizeof name); printf("%d on %s\n", i, name); $}}
sub main() { for i = 0..ranks - 1 show(i) @ { locator_cyclic: i; }; }
X
    unset OMPI_MCA_orte_default_hostfile
    printf 'h1 slots=1\nh2 slots=2\n' >two
    limit "$tessera" run host.fa --hostfile two >out 2>said
    code $? 0
    said "tessera: 3 ranks, by two"
    [ "$(sort out)" = "$(printf '0 on h1\n1 on h2\n2 on h2')" ] || { echo "they ran elsewhere:"; cat out; exit 1; }
    # A line is one rank where it does not say slots; mpirun alone would fill the cores of h1.
    printf 'h1\nh2\n' >lines
    limit "$tessera" run host.fa --hostfile lines >out 2>said
    code $? 0
    [ "$(sort out)" = "$(printf '0 on h1\n1 on h2')" ] || { echo "lines: they ran elsewhere:"; cat out; exit 1; }
    printf 'h2\nh1 slots = 1\nh2 slots=1 # again\n' >lines
    limit "$tessera" run host.fa --hostfile lines >out 2>said
    code $? 0
    [ "$(sort out | sed 's/^. on //' | sort | tr '\n' ' ')" = "h1 h2 h2 " ] || { echo "again: they ran elsewhere:"; cat out; exit 1; } ;;
  text)  # that kernels write to stdout, however: no line is cut, however long, and none is lost
    cat >text.fa <<'X'
C++ sub say(int i, int n) ${{
  const std::string line = "line " + std::to_string(i) + " " + std::string(static_cast<std::size_t>(n), 'x') + " end";
  if (i % 3 == 0) printf("%s\n", line.c_str());
  if (i % 3 == 1) std::cout << line << std::endl;
  if (i % 3 == 2) {
    const std::string text = line + "\n";
    if (write(1, text.data(), text.size()) < 0) abort();
  }
$}}
sub main() {
  for i = 1..6000 say(i, 1 + i % 90) @ { locator_cyclic: i; };
  for i = 6001..6100 say(i, 300 * (i % 100) + 1) @ { locator_cyclic: i; };
}
X
    limit "$tessera" run text.fa -n 3 -q -t 1 --balancer none >out 2>said
    code $? 0
    [ "$(wc -l <out)" = 6100 ] || { echo "$(wc -l <out) lines, not 6100"; exit 1; }
    [ "$(grep -cE '^line [0-9]+ x+ end$' out)" = 6100 ] || { echo "lines are cut:"; grep -vE '^line [0-9]+ x+ end$' out | cut -c 1-200 | head; exit 1; } ;;
  lasttext)  # what was printed before a crash, on any host, is there
    cat >crash.fa <<'X'
C++ head ${{
#include <csignal>
$}}
C++ sub say(int i, name x) ${{
  for (int k = 0; k < 500; ++k) { printf("before %d %d\n", i, k); if (i == 1) fprintf(stderr, "err %d\n", k); }
  x = i;
$}}
C++ sub crash(int n) ${{ fputs("the last words", stdout); raise(SIGSEGV); $}}
sub main(int where) {
  df x;
  for i = 0..3 say(i, x[i]) @ { locator_cyclic: i; };
  crash(x[0] + x[1] + x[2] + x[3]) @ { locator_cyclic: where; };
}
X
    for where in 0 1; do
      limit "$tessera" run crash.fa -n 3 -q -- $where >out 2>said
      code $? 1
      said "[T410]"
      said "err 499"
      [ "$(grep -cE 'before [0-3] [0-9]+$' out)" = 2000 ] || { echo "rank $where crashed: $(grep -cE 'before [0-3] [0-9]+$' out) lines, not 2000"; exit 1; }
      grep -q "the last words" out || { echo "rank $where crashed: no last words"; exit 1; }
    done ;;
  prompt)  # a line without an end is not kept back
    cat >prompt.fa <<'X'
C++ sub ask(int i, int s) ${{ if (i == 1) { printf("yes or no? "); fflush(stdout); sleep(s); } $}}
sub main(int s) { for i = 0..1 ask(i, s) @ { locator_cyclic: i; }; }
X
    limit "$tessera" run prompt.fa -n 2 -q --balancer none -- 30 >out 2>said &
    pid=$!
    for _ in $(seq 200); do grep -q "yes or no" out && break; sleep 0.1; done
    grep -q "yes or no" out; seen=$?
    kill $pid; wait $pid
    [ $seen = 0 ] || { echo "not seen while the kernel goes on"; exit 1; } ;;
  options)  # those of rank 0 are known to all, though mpirun does not pass them on
    build where
    TESSERA_OPTIONS="-t 3" limit $mpirun ./where >out 2>said
    code $? 0
    said "on 2 ranks (6 worker threads)" ;;
  profile)  # that only the first host has
    build where
    TESSERA_OPTIONS="--save-groups /dev/shm/p" limit $mpirun ./where >out 2>said
    code $? 0
    TESSERA_OPTIONS="--load-groups /dev/shm/p" limit $mpirun ./where >out 2>said
    code $? 0
    TESSERA_OPTIONS="--load-groups /dev/shm/q" limit $mpirun ./where >out 2>said
    code $? 2
    said "no such file: /dev/shm/q"
    echo garbage >/dev/shm/p
    TESSERA_OPTIONS="--load-groups /dev/shm/p" limit $mpirun ./where >out 2>said
    code $? 2 ;;
  stacks)  # over_hosts.sh shows what runs, once in so many seconds
    build nap
    echo "nap sleeps as it should"
    limit $mpirun ./nap 12 >out 2>said
    code $? 0 ;;
  programs)  # another program, and none
    build where
    sed 's/3 where/2 where/; s/ + a\[3\]//' where.fa >other.fa
    build other
    mkdir -p /dev/shm/bin && cp where /dev/shm/bin/p
    "$OVER_HOSTS/agent" h2 "mkdir -p /dev/shm/bin && cp $work/other /dev/shm/bin/p"
    limit $mpirun /dev/shm/bin/p >out 2>said
    code $? 2
    said "different programs"
    said "rank 1 on h2"
    XDG_CACHE_HOME=/dev/shm/cache limit "$tessera" run where.fa -n 2 >out 2>said
    code $? 3
    said "rank 1 on h2: there is no /dev/shm/cache/"
    said "Set XDG_CACHE_HOME to a folder"
    # A home of each host's own: the way out that was named.
    "$OVER_HOSTS/agent" h2 "mkdir -p /dev/shm/home"
    mkdir -p /dev/shm/home
    (unset XDG_CACHE_HOME; HOME=/dev/shm/home limit "$tessera" run where.fa -n 2) >out 2>said
    code $? 3
    said "there is no /dev/shm/home/.cache/"
    HOME=/dev/shm/home XDG_CACHE_HOME=$work/shared limit "$tessera" run where.fa -n 2 >out 2>said
    code $? 0
    cp where /dev/shm/bin/p && "$OVER_HOSTS/agent" h2 "cp $work/where /dev/shm/bin/p"
    HOME=/dev/shm/home limit $mpirun /dev/shm/bin/p >out 2>said
    code $? 0 ;;
  library)  # tessera::run in a program with MPI of its own, on a communicator that has the hosts in another order, and the next run on one rank
    cat >lib.fa <<'X'
C++ head ${{
#include <unistd.h>
$}}
C++ sub where(int i, value v, name x) ${{ char name[100]; gethostname(name, sizeof name); printf("%d of %d on %s\n", i, int(v.getSize() / 8), name); x = i + 1; $}}
C++ sub add(int a, int b, name c) ${{ c = a + b; $}}
sub main(value v, name sum) {
  df x;
  for i = 0..1 where(i, v, x[i]) @ { locator_cyclic: i; };
  add(x[0], x[1], sum);
}
X
    cat >caller.cpp <<'X'
#include <mpi.h>
#include <cstdio>
#include <tessera/library.hpp>
#include <tessera/mpi.hpp>
#include <vector>
int main(int argc, char **argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm back;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
  tessera::Options options;
  options.communicator = tessera::communicator(back);
  options.results_everywhere = true;
  options.more = "--summary s.json --record r.trace";
  tessera::Program program = tessera::Program::load("./liblib.so");
  tessera::Results r = tessera::run(program, {std::vector<double>(1000, 1.0)}, options);
  std::printf("rank %d: sum %d\n", rank, r["sum"].get<int>());
  try {
    options.more = "--balancer nosuch";
    tessera::run(program, {1.0}, options);
  } catch (const tessera::RunError &e) {
    std::printf("rank %d: exit code %d\n", rank, e.exit_code());
  }
  MPI_Finalize();
}
X
    limit "$tessera" build --library lib.fa -o liblib.so || exit 1
    lib=$(realpath "$(dirname "$tessera")/../lib")
    mpicxx -std=c++20 -I"$here/../../runtime/abi" caller.cpp -o caller -L"$lib" -ltessera -Wl,-rpath,"$lib" || exit 1
    limit $mpirun ./caller >out 2>said
    code $? 0
    [ "$(sort out | tr '\n' ',')" = "0 of 1000 on h2,1 of 1000 on h1,rank 0: exit code 2,rank 0: sum 3,rank 1: exit code 2,rank 1: sum 3," ] ||
      { echo "the library:"; cat out said; exit 1; }
    grep -q '"host": "h2"' s.json && [ -s r.trace ] || { echo "no summary or trace"; exit 1; } ;;
  files)  # a run that a signal ends leaves what was measured, on both hosts
    cat >steps.fa <<'X'
C++ sub nap(int i, name x) ${{ usleep(20000); if (i == 8) { printf("begun\n"); fflush(stdout); } x = i; $}}
sub main(int n) { df _x; for i = 1..n nap(i, _x[i]) @ { locator_cyclic: i; }; }
X
    build steps
    for how in INT TERM mpirun; do
      rm -f s.json r.trace s.groups out
      options="--summary s.json --record r.trace --save-groups s.groups --balancer none"
      case $how in
        mpirun) TESSERA_OPTIONS=$options timeout 240 $mpirun ./steps 100000 >out 2>said & ;;
        *) timeout 240 env --default-signal=INT "$tessera" run steps.fa -n 2 $options -- 100000 >out 2>said & ;;
      esac
      pid=$!
      until grep -qs begun out || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
      sleep 1
      kill -s "${how/mpirun/TERM}" "$(pgrep -P $pid)"
      wait $pid
      for file in s.json r.trace s.groups; do [ -s $file ] || { echo "$how: no $file"; ls -l; cat said; exit 1; }; done
      grep -q '"interrupted": true' s.json && grep -q '"host": "h2"' s.json || { echo "$how: the summary lacks something"; cat s.json; exit 1; }
      "$tessera" export r.trace --format csv -o tables || exit 1
      [ "$(cut -d, -f "$(head -n 1 tables/fragments.csv | tr , '\n' | grep -nx rank | cut -d: -f1)" tables/fragments.csv | sort -u | tr '\n' ' ')" = "0 1 rank " ] ||
        { echo "$how: not both ranks are in the trace"; head -3 tables/fragments.csv; exit 1; }
      rm -r tables
    done ;;
  absent)  # Tessera itself
    "$OVER_HOSTS/agent" h2 "mount -t tmpfs none $(dirname "$tessera")"
    limit "$tessera" run where.fa -n 2 >out 2>said
    code $? 3
    said "host h2 can't start $tessera" ;;
  journal)  # no line is lost with whoever passes it on, from whichever host it comes
    cat >some.fa <<'X'
C++ sub some(int i) ${{ usleep(20000); printf("line %d\n", i); $}}
sub main() { for i = 1..150 some(i) @ { locator_cyclic: i; }; }
X
    go() { limit "$tessera" run some.fa -n 3 -t 1 -q --balancer none --journal J --journal-interval 0.05 --restarts 0; }
    build some  # so it is compiled
    "$tessera" run some.fa -n 3 -t 1 -q --balancer none --journal J --journal-interval 0.05 --restarts 0 >one 2>said &
    pid=$!
    until [ "$(wc -l <one)" -ge 40 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -9 $pid
    wait $pid
    code $? 137
    sleep 3  # ranks of another host see it later
    go >two 2>said
    code $? 0
    [ "$(sort -u one two | wc -l)" = 150 ] || { echo "$(sort -u one two | wc -l) lines, not 150"; exit 1; }
    [ "$(wc -l <two)" -lt 130 ] || { echo "all was done again"; exit 1; } ;;
  lost)  # the daemon of a host
    during '"$OVER_HOSTS/signal" h2 KILL orted' 30
    code $? 3
    said "host h2 is lost"
    # With a journal the others go on, when it is known which they are; and it is told when not.
    printf 'h1 slots=1\nh2\n' >two
    during '"$OVER_HOSTS/signal" h2 KILL orted' 8 --journal J --hostfile two
    code $? 0
    said "host h2 is lost"
    said "the run is started again without h2, on 1 rank (1 of 3)"
    during '"$OVER_HOSTS/signal" h2 KILL orted' 8 --journal K
    code $? 3
    said "The same command on hosts without h2 goes on from the journal $work/K" ;;
  signals)
    during '"$OVER_HOSTS/signal" h2 KILL tessera' 30
    code $? 137
    said "rank 1 on h2 was killed"
    during '"$OVER_HOSTS/signal" h2 TERM tessera' 30
    code $? 143
    said "rank 1 on h2 was ended by signal 15"
    during '"$OVER_HOSTS/signal" h1 TERM mpirun' 30
    code $? 130
    said "mpirun was ended by a signal" ;;
  stopped)  # is said, and waited for; the run goes on for some seconds after that
    during '"$OVER_HOSTS/signal" h2 STOP tessera; sleep 14; "$OVER_HOSTS/signal" h2 CONT tessera' 20
    code $? 0
    said "rank 1 on h2 has been silent for 1"
    said "rank 1 on h2 answers again"
    during '"$OVER_HOSTS/signal" h2 STOP tessera' 30 --silence-limit 5
    code $? 3
    said "rank 1 on h2 has been silent for 5 s: the run ends (--silence-limit 5)"
    build nap  # rank 0 is missed by another
    : >out
    TESSERA_OPTIONS="--silence-limit 5" limit $mpirun ./nap 30 >out 2>said &
    pid=$!
    until [ "$(grep -c napping out)" = 2 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
    "$OVER_HOSTS/signal" h1 STOP nap
    wait $pid
    code $? 3
    said "rank 0 on h1 has been silent for 5 s" ;;
  cut)  # from the others: mpirun waits for that host
    during '"$OVER_HOSTS/agent" h2 "ip -o link | sed -n \"s/^[0-9]*: \\([^:@]*\\).*/\\1/p\" | grep -vx lo | xargs -I X ip link set X down"' 600 --silence-limit 5
    code $? 3
    said "rank 1 on h2 has been silent for 5 s: the run ends"
    said "another host is out of reach" ;;
  busy)  # is not silent
    during : 13 -t 1 --silence-limit 5
    code $? 0
    silent "silent" ;;
  status)  # and top, on the host of rank 0: what ranks of both hosts do; what runs 100 times longer than its group, on the other one
    command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
    cat >long.fa <<'X'
C++ sub work(int i, name r) ${{ if (i == 401) { while (access("goon", F_OK) != 0) usleep(5000); } else usleep(500); r = i; $}}
C++ sub show(int n) ${{ printf("%d\n", n); $}}
sub main() { df x; for i = 0..401 work(i, x[i]) @ { locator_cyclic: i; }; show(x[401]); }
X
    limit "$tessera" run long.fa -n 2 -t 1 -q --balancer none >out 2>said &
    pid=$!
    cat >told.py <<'X'
import json, sys
s = json.loads(sys.stdin.readlines()[-1] if sys.argv[1] == 'top' else sys.stdin.read())
slow = s['ranks'][1]['running']
if len(slow) != 1 or 'mean_of_group_seconds' not in slow[0] or slow[0]['seconds'] < 100 * slow[0]['mean_of_group_seconds']: sys.exit(2)
assert [r['host'] for r in s['ranks']] == ['h1', 'h2'], s
assert all(r['answered'] and r['memory_bytes'] > 1e6 for r in s['ranks']), s
assert [r['done'] for r in s['ranks']] == [202, 200], s  # with main
assert not s['ranks'][0]['running'] and 'i=401' in slow[0]['fragment'], s
if sys.argv[1] == 'waits':
    first, = s['waits']['first']
    assert first['for'] == 'x[401]' and first['made_by']['rank'] == 1, s
X
    # The long one has to have run for long: until then told.py ends with 2.
    for _ in {1..600}; do
      "$tessera" status --run $pid --json >s.json 2>/dev/null && python3 told.py status <s.json 2>why
      case $? in 0) break ;; esac
      grep -q AssertionError why 2>/dev/null && [ "$(grep -c . why)" -gt 0 ] && tries=$((${tries:-0} + 1)) && [ "$tries" -gt 50 ] && break
      sleep 0.1
    done
    python3 told.py status <s.json || { echo "status tells this:"; cat s.json; touch goon; exit 1; }
    "$tessera" status --run $pid --waiting --json | python3 told.py waits || { touch goon; exit 1; }
    "$tessera" status --run $pid --waiting >text
    timeout 2 "$tessera" top --run $pid --json --interval 0.3 >lines
    timeout 2 "$tessera" top --run $pid --interval 0.3 >>text
    touch goon
    wait $pid
    code $? 0
    python3 told.py top <lines || { echo "top tells this:"; cat lines; exit 1; }
    grep -qE '^ +1 .* h2$' text && grep -qE 'rank 1 runs .*i=401.*: [0-9]+ times as long as its group in the mean' text &&
      grep -q 'rank 1 is making it' text || { echo "the text is this:"; cat text; exit 1; } ;;
  clocks)  # of h2 the monotonic clock is an hour ahead; a record has both on that of rank 0, and says how exactly
    hour_ahead
    cat >chain.fa <<'X'
C++ sub next(int a, name x) ${{ usleep(2000); x = a + 1; $}}
C++ sub first(name x) ${{ x = 0; $}}
sub main() { df x; first(x[0]); for i = 1..400 next(x[i - 1], x[i]) @ { locator_cyclic: i; }; }
X
    OMPI_MCA_plm_rsh_agent=$work/ahead limit "$tessera" run chain.fa -n 2 --balancer none --record chain.trace >out 2>said
    code $? 0
    # rank 1 WORKERS other-host OFFSET ERROR: it is an hour, within what is said, and that is little.
    awk '/^rank 1 / { n++; off = $5 + 3600e9; if (off < 0) off = -off; if ($4 != "other-host" || off > $6 || $6 > 50e6) bad = 1; print }
      END { exit n == 1 && !bad ? 0 : 1 }' chain.trace || { echo "the clocks are not together"; exit 1; }
    # Nobody runs before what it waits for: what travels takes time, and no more than that.
    "$tessera" export chain.trace --format csv -o tables || exit 1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["kind"] == "kernel" { n++; if ($at["start_ns"] < 0 || $at["start_ns"] > 60e9) bad++ }
      END { exit n == 401 && !bad ? 0 : 1 }' tables/fragments.csv || { echo "times of an hour ahead:"; head -3 tables/fragments.csv; exit 1; } ;;
  slow)  # link between hosts, a balancer, clocks an hour apart: what a record says of it is possible, and the report opens
    hour_ahead
    command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
    : >link
    python3 "$here/slow_link.py" 1 200 "$(cat "$OVER_HOSTS/h1.pid")" "$(cat "$OVER_HOSTS/h2.pid")" >link 2>&1 &
    link=$!
    trap 'kill $link 2>/dev/null; rm -rf "$work"' EXIT
    until grep -q ready link || ! kill -0 $link 2>/dev/null; do sleep 0.1; done
    grep -q ready link || { cat link; wait $link; exit $?; }
    cat >uneven.fa <<'X'
C++ sub make(int i, name x) ${{ std::fill_n(x.create<double>(1000), 1000, double(i)); $}}
C++ sub work(int i, value x, name y) ${{ usleep(static_cast<useconds_t>(100 * i)); y = x.getData<double>()[0]; $}}
C++ sub add(real a, real b, name c) ${{ c = a + b; $}}
C++ sub zero(name c) ${{ c = 0.0; $}}
C++ sub show(real s) ${{ printf("sum %.0f\n", s); $}}
sub main() {
  df x, y, c;
  for i = 1..200 { make(i, x[i]); work(i, x[i], y[i]); }
  zero(c[0]);
  for i = 1..200 add(c[i - 1], y[i], c[i]);
  show(c[200]);
}
X
    for balancer in auto steal; do
      OMPI_MCA_btl_tcp_if_include=lag0 OMPI_MCA_plm_rsh_agent=$work/ahead limit "$tessera" run uneven.fa -n 2 -t 1 --balancer $balancer --record slow.trace >out 2>said
      code $? 0
      [ "$(cat out)" = "sum 20100" ] || { echo "$balancer:"; cat out said; exit 1; }
      rm -rf tables
      "$tessera" export slow.trace --format csv -o tables || exit 1
      python3 "$here/slow_check.py" slow.trace tables 1 || { echo "$balancer: the record says what can't be"; exit 1; }
      "$tessera" report slow.trace -o slow.html || exit 1
      browser=$(command -v chromium-headless-shell || command -v chromium) || continue
      timeout 100 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --dump-dom "file://$work/slow.html" >page 2>browser.said
      grep -q "on 2 ranks, 2 workers, balancer $balancer" page || { echo "$balancer: the report does not open"; head -c 2000 page; cat browser.said; exit 1; }
    done ;;
  *) echo "no check $what"; exit 2 ;;
esac
