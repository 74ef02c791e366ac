#!/bin/bash
# check.sh PACKAGES: makes the images of packaging/Containerfile from the Debian packages of a folder, and uses them as docs/clusters.md says, by podman.
# The base is made by mmdebstrap: no registry is asked. Root, a package mirror. `./dev test-containers` makes the packages and runs this.
# KEEP=folder keeps the images (and uses the base again). Exit code 77, with the reason, where containers are not allowed.
set -uo pipefail
[[ $# == 1 ]] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
packages=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(realpath "$here/../..")
skip() { echo "containers: skipped: $1"; exit 77; }
fail() { echo "containers: $*" >&2; exit 1; }
[[ $(id -u) == 0 ]] || skip "this takes root"
command -v podman >/dev/null || skip "no podman"
ls "$packages"/*.deb >/dev/null || fail "no .deb in $packages"
keep=${KEEP:-$(mktemp -d /tmp/tessera-containers-XXXXXX)}
work=$(mktemp -d /tmp/tessera-images-XXXXXX)
mkdir -p "$keep"
clean() {
  umount "$keep"/store/overlay 2>/dev/null
  rm -rf "$work"
  [[ -n ${KEEP:-} ]] || rm -rf --one-file-system "$keep"
}
trap clean EXIT
pod() { podman --root "$keep/store" --runroot "$keep/run" --cgroup-manager cgroupfs "${runtime[@]}" "$@"; }
# Limits above what this process may have are refused where it may not raise its own.
limits=(--ulimit nofile=4096:4096 --ulimit nproc=4096:4096)

runtime=()
if ! pod image inspect localhost/debian:bookworm-slim >/dev/null 2>&1; then
  mmdebstrap --quiet --variant=minbase bookworm "$work/base.tar" /etc/apt/sources.list.d/debian.sources >"$work/log" 2>&1 || { tail "$work/log"; fail "mmdebstrap"; }

  pod import -q "$work/base.tar" localhost/debian:bookworm-slim >"$work/log" 2>&1 || skip "podman has no images here: $(tail -n 1 "$work/log")"
  rm "$work/base.tar"
fi
# The one that is here, or runc: crun knows no hybrid of control groups.
for name in "" runc crun; do
  runtime=(${name:+--runtime "$name"})
  pod run --rm "${limits[@]}" --network none localhost/debian:bookworm-slim true >"$work/log" 2>&1 && works=1 && break
done
[[ -n ${works:-} ]] || skip "podman starts no containers here: $(tail -n 1 "$work/log")"

image() {
  pod build "${limits[@]}" --network host --build-arg BASE=localhost/debian:bookworm-slim -f "$top/packaging/Containerfile" "$@" "$packages" >"$work/log" 2>&1 ||
    { tail -n 30 "$work/log"; fail "the image $* is not made"; }
}
image -t tessera-programs --target programs
image -t tessera

cd "$work" && mkdir project && cd project || exit 1
cat >where.fa <<'Y'
C++ head ${{
#include <unistd.h>
$}}
C++ sub show(int i) ${{ char name[100]; gethostname(name, sizeof name); printf("%d on %s\n", i, name); $}}
sub main() { for i = 0..ranks - 1 show(i) @ { locator_cyclic: i; }; }
Y
inside() { pod run --rm "${limits[@]}" --network none -v "$PWD":/work -v "$work/cache:/root/.cache" "$@"; }
mkdir -p "$work/cache"
is() { [[ $2 == "$3" ]] && echo "ok: $1" || { cat "$work/said" 2>/dev/null; fail "$1: \`$2\`, not \`$3\`"; }; }
of_program() { "$@" 2>"$work/said" | sort | tr '\n' ' '; }
said() { grep -o "$1" "$work/said" || cat "$work/said"; }

is "the command" "$(of_program inside -h box tessera tessera run where.fa)" "0 on box "
is "three ranks" "$(of_program inside -h box tessera tessera run where.fa -n 3)" "0 on box 1 on box 2 on box "
files() { find "$work/cache" -type f -newer where.fa | sort | md5sum; }
before=$(files)
is "the cache outlives a container" "$(of_program inside -h box tessera tessera run where.fa; [[ $(files) == "$before" ]] || echo "compiled again")" "0 on box "
is "threads follow --cpus" "$(of_program inside --cpus 1 -h box tessera tessera run where.fa; said '(1 worker thread)')" "0 on box (1 worker thread)"
is "a built program" "$(inside tessera tessera build where.fa -o where 2>&1; ls where)" where
is "... with what programs need alone" "$(of_program inside -h box tessera-programs mpirun --oversubscribe -n 2 ./where)" "0 on box 1 on box "
is "no compiler there" "$(inside tessera-programs sh -c 'command -v g++ tessera || echo none')" none
is "the Python module" "$(inside tessera python3 -c 'import tessera; print(tessera.command())' 2>&1)" /usr/bin/tessera

# The mpirun outside starts a container for each rank; over two hosts, where namespaces are allowed.
cat >rank <<Y
#!/bin/bash
exec podman --root "$keep/store" --runroot "$keep/run" --cgroup-manager cgroupfs ${runtime[*]} run --rm ${limits[*]} --network host --ipc host --pid host --env-host \
  -v /tmp:/tmp -v "$PWD:/work" tessera-programs "\$@"
Y
chmod +x rank
if ! command -v mpirun.openmpi >/dev/null; then
  echo "skipped: mpirun outside: Open MPI is not here"
else
  outside=(mpirun.openmpi --allow-run-as-root --bind-to none -n 2)
  is "mpirun outside" "$(of_program "${outside[@]}" --oversubscribe ./rank ./where; said 'on 2 ranks')" "0 on $(hostname) 1 on $(hostname) on 2 ranks"
  "$top/tests/hosts/over_hosts.sh" 2 "${outside[@]}" ./rank ./where >"$work/hosts" 2>"$work/said"
  case $? in
    77) echo "skipped: mpirun outside, two hosts: $(tail -n 1 "$work/hosts")" ;;
    *) is "mpirun outside, two hosts" "$(sort "$work/hosts" | tr '\n' ' ')$(said 'on 2 ranks')" "0 on h1 1 on h2 on 2 ranks" ;;
  esac
fi
echo "containers: all right"
