# What a journal costs: runs with and without one in turns, at the default interval; bytes; and going on.

# once OPTIONS WORDS...: "seconds processor-seconds" of a run with these options.
once() {
  quiet --summary "$work/summary.json" "$@"
  echo "$(field seconds) $(total cpu_seconds)"
}

# pair WORDS...: "ratio ratio bytes" of a run with a journal to one without, at once after it.
pair() {
  local without with
  rm -rf "$work/journal"
  without=$(once "$@")
  with=$(once --journal "$work/journal" "$@")
  echo "$(calc "${with% *} / ${without% *}") $(calc "${with#* } / ${without#* }") $(cat "$work/journal"/*.tsj 2>/dev/null | wc -c)"
}

# cost NAME TARGET WORDS...
cost() {
  local name=$1 target=$2
  shift 2
  repeat "$runs" pair "$@" >"$work/pairs"
  printf '| %s | %s | %s | %s | %s MB | `%s` |\n' "$name" "$(awk '{ print 100 * ($1 - 1) }' "$work/pairs" | scaled 1 '%.1f %%')" \
    "$(awk '{ print 100 * ($2 - 1) }' "$work/pairs" | scaled 1 '%.1f %%')" "$target" "$(awk '{ print $3 }' "$work/pairs" | scaled 1e-6 '%.1f')" \
    "tessera run --journal J ${*//$root\//}"
}

# journal_instructions: of a fragment of the stencil, with a journal beyond without one.
journal_instructions() {
  local few many without
  without=$(per_fragment_instructions 20000 "-D WIDTH=200 -D STEPS=50" "-D WIDTH=200 -D STEPS=150" stencil)
  few=$(journalled_instructions -D WIDTH=200 -D STEPS=50 "$programs/stencil.fa")
  many=$(journalled_instructions -D WIDTH=200 -D STEPS=150 "$programs/stencil.fa")
  echo "$(calc "int(($many - $few) / 20000 + 0.5 - $without)") more than $without"
}
journalled_instructions() {
  rm -rf "$work/journal"
  "$tessera" build -q "$@" -o "$work/counted"
  TESSERA_OPTIONS="-t 1 --quiet --journal $work/journal" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/counted" \
    >"$work/out" 2>"$work/err" || die "failed: valgrind $*"$'\n'"$(cat "$work/err")"
  sed -n 's/.*Collected : *//p' "$work/err"
}

# left_off OPTIONS WORDS...: leaves a journal of a run that was ended when it had done all but its last fragment.
left_off() {
  rm -rf "$work/journal"
  "$tessera" build -q "$@" -o "$work/left" || die "failed: tessera build $*"
  TESSERA_OPTIONS="-t 1 --quiet --journal $work/journal --journal-interval 1000" "$work/left" hold >"$work/out" 2>"$work/err" &
  local pid=$!
  until grep -q held "$work/out"; do sleep 0.1; kill -0 "$pid" || die "left.fa has ended: $(cat "$work/err")"; done
  kill -TERM "$pid"
  wait "$pid" || [ $? -eq 75 ] || die "no last sweep: $(cat "$work/err")"
}

# going_on NAME N LIVE WORDS...: so many fragments are done, so many bytes of values are needed.
going_on() {
  local name=$1 n=$2 live=$3 size before after
  shift 3
  left_off -D "N=$n" "$@" "$programs/left.fa"
  size=$(cat "$work/journal"/*.tsj | wc -c)
  before=$(date +%s.%N)
  TESSERA_OPTIONS="-t 1 --journal $work/journal" "$work/left" hold >"$work/out" 2>"$work/err" &
  local pid=$!
  until grep -q held "$work/out"; do sleep 0.02; kill -0 "$pid" || die "left.fa has ended: $(cat "$work/err")"; done
  after=$(date +%s.%N)
  kill -9 "$pid"
  wait "$pid" 2>"$work/err" || true
  printf '| %s | %s s | %s us | %s MB | %s |\n' "$name" "$(calc "$after - $before" | scaled 1 '%.2f')" "$(calc "($after - $before) * 1e6 / $n" | scaled 1 '%.2f')" \
    "$(calc "$size * 1e-6" | scaled 1 '%.1f')" "$([ "$live" = 0 ] || calc "$size / $live" | scaled 1 '%.2f')"
}

# repeated_once: seconds of a run of $work/left that is killed on its way, and goes on, beyond those of one that is not.
repeated_once() {
  local alone pid before rest until_killed
  alone=$(wall env "TESSERA_OPTIONS=-t 1 --quiet" "$work/left")
  rm -rf "$work/journal"
  before=$(date +%s.%N)
  TESSERA_OPTIONS="-t 1 --quiet --journal $work/journal --journal-interval 1" "$work/left" >"$work/out" 2>"$work/err" &
  pid=$!
  sleep "$(calc "$alone * (40 + $RANDOM % 40) / 100")"
  until_killed=$(calc "$(date +%s.%N) - $before")
  kill -9 "$pid" || die "it has ended: $(cat "$work/err")"
  wait "$pid" 2>"$work/err" || true
  rest=$(wall env "TESSERA_OPTIONS=-t 1 --quiet --journal $work/journal" "$work/left")
  calc "$until_killed + $rest - $alone"
}
# repeated NAME WORDS...
repeated() {
  local name=$1
  shift
  "$tessera" build -q "$@" -o "$work/left" || die "failed: tessera build $*"
  repeat "$runs" repeated_once >"$work/pairs"
  printf '| %s | %s s | 2 s |\n' "$name" "$(scaled 1 '%.2f' <"$work/pairs")"
}

journal() {
  local x=$root/examples
  echo
  echo "### Journals"
  echo
  echo "One worker, without a journal and with one in turns; median (min..max) of $runs. Instructions of a fragment of the fine stencil: $(journal_instructions)."
  echo
  echo "| what | time beyond that without a journal | processor time | asked | written | command |"
  echo "|---|---|---|---|---|---|"
  cost matmul "1 %" -t 1 -D BLOCKS=12 "$x/matmul/matmul.fa"
  cost Cholesky "1 %" -t 1 -D TILES=40 "$x/cholesky/cholesky.fa"
  cost heat "1 %" -t 1 -D STEPS=1000 "$x/heat/heat.fa"
  cost "fine stencil" "3 %" -t 1 -D WIDTH=1000 -D STEPS=10000 "$programs/stencil.fa"
  echo
  echo "Until a run that was ended just before its end is there again:"
  echo
  echo "| what | time | for each fragment | journal | written / live bytes |"
  echo "|---|---|---|---|---|"
  going_on "10^6 fragments done" 1000000 0
  going_on "10^7 fragments done" 10000000 0
  going_on "1000 values of 1 MB" 1000 1e9 -D BYTES=1000000
  echo
  echo "A run that is killed on its way, with a sweep each second, and goes on: time of both beyond that of one run (an interval and 1 s are asked at most):"
  echo
  echo "| what | repeated | asked |"
  echo "|---|---|---|"
  repeated heat -D STEPS=1000 "$x/heat/heat.fa"
  repeated "fine stencil" -D WIDTH=1000 -D STEPS=10000 "$programs/stencil.fa"
}
