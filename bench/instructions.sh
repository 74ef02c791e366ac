# Instructions per fragment, counted by callgrind: the same on a busy machine and on a quiet one. With
# --check, which the test `bench.instructions` gives, numbers over the bounds of
# bench/instructions.txt (name, instructions) are errors: 4 to 6 % above those of a quiet machine, for on a busy one
# fragments that lost their core are taken for long ones, and those after them are timed (runtime/work/group_stats.hpp).

# instructions WORDS...: of one run of a program with one worker.
instructions() {
  "$tessera" build -q "$@" -o "$work/counted" || die "failed: tessera build $*"
  TESSERA_OPTIONS="-t 1 --quiet" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/counted" \
    >"$work/out" 2>"$work/err" || die "failed: valgrind $*"$'\n'"$(cat "$work/err")"
  sed -n 's/.*Collected : *//p' "$work/err"
}

# per_fragment_instructions FRAGMENTS FEWER MORE PROGRAM: what the fragments that the words MORE make
# beyond those of FEWER cost each.
per_fragment_instructions() {
  local few many
  few=$(instructions $2 "$programs/$4.fa")
  many=$(instructions $3 "$programs/$4.fa")
  calc "int(($many - $few) / $1 + 0.5)"
}

counted_fragments() {
  echo "independent 40000 -D,N=20000 -D,N=60000 independent"
  echo "chain 40000 -D,N=20000 -D,N=60000 chain"
  echo "stencil 20000 -D,WIDTH=200,-D,STEPS=50 -D,WIDTH=200,-D,STEPS=150 stencil"
  echo "tree 12288 -D,DEPTH=11 -D,DEPTH=13 binary_tree"
  echo "fan 40000 -D,N=10000 -D,N=30000 fan"
}

count_instructions() {
  local name fragments few many program got bound again bad=0
  command -v valgrind >/dev/null || die "valgrind is not installed"
  echo
  echo "### Instructions per fragment"
  echo
  echo "One worker, \`valgrind --tool=callgrind\`, \`bench/run instructions\`; the bounds are those of bench/instructions.txt, which a test checks."
  echo
  echo "| pattern | instructions | bound |"
  echo "|---|---|---|"
  while read -r name fragments few many program; do
    got=$(per_fragment_instructions "$fragments" "${few//,/ }" "${many//,/ }" "$program")
    bound=$(awk -v n="$name" '$1 == n { print $2 }' "$root/bench/instructions.txt")
    # What is tiny is found by the clock: on a machine that stops for a while, fragments may be taken for long ones.
    for again in 1 2; do
      [ -n "$check" ] && [ "$got" -gt "${bound:-0}" ] || break
      echo "bench/run: $name took $got instructions per fragment; counted again" >&2
      got=$(per_fragment_instructions "$fragments" "${few//,/ }" "${many//,/ }" "$program")
    done
    echo "| $name | $got | $bound |"
    if [ -n "$check" ] && [ "$got" -gt "${bound:-0}" ]; then
      echo "bench/run: $name takes $got instructions per fragment; bench/instructions.txt allows ${bound:-none}" >&2
      bad=1
    fi
  done < <(counted_fragments)
  return $bad
}
