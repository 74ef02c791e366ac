# LAMGAC (Sanchez 2006): iterations on unequal nodes.

sanchez() {
  cat <<TEXT
## \`proportional\` (Sanchez 2006)

\`-w iterate:parts=200,iterations=10,skew=1,weight=20ms,home=first,state=1kB -c sanchez\`: iterations on eight unequal nodes and a slow link, shared out
anew from rank 0 each time. Published: faster than equal shares in every iteration after the first (\`bench/run loops\` looks at each).

TEXT
rows=$(simulated -w iterate:parts=200,iterations=10,skew=1,weight=20ms,home=first,state=1kB -c sanchez -b none,equal,proportional)
cat <<TEXT
\`none\` $(round "$(of "$rows" none - 3)") s, \`equal\` $(round "$(of "$rows" equal - 3)") s, \`proportional\` $(round "$(of "$rows" proportional - 3)") s: $(holds "$(of "$rows" proportional - 3)" "$(of "$rows" equal - 3)").

TEXT
}
