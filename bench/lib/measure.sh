# Shared by bench/run: running the command, taking numbers from its summary, medians.

tessera=${TESSERA:-$root/build/release/bin/tessera}
programs=$root/bench/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
  echo "bench/run: $*" >&2
  exit 1
}

[ -x "$tessera" ] || tessera=$(command -v tessera) || die "no tessera command: build it, or set TESSERA"

# busy_share: the share (percent) of all processors that was busy during 0.3 s.
busy_share() {
  local before after
  before=$(head -1 /proc/stat)
  sleep 0.3
  after=$(head -1 /proc/stat)
  awk '{ for (i = 2; i <= 9; i++) t += $i; idle = $5 + $6; if (NR == 2) printf "%.0f\n", 100 * (1 - (idle - i0) / (t - t0)); t0 = t; i0 = idle; t = 0 }' \
    <<<"$before"$'\n'"$after"
}

# settle: waits until nothing else uses the processors, at most 25 s ($BENCH_PATIENCE looks); a measurement that starts on a
# busy machine all the same is noted.
settle() {
  local i
  for ((i = 0; i < ${BENCH_PATIENCE:-40}; i++)); do
    [ "$(busy_share)" -le 8 ] && return
    sleep 0.3
  done
  echo x >>"$work/disturbed"
}

disturbed() {
  local n=0
  [ ! -f "$work/disturbed" ] || n=$(wc -l <"$work/disturbed")
  echo "$n"
}

# quiet WORDS...: runs `tessera run WORDS`, must succeed; output is dropped, stderr shown on failure.
quiet() {
  "$tessera" run --quiet "$@" >"$work/out" 2>"$work/err" ||
    die "failed: tessera run $*"$'\n'"$(cat "$work/err")"
}

# seconds WORDS...: the time of the run itself, as the summary gives it (no start-up, no compiling).
seconds() {
  settle
  quiet --summary "$work/summary.json" "$@"
  field seconds
}

# field NAME: the first number of that name in the last summary.
field() {
  local value
  value=$(sed -n "s/^ *\"$1\": *\([-+0-9.eE]*\).*/\1/p" "$work/summary.json" | head -1)
  [ -n "$value" ] || die "the summary has no number \"$1\""
  echo "$value"
}

# total NAME: the sum of the numbers of that name in the last summary, one per rank.
total() {
  sed -n "s/^ *\"$1\": *\([-+0-9.eE]*\).*/\1/p" "$work/summary.json" |
    awk '{ s += $1 } END { if (NR == 0) exit 1; printf "%.6f\n", s }' ||
    die "the summary has no numbers \"$1\""
}

# wall COMMAND...: wall-clock seconds of a command.
wall() {
  local TIMEFORMAT=%3R
  settle
  { time "$@" >"$work/out" 2>"$work/err"; } 2>"$work/time" || die "failed: $*"$'\n'"$(cat "$work/err")"
  cat "$work/time"
}

# repeat N COMMAND...: its N answers, one per line.
repeat() {
  local n=$1 i
  shift
  for ((i = 0; i < n; i++)); do "$@" || return 1; done
}

# median / spread: of the numbers on stdin. Spread is "min..max".
median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# scaled FACTOR FORMAT: "median (min..max)" of the numbers on stdin times FACTOR.
scaled() {
  sort -g | awk -v k="$1" -v f="$2" '
    { v[NR] = $1 * k }
    END {
      m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
      printf(NR > 1 ? f " (" f ".." f ")\n" : f "\n", m, v[1], v[NR])
    }'
}

calc() { awk "BEGIN { printf \"%.6g\n\", $* }"; }

machine() {
  local model
  model=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)
  echo "Measured on: $(nproc) cores (${model:-unknown}), $(uname -sr), $("$tessera" --version 2>/dev/null | head -1), commit $(git -C "$root" rev-parse --short HEAD), $(date -u +%Y-%m-%d). Each run waits for idle processors."
}
