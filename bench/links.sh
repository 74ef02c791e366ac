#!/bin/bash
# bench/links.sh: what the link meter says of a network, how much balancing gains over it, and what a hop costs beside work. Run on the first of
# several hosts with the same home folder (or namespaces that act as such), between which `mpirun --host` works without a password:
#   HOSTS=h1,h2,h3,h4 DEVICE=eth0 bench/links.sh [meter] [matmul] [beside]
# TESSERA: the command (default: the one in PATH); OTHER: a second one, for pairs; REPEAT: runs of each (3); BALANCERS (auto central steal).
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
hosts=${HOSTS:?the hosts, with commas between them}
count=$(tr ',' '\n' <<<"$hosts" | wc -l)
commands=("${TESSERA:-tessera}" ${OTHER:+"$OTHER"})
folder=$(mktemp -d "$HOME/links.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# run RANKS PROGRAM OPTIONS...: one rank on each of the first hosts
run() {
  local ranks=$1 program=$2
  shift 2
  TESSERA_OPTIONS="$*" timeout 120 mpirun -q --host "$(cut -d, -f"1-$ranks" <<<"$hosts")" -n "$ranks" --bind-to none \
    -x TESSERA_OPTIONS --mca btl tcp,self ${DEVICE:+--mca btl_tcp_if_include "$DEVICE"} "$program"
}
built() { # built COMMAND NAME SOURCE OPTIONS...
  local command=$1 name=$2
  shift 2
  "$command" build "$@" -o "$folder/$name" >"$folder/build.log" 2>&1 || { cat "$folder/build.log" >&2; exit 1; }
}

for what in "${@:-meter matmul beside}"; do
  for what in $what; do
    for c in "${!commands[@]}"; do
      case $what in
        meter | matmul) built "${commands[c]}" "matmul$c" "$here/examples/matmul/matmul.fa" -D EMULATE=1 -D BLOCKS=6 ;;
        beside) built "${commands[c]}" "beside$c" "$here/bench/programs/beside.fa" -D "US=${US:-2000}" -D N=300 ;;
      esac
    done
    for balancer in ${BALANCERS:-$([[ $what == matmul ]] && echo auto central steal || echo central)}; do
      for ((i = 0; i < ${REPEAT:-3}; ++i)); do
        for c in "${!commands[@]}"; do
          case $what in
            meter)
              run "$count" "$folder/matmul$c" -t 1 --balancer "$balancer" --log-level debug 2>&1 |
                grep -o 'rank [0-9]*: link to .*' | awk -v c="${commands[c]}" '{ last[$2 $5] = $6 " us, " $8 " MB/s" } END { for (l in last) print c ": rank " l " " last[l] }' | sort ;;
            matmul)
              run "$count" "$folder/matmul$c" -t 1 --balancer "$balancer" --summary "$folder/s.json" >/dev/null 2>"$folder/err" || cat "$folder/err"
              sed -n 's/.*: \([0-9.]* m*s\) on .*/\1/p' "$folder/err" | head -1 | awk -v c="${commands[c]}" -v b="$balancer" '{ print c ": matmul, " b ": " $0 }' ;;
            beside) run 2 "$folder/beside$c" -q -t 1 --balancer none | awk -v c="${commands[c]}" '{ print c ": " $0 }' ;;
          esac
        done
      done
      [[ $what == beside ]] && break
    done
  done
done
