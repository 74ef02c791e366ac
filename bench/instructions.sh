# Instructions per fragment, counted by callgrind. With --check, which the test `bench.instructions` gives, numbers over
# the bounds of bench/instructions.txt (name, instructions) are errors. On a busy machine fragments that lost their core
# are taken for long ones, and those after them are timed (runtime/work/group_stats.hpp): a run can only take more
# instructions for that, so what counts is the least of several runs, which go before other processes where they may.

# instructions WORDS...: of one run of a program with one worker.
instructions() {
  "$tessera" build -q "$@" -o "$work/counted" || die "failed: tessera build $*"
  TESSERA_OPTIONS="-t 1 --quiet" nice -n -20 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/counted" \
    >"$work/out" 2>"$work/err" || die "failed: valgrind $*"$'\n'"$(cat "$work/err")"
  sed -n 's/.*Collected : *//p' "$work/err"
}

# least_instructions SO_FAR WORDS...: the same, once more.
least_instructions() {
  local so_far=$1 now
  shift
  now=$(instructions "$@")
  echo $((so_far == 0 || now < so_far ? now : so_far))
}

# per_fragment_instructions FRAGMENTS FEWER MORE PROGRAM: what the fragments that the words MORE make beyond those of
# FEWER cost each, by one run of each.
per_fragment_instructions() {
  calc "int(($(instructions $3 "$programs/$4.fa") - $(instructions $2 "$programs/$4.fa")) / $1 + 0.5)"
}

counted_fragments() {
  echo "independent 40000 -D,N=20000 -D,N=60000 independent"
  echo "chain 40000 -D,N=20000 -D,N=60000 chain"
  echo "stencil 20000 -D,WIDTH=200,-D,STEPS=50 -D,WIDTH=200,-D,STEPS=150 stencil"
  echo "tree 12288 -D,DEPTH=11 -D,DEPTH=13 binary_tree"
  echo "fan 40000 -D,N=10000 -D,N=30000 fan"
}

count_instructions() {
  local name fragments few many program least_few least_many got bound again bad=0
  command -v valgrind >/dev/null || die "valgrind is not installed"
  echo
  echo "### Instructions per fragment"
  echo
  echo "One worker, \`valgrind --tool=callgrind\`, \`bench/run instructions\`; the bounds are those of bench/instructions.txt, which a test checks."
  echo
  echo "| pattern | instructions | bound |"
  echo "|---|---|---|"
  while read -r name fragments few many program; do
    bound=$(awk -v n="$name" '$1 == n { print $2 }' "$root/bench/instructions.txt")
    least_few=0 least_many=0
    for again in 1 2 3 4 5; do
      least_few=$(least_instructions "$least_few" ${few//,/ } "$programs/$program.fa")
      least_many=$(least_instructions "$least_many" ${many//,/ } "$programs/$program.fa")
      got=$(calc "int(($least_many - $least_few) / $fragments + 0.5)")
      [ -n "$check" ] && [ "$got" -gt "${bound:-0}" ] || break
      echo "bench/run: $name took $got instructions per fragment; counted again" >&2
    done
    echo "| $name | $got | $bound |"
    if [ -n "$check" ] && [ "$got" -gt "${bound:-0}" ]; then
      echo "bench/run: $name takes $got instructions per fragment; bench/instructions.txt allows ${bound:-none}" >&2
      bad=1
    fi
  done < <(counted_fragments)
  return $bad
}
