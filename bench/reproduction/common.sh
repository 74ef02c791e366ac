# What the parts of bench/reproduce share: running the simulator, reading its tables and the published ones, and drawing.

published=$root/bench/published

# simulated ARGUMENTS...: rows of `balancer ranks seconds efficiency imbalance messages/rank moved`.
simulated() {
  "$tessera" simulate "$@" | awk '
    function seconds(v, u) { return u == "s" ? v : u == "ms" ? v / 1e3 : u == "us" ? v / 1e6 : u == "h" ? v * 3600 : v * 60 }
    $2 ~ /^[0-9]+$/ { print $1, $2, seconds($3, $4), $7, $9, $11, $14 }'
}
# with FILE FROM TO...: a copy of a cluster file with other values; prints its name.
with() {
  local copy=$work/$RANDOM.toml
  cp "configs/clusters/$1.toml" "$copy"
  shift
  while [ $# -gt 0 ]; do sed -i "s|$1|$2|" "$copy"; shift 2; done
  echo "$copy"
}
# of ROWS BALANCER RANKS COLUMN: one figure; RANKS may be `-` for any.
of() { awk -v b="$2" -v r="$3" -v c="$4" '$1 == b && (r == "-" || $2 == r) { print $c; exit }' <<<"$1"; }
# cell FILE COLUMN KEY=VALUE...: of a published table, by the names of its columns; nothing when there is no such row.
cell() {
  local file=$published/$1.csv column=$2
  shift 2
  awk -F, -v column="$column" -v keys="$*" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; n = split(keys, k, " "); next }
    { for (i = 1; i <= n; ++i) { split(k[i], kv, "="); if ($at[kv[1]] != kv[2] && index($at[kv[1]], kv[2] " ") != 1) next } print $at[column]; exit }' "$file"
}
# holds A B ...: are they in rising order?
holds() { awk 'BEGIN { ok = 1; for (i = 2; i < ARGC; i++) if (ARGV[i] + 0 < ARGV[i - 1] + 0) ok = 0; print ok ? "holds" : "**does not hold**" }' "$@"; }
# near A B SHARE: is A within SHARE of B?
near() { awk -v a="$1" -v b="$2" -v s="$3" 'BEGIN { d = a > b ? a - b : b - a; print d <= s * b ? "holds" : "**does not hold**" }'; }
round() { [ -z "$1" ] || awk -v x="$1" -v d="${2:-2}" 'BEGIN { printf "%.*f", d, x }'; }
fall() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f %%", 100 * (a - b) / a }'; }
calc() { awk "BEGIN { print ($1) }"; }

row() { echo "| \`$2\` | $(awk -v x="$(of "$1" "$2" - 3)" 'BEGIN { printf "%.1f", 1000 * x }') | $(of "$1" "$2" - 4) % | $(of "$1" "$2" - 5) % | $(of "$1" "$2" - 6) | $(of "$1" "$2" - 7) |"; }

# draw FILE TITLE Y-NAME: lines of `name<TAB>x:y x:y ...` from stdin as a chart, on nodes.
draw() {
  awk -F'\t' -v title="$2" -v yname="$3" '
    { name[++n] = $1; points[n] = $2; m = split($2, p, " ")
      for (i = 1; i <= m; ++i) { split(p[i], xy, ":"); if (xy[1] > xmost) xmost = xy[1]; if (xy[2] > ymost) ymost = xy[2] } }
    function X(x) { return 60 + x / xmost * 420 }
    function Y(y) { return 330 - y / ymost * 280 }
    END {
      split("#1b6ca8 #c0392b #2e8b57 #8e44ad #d68910 #16a085 #7f8c8d #34495e", colour, " ")
      print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"380\" font-family=\"sans-serif\" font-size=\"12\">"
      print "<rect width=\"760\" height=\"380\" fill=\"white\"/><text x=\"60\" y=\"24\" font-size=\"14\">" title "</text>"
      step = ymost > 40 ? 10 : ymost > 12 ? 5 : ymost > 5 ? 2 : 1
      for (y = 0; y <= ymost; y += step) printf "<line x1=\"60\" x2=\"480\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"52\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", Y(y), Y(y), Y(y) + 4, y
      for (x = 0; x <= xmost; x += 4) printf "<text x=\"%.1f\" y=\"348\" text-anchor=\"middle\">%d</text>\n", X(x), x
      print "<text x=\"270\" y=\"370\" text-anchor=\"middle\">nodes</text><text x=\"14\" y=\"190\" transform=\"rotate(-90 14 190)\" text-anchor=\"middle\">" yname "</text>"
      for (i = 1; i <= n; ++i) {
        m = split(points[i], p, " "); line = ""
        for (j = 1; j <= m; ++j) { split(p[j], xy, ":"); line = line sprintf("%.1f,%.1f ", X(xy[1]), Y(xy[2])) }
        dash = name[i] ~ /^published/ ? " stroke-dasharray=\"6 4\"" : ""
        c = colour[(i - 1) % 8 + 1]
        printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", line, c, dash
        printf "<line x1=\"500\" x2=\"530\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"%s/><text x=\"536\" y=\"%d\">%s</text>\n", 40 + 20 * i, 40 + 20 * i, c, dash, 44 + 20 * i, name[i]
      }
      print "</svg>" }' >"$1"
}
