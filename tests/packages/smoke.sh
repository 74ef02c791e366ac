#!/bin/bash
# smoke.sh PACKAGES: installs the Debian packages of a folder on a minimal Debian of its own, made with debootstrap, and does there what their
# users do. Root, a package mirror. KEEP=folder keeps (and uses again) that Debian. `./dev test-packages` makes the packages and runs this.
set -euo pipefail
[[ $# == 1 ]] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
packages=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() { echo "packages: $*" >&2; exit 1; }
[[ $(id -u) == 0 ]] || fail "this takes root"
ls "$packages"/*.deb >/dev/null || fail "no .deb in $packages"
root=${KEEP:-$(mktemp -d /tmp/tessera-debian-XXXXXX)}
[[ -n ${KEEP:-} ]] || trap 'rm -rf --one-file-system "$root"' EXIT

if [[ ! -e $root/ready ]]; then
  mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources)
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$mirror" >"$root.log" 2>&1 || { tail "$root.log"; fail "debootstrap"; }
  rm -f "$root/etc/apt/sources.list" "$root.log"
  cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/"
  cp -n /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/"  # proxies and the like of this machine
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  touch "$root/ready"
fi
# inside: a command there, in namespaces of its own, so that nothing of it stays.
inside() {
  unshare -m -p -f --mount-proc="$root/proc" bash -c '
    root=$1; shift
    mount --bind /dev "$root/dev"; mount -t tmpfs shm "$root/dev/shm"; mount -t sysfs sysfs "$root/sys"
    exec env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
      ${http_proxy:+http_proxy=$http_proxy} ${https_proxy:+https_proxy=$https_proxy} chroot "$root" "$@"' _ "$root" "$@"
}

rm -rf "$root/packages" "$root/root/project" && mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages/"
cp -r "$here/project" "$here/follow.py" "$root/root/"
inside bash -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /packages/*.deb cmake make pkg-config' >"$root/install.log" 2>&1 ||
  { tail -30 "$root/install.log"; fail "the packages do not install"; }

cat >"$root/root/smoke" <<'X'
set -eu
cd /root
is() { [ "$2" = "$3" ] || { echo "$1: \`$2\`, not \`$3\`"; exit 1; }; }
is version "$(tessera --version)" "tessera $(dpkg-query -W -f '${Version}' tessera)"
is "one process" "$(tessera run -q project/count.fa -- 10)" "sum 55"
is "three ranks" "$(tessera run -q project/count.fa -n 3 -- 10)" "sum 55"
is "the standard library" "$(printf '#include <std/base.fa>\nsub main() { print(7); }\n' >p.fa; tessera run -q p.fa)" 7
is "an example" "$(tessera run -q /usr/share/doc/tessera/examples/imbalance/imbalance.fa -D STEP=20)" "checksum 20100"
tessera build project/count.fa -o /tmp/count
is "a built program" "$(/tmp/count 4 2>/dev/null)" "sum 10"
is "its library" "$(ldd /tmp/count | sed -n 's/.*libtessera.so.[0-9]* => \([^ ]*\) .*/\1/p' | xargs readlink -f | xargs dpkg-query -S | cut -d: -f1)" \
  "$(dpkg-query -W -f '${Package}\n' 'libtessera[0-9]*')"
cmake -S project -B build >/dev/null && cmake --build build >/dev/null
is "a CMake project" "$(build/count 5 2>/dev/null)" "sum 15"
is "its test" "$(ctest --test-dir build 2>&1 | grep -c '100% tests passed')" 1
echo 'int main() { return tessera::abi::kAbiVersion > 0 ? 0 : 1; }' >use.cpp
g++ $(pkg-config --cflags tessera) -include tessera/abi.hpp use.cpp -o use $(pkg-config --libs tessera) && ./use
# As a newcomer: the tutorial in an empty folder, a program as a library, and the first lines of docs/python.md.
/usr/bin/python3 follow.py /usr/share/doc/tessera/docs/tutorial.md || exit 1
apt-get install -y -qq --no-install-recommends libopenmpi-dev >/dev/null 2>&1  # that example has MPI of its own
cmake -S /usr/share/doc/tessera/examples/library -B called >/dev/null && cmake --build called >/dev/null
is "a program as a library" "$(called/solver 2>/dev/null | tail -n 1)" "sum 0.25"
sed -n 's/^    //p' /usr/share/doc/tessera/docs/python.md | head -n 3 >first.py
sed -i "s|'smooth.fa'|'/usr/share/doc/tessera/examples/library/smooth.fa'|" first.py
echo "print(len(r.array('smooth')), 0 < r['largest'] < 1)" >>first.py
is "docs/python.md" "$(/usr/bin/python3 first.py)" "1000 True"
is "the Python module" "$(/usr/bin/python3 /usr/share/doc/tessera/examples/python/sandpile.py | sed -n 2,3p | tr '\n' ' ')" "grains 1000 -> 1000 it lies still: True "
for command in $(tessera --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do [ -s "/usr/share/man/man1/tessera-$command.1" ] || [ -s "/usr/share/man/man1/tessera-$command.1.gz" ] || { echo "no manual page of $command"; exit 1; }; done
bash -c 'source /usr/share/bash-completion/completions/tessera; COMP_WORDS=(tessera che); COMP_CWORD=1; _tessera; [ "${COMPREPLY[*]}" = check ]' || { echo "no completion"; exit 1; }
for package in $(dpkg-query -W -f '${Package}\n' '*tessera*'); do [ -s /usr/share/doc/$package/copyright ] || { echo "no licence in $package"; exit 1; }; done
apt-get purge -y -qq '~ntessera' >/dev/null 2>&1
left=$(find /usr /etc -name '*tessera*' | head -3)
is "what is left when they are removed" "$left" ""
X
inside bash /root/smoke
echo "packages: all right, on a minimal Debian $(cat "$root/etc/debian_version")"
