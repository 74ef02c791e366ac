#!/bin/bash
# stacks.sh NETWORK...: where all threads of the processes in these networks (/proc/PID/ns/net) stand; what only waits for others is left out.
set -u
for p in /proc/[0-9]*; do
  net=$(readlink "$p/ns/net" 2>/dev/null) || continue
  for wanted in "$@"; do [ "$net" = "$wanted" ] && break; done
  [ "$net" = "$wanted" ] || continue
  pid=${p#/proc/}
  name=$(cat "$p/comm" 2>/dev/null) || continue
  case $name in bash | sh | sleep | timeout | nsenter | srun | slurm* | munged) continue ;; esac
  echo "=== $pid $(tr '\0' ' ' <"$p/cmdline")"
  for t in "$p"/task/*; do
    echo "${t##*/} $(cat "$t/comm") $(sed -n 's/^State:[[:space:]]*//p' "$t/status") in $(cat "$t/wchan"); $(sed -n 's/^\(non\)\{0,1\}voluntary_ctxt_switches:[[:space:]]*/switches /p' "$t/status" | tr '\n' ' ')"
  done 2>/dev/null
  command -v gdb >/dev/null && timeout 60 gdb -nx -p "$pid" -batch -iex 'set debuginfod enabled off' -ex 'thread apply all bt 30' 2>/dev/null |
    grep -vE '^(\[|Using host|warning|0x)|^$'
done
