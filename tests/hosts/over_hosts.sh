#!/bin/bash
# over_hosts.sh N COMMAND...: runs the command on host h1 of N "hosts" of this machine, namespaces each with a network, a host name and shared
# memory of its own. mpirun finds the others by names (HOSTS: h1,h2,...; what it starts there goes through an agent
# in place of ssh). Exit code 77 where that is not allowed, or `ip` is missing: the test is skipped.
set -u
[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
count=$1
shift
skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "hosts are made of namespaces, which takes root"
for tool in ip nsenter unshare mount; do command -v $tool >/dev/null || skip "no command \`$tool\`"; done

tag=tt$$
net=10.$((64 + $$ % 64)).$(($$ / 64 % 250))  # two of these may run at a time
folder=$(mktemp -d /tmp/tessera-hosts-XXXXXX)
pids=()
watcher=
clean() {
  [ -z "$watcher" ] || kill "$watcher"
  # Whatever is on the hosts, by their networks; their first processes last.
  for p in /proc/[0-9]*; do
    net=$(readlink "$p/ns/net" 2>/dev/null) && grep -qsxF "$net" "$folder"/h*.net && kill -9 "${p#/proc/}" 2>/dev/null
  done
  for ((i = 1; i <= count; ++i)); do ip link del "$tag-$i" 2>/dev/null; done
  ip link del "$tag" 2>/dev/null
  rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM HUP

ip link add "$tag" type bridge 2>"$folder/why" || skip "no networks of its own: $(cat "$folder/why")"
ip link set "$tag" up
echo "127.0.0.1 localhost" >"$folder/hosts"
for ((i = 1; i <= count; ++i)); do echo "$net.$i h$i" >>"$folder/hosts"; done
# A host's first process: it makes its own /dev/shm and names, says that it is there, and sleeps.
cat >"$folder/first" <<'X'
host=$1 folder=$2
hostname "$host"
mount --make-rprivate / && mount --bind "$folder/hosts" /etc/hosts || exit 1
mount -t tmpfs -o mode=1777,size=256m shm /dev/shm || exit 1
ip link set lo up
touch "$folder/$host.up"
exec sleep infinity
X
for ((i = 1; i <= count; ++i)); do
  unshare -n -m -u -i bash "$folder/first" "h$i" "$folder" </dev/null >"$folder/h$i.log" 2>&1 &
  pids+=($!)
  disown
done
for ((i = 1; i <= count; ++i)); do
  for _ in {1..200}; do [ -e "$folder/h$i.up" ] && break; kill -0 "${pids[i - 1]}" 2>/dev/null || break; sleep 0.05; done
  [ -e "$folder/h$i.up" ] || skip "no namespaces: $(cat "$folder/h$i.log")"
  inner=${pids[i - 1]}
  echo "$inner" >"$folder/h$i.pid"
  readlink "/proc/$inner/ns/net" >"$folder/h$i.net"
  ip link add "$tag-$i" type veth peer name eth0 netns "$inner" 2>"$folder/why" || skip "no network for a host: $(cat "$folder/why")"
  ip link set "$tag-$i" master "$tag" up
  nsenter -t "$inner" -n ip addr add "$net.$i/24" dev eth0
  nsenter -t "$inner" -n ip link set eth0 up
done
# In place of ssh: agent HOST COMMAND...
cat >"$folder/agent" <<X
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1; shift
exec nsenter -t "\$(cat "$folder/\$host.pid")" -n -m -u -i -- env -i PATH="\$PATH" HOME="\$HOME" bash -c "\$*"
X
# signal HOST SIGNAL NAME: to the processes of that name on that host
cat >"$folder/signal" <<X
#!/bin/bash
for p in /proc/[0-9]*; do
  [ "\$(readlink "\$p/ns/net" 2>/dev/null)" = "\$(cat "$folder/\$1.net")" ] || continue
  [ "\$(cat "\$p/comm" 2>/dev/null)" = "\$3" ] && kill -s "\$2" "\${p#/proc/}"
done
exit 0
X
chmod +x "$folder/agent" "$folder/signal"
# What hangs is shown before it is killed: by check.sh after 240 s, by ctest after 600 s. Nobody ever writes there.
mkfifo "$folder/never"
while ! read -rt "${TESSERA_STACKS_EVERY:-190}" <>"$folder/never" && kill -0 $$ 2>/dev/null; do
  echo "After $SECONDS s these run:"
  mapfile -t networks < <(cat "$folder"/h*.net)
  "$(dirname "${BASH_SOURCE[0]}")/stacks.sh" "${networks[@]}"
done &
watcher=$!
HOSTS=$(seq -s, -f 'h%g' "$count")
export HOSTS OVER_HOSTS=$folder
export OMPI_MCA_plm_rsh_agent=$folder/agent OMPI_MCA_orte_default_hostfile=$folder/hostfile
# Open MPI looks for other ways to the same host, and finds the machine's own addresses.
export OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_oob_tcp_if_include=eth0
for ((i = 1; i <= count; ++i)); do echo "h$i slots=1"; done >"$folder/hostfile"
nsenter -t "$(cat "$folder/h1.pid")" -n -m -u -i --wd="$PWD" -- "$@"
