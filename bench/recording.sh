# What --record costs: pairs of runs, with and without.

# cpu WORDS...: processor time of the run itself, without what is done with the record afterwards.
cpu() {
  settle
  quiet --summary "$work/summary.json" "$@"
  field cpu_seconds
}

# recorded "FLAGS" FRAGMENTS PROGRAM [ARGUMENTS...]: a row: processor time without, the ratio, and what a fragment costs more.
recorded() {
  local flags=$1 fragments=$2 program=$3 i plain with ratios="" plains="" costs=""
  shift 3
  # In the order without, with, with, without: a drift of the machine cancels.
  for ((i = 0; i < runs; i++)); do
    if ((i % 2 == 0)); then
      plain=$(cpu $flags "$root/$program" -- "$@")
      with=$(cpu $flags --record "$work/r.trace" "$root/$program" -- "$@")
    else
      with=$(cpu $flags --record "$work/r.trace" "$root/$program" -- "$@")
      plain=$(cpu $flags "$root/$program" -- "$@")
    fi
    plains+="$plain"$'\n'
    ratios+="$(calc "$with / $plain")"$'\n'
    costs+="$(calc "($with - $plain) / $fragments * 1e9")"$'\n'
  done
  echo "| $(printf %s "$plains" | scaled "$(calc "1e6 / $fragments")" '%.3g') us | $(printf %s "$ratios" | scaled 1 '%.3f') | $(printf %s "$costs" | scaled 1 '%.0f') ns | \`tessera run $program $flags --record FILE -- $*\` |"
}

recording() {
  echo
  echo "### Recording"
  echo
  echo "One worker; processor time of the run, medians of $runs pairs of runs, with and without \`--record\`. A fragment is a kernel with its share of the loop."
  echo
  echo "| time per fragment | recorded / not | recording one | command |"
  echo "|---|---|---|---|"
  recorded "-t 1" 50000 bench/programs/metg.fa 50 1000 6000
  recorded "-t 1" 200000 bench/programs/metg.fa 100 2000 600
  recorded "-t 1 -D N=1000000" 1000000 bench/programs/independent.fa
}
