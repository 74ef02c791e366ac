#!/usr/bin/env bash
# kills.sh TESSERA ROOT ROUNDS [PROGRAM...]: programs on four ranks are killed at random moments (one rank, all of them, the
# launcher, both together, two kills in a row, all of them when the journal's disk is full; or SIGTERM or SIGINT end the run) and go on, on another number of ranks, until they
# come to their end. What all attempts have printed together must be what a run without a journal prints, and what each has printed ends with a line. A moment counts from when
# the attempt has written something; a story of which nobody was killed does not count, and is told again with sooner ones. The seed is $SEED; one that has failed can be tried again.
# EACH_WAY=yes: each program in each way, or in those of WAYS ("0 1 2 3": each rank of four).
set -u
tessera=$(realpath "$1") root=$(realpath "$2") rounds=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
RANDOM=${SEED:-1}
long=${EACH_WAY:-no}  # then there has to be time for each of them
work=$(mktemp -d)
remove_journal() { while mountpoint -q "$work/J"; do umount "$work/J" || break; done; rm -rf "$work/J"; }
trap 'remove_journal; rm -rf "$work"' EXIT
cd "$work" || exit 1

words_of() {
  case $1 in
    matmul) echo "$root/examples/matmul/matmul.fa -D BLOCKS=8 -D BLOCK_SIZE=200" ;;
    cholesky) echo "$root/examples/cholesky/cholesky.fa -D TILES=$([ $long = yes ] && echo 40 || echo 20) -D TILE=96" ;;
    rowreduce) echo "$root/examples/rowreduce/rowreduce.fa -D ROWS=60 -D COLUMNS=20000" ;;
    heat) echo "$root/examples/heat/heat.fa -D CELLS=400 -D STEPS=1000" ;;
    search) echo "$here/search.fa -D N=$([ $long = yes ] && echo 15 || echo 14)" ;;
    lines) echo "$here/lines.fa -D LINES=300000" ;;
    until) echo "$here/until.fa -D LIMIT=0.02" ;;
    *) echo "kills.sh: no such program: $1" >&2; exit 2 ;;
  esac
}

# The processes below this one that are a rank ($2), or that all are ("").
ranks_below() {
  local p
  for p in $(pgrep -P "$1"); do
    if tr '\0' '\n' 2>/dev/null <"/proc/$p/environ" | grep -q "^OMPI_COMM_WORLD_RANK=$2"; then echo "$p"; else ranks_below "$p" "$2"; fi
  done
}

# How much is in the journal beyond the headers of its files.
written() {
  local all=0 f size
  for f in J/*.tsj; do
    size=$(stat -c %s "$f" 2>/dev/null) || continue
    [ "$size" -lt 32 ] || all=$((all + size - 32 - $(od -An -tu8 -j8 -N8 "$f")))
  done
  echo "$all"
}
# Waits until there is more than $2 of it, or $1 has ended.
until_written() {
  while kill -0 "$1" 2>/dev/null; do
    [ "$(written)" -le "$2" ] || return 0
    sleep 0.01
  done
  return 1
}

failed=0 killed=0
fail() { echo "FAILED $*" >&2; failed=$((failed + 1)); }

# one PROGRAM WHO: a story. 1: nobody was killed in it.
one() {
  local program=$1 who=$2 words attempt code pid took sooner
  words=$(words_of "$program")
  if [ ! -f "$program.expected" ]; then
    timeout 120 "$tessera" run -q -n 4 $words >"$program.expected" || { fail "$program without a journal"; return; }
    took=$(date +%s%N)  # it is compiled now
    timeout 120 "$tessera" run -q -n 4 $words >again || { fail "$program without a journal"; return; }
    echo $(((($(date +%s%N) - took)) / 1000000)) >"$program.ms"
    sort -u -o "$program.expected" "$program.expected"
  fi
  sooner=$(($(cat "$program.ms") / ${3:-1}))
  remove_journal
  if [ "$who" = full ]; then
    mkdir J
    mount -t tmpfs -o size=40k none J 2>/dev/null || { echo "passed over: $program, full disk: nobody may mount one here"; return; }
  fi
  : >out
  local kills=1 were=0
  [ "$who" != twice ] || kills=2
  for attempt in 1 2 3 4; do
    local n=4 before
    [ "$attempt" = 1 ] || n=$((1 + RANDOM % 5))
    before=$(written)
    timeout -s KILL 120 env --default-signal=INT "$tessera" run -n "$n" --journal J --journal-interval 0.05 --restarts 0 $words >>out 2>err &
    pid=$!
    # (On a disk that is full nothing grows any more.)
    if [ "$attempt" -le "$kills" ] && { [ "$who" = full ] && sleep 0.5 || until_written "$pid" "$before"; }; then
      sleep "$(printf '%d.%03d' $((m = RANDOM % (sooner + 1), m / 1000)) $((m % 1000)))"
      local run
      run=$(pgrep -P "$pid" -x tessera | head -1)
      case $who in
        term | int) [ -z "$run" ] || kill -s "${who^^}" "$run" 2>/dev/null ;;
        launcher) [ -z "$run" ] || kill -9 "$run" 2>/dev/null ;;
        both) [ -z "$run" ] || kill -9 "$run" $(ranks_below "$run" "") 2>/dev/null ;;
        all | full) [ -z "$run" ] || kill -9 $(ranks_below "$run" "") 2>/dev/null ;;
        twice) [ -z "$run" ] || kill -9 $(ranks_below "$run" "" | shuf -n 1 --random-source=<(yes $RANDOM)) 2>/dev/null ;;
        *) [ -z "$run" ] || kill -9 $(ranks_below "$run" "$who") 2>/dev/null ;;
      esac
    fi
    wait "$pid" 2>/dev/null
    code=$?
    [ ! -s out ] || [ "$(tail -c 1 out | wc -l)" = 1 ] ||
      { fail "$program, killed: $who, seed ${SEED:-1}: what is out ends within a line: $(tail -c 60 out)"; return; }
    [ "$code" -ne 0 ] || break
    were=$((were + 1))
    [ "$attempt" -le "$kills" ] || break
    # Ranks whose launcher was killed end a moment later, and hold the folder until then.
    for _ in $(seq 60); do pgrep -f "journal J .*$work" >/dev/null || flock -n J/lock true 2>/dev/null && break; sleep 0.1; done
  done
  local story="$program, killed: $who, attempts: $attempt, seed ${SEED:-1}"
  if [ "$code" -ne 0 ]; then fail "$story: exit code $code: $(tail -3 err)"; return; fi
  sort -u out >lines
  if ! cmp -s lines "$program.expected"; then fail "$story: $(diff lines "$program.expected" | head -5)"; return; fi
  [ "$were" -gt 0 ] || return 1
  killed=$((killed + were))
  echo "right: $story; $(grep -o 'goes on.*done' err | tail -1 | sed 's/.*: //')"
}

programs=("$@")
[ ${#programs[@]} -gt 0 ] || programs=(matmul cholesky rowreduce heat search until lines)
ways=(${WAYS:-term 0 1 2 3 all launcher both twice full int})
# told PROGRAM WHO: until somebody was killed.
told() {
  local soon
  for soon in 1 2 4 16 1000; do if one "$1" "$2" "$soon"; then return; fi; done
  echo "passed over: $1, killed: $2: it ends too soon"
}
number=0
for ((round = 0; round < rounds; ++round)); do
  for program in "${programs[@]}"; do
    if [ "${EACH_WAY:-}" = yes ]; then for who in "${ways[@]}"; do told "$program" "$who"; done; else told "$program" "${ways[$((number % ${#ways[@]}))]}"; fi
    number=$((number + 1))
  done
done
echo "$killed kills, $failed failed"
exit $((failed > 0))
