# Figures to reach: ours, not the sources'.

aims() {
  cat <<TEXT
## Figures to reach

Ours, not the sources'. Efficiency against the bound, or (the last two) work over workers over time.

| | aim | here |
|---|---|---|
TEXT
share() { awk -v p="$1" 'BEGIN { printf "%.3f", p / 100 }'; }
one() { echo "| $1 | $2 | $(share "$(awk 'NR == 1 { print $4 }' <<<"$3")") |"; }
one "\`central\`, \`-w matmul -c mustafin --workers 15\`" 0.95 "$(simulated -w matmul -c mustafin --workers 15 -b central)"
larger=matmul:blocks=26
one "\`central\`, \`-w $larger --workers 255\`, 17 times the products, and a network of 16 GB/s" 0.95 "$(simulated -w $larger -c "$(with mustafin '1 GB/s' '16 GB/s')" --workers 255 -b central)"
one "the same with 1 GB/s: making all blocks takes 3.5 s, and bringing all to rank 0 1.4 s" 0.95 "$(simulated -w $larger -c mustafin --workers 255 -b central)"
one "the same with 1 GB/s and blocks of 100 kB" 0.95 "$(simulated -w $larger,block=100kB,output=100kB -c mustafin --workers 255 -b central)"
"$scale" central >"$work/central"
"$scale" hierarchical >"$work/hierarchical"
of_scale() { awk -F' *[|] *' -v w="$2" -v g="$3" '$3 == w && $5 == g { print $8; exit }' "$work/$1"; }
echo "| \`central\`, 4,096 workers, fragments of 60 ms (\`bench/run scale\`) | 0.9 | $(of_scale central 4096 '60 ms') |"
echo "| \`hierarchical\`, 65,536 workers, fragments of 10 ms (\`bench/run scale\`) | 0.9 | $(of_scale hierarchical 65536 '10 ms') |"
cat <<TEXT

The run of 65,536 workers: $(awk -F' *[|] *' '$3 == 65536 { print $6 " fragments, " $10 " messages" }' "$work/hierarchical"); some two minutes of one core and 1.4 GB.
\`auto\` against the best on every workload: [policies/auto.md](policies/auto.md).

TEXT
}
