#!/bin/bash
# installed.sh BUILD: installs what is built into a folder, moves that folder, and uses it there: the command, a CMake project, pkg-config, manual pages,
# completion.
set -euo pipefail
build=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
fail() { echo "$*" >&2; exit 1; }
is() { [[ $2 == "$3" ]] || fail "$1: \`$2\`, not \`$3\`"; }

mkdir -p "$work/first/opt/tessera/lib/tessera/precompiled" && touch "$work/first/opt/tessera/lib/tessera/precompiled/old.gch"  # of 0.2.0
cmake --install "$build" --prefix "$work/first/opt/tessera" >"$work/log" 2>&1 || { cat "$work/log"; fail "it does not install"; }
mv "$work/first/opt/tessera" "$work/moved"
rm -r "$work/first"
prefix=$work/moved
export PATH=$prefix/bin:$PATH
cd "$work"

is "where the command is" "$(command -v tessera)" "$prefix/bin/tessera"
is "the library of the command" "$(ldd "$prefix/bin/tessera" | sed -n 's/.*libtessera.so.[0-9]* => \([^ ]*\) .*/\1/p' | xargs realpath | xargs dirname)" "$prefix/lib"
is "the tools" "$(tessera report --help | head -1)" "a page that shows what a recorded run did, and why"
is "what the tools read" "$(tessera simulate -w matmul -n 2 -c mustafin -b none | head -1)" "matmul on mustafin, seed 1"
# Headers are precompiled for the first program that needs them, and used by all that begin alike.
is "precompiled headers that are installed" "$(find "$prefix" -name '*.gch')" ""
mkdir compiler
printf '%s\n' '#!/bin/bash' "exec $(command -v g++) -H \"\$@\" 2>>$work/seen" >compiler/g++
chmod +x compiler/g++
of_two() {  # two programs at once; how often the compiler has taken a precompiled header, has read the text, and how many there are
  : >seen
  for i in 1 2; do
    printf 'C++ sub show() ${{ printf("%d\\n"); $}}\nsub main() { show(); }\n' "$1$i" >"p$1$i.fa"
    CXX=$work/compiler/g++ "${@:2}" tessera run -q "p$1$i.fa" >"said$i" &
  done
  wait
  echo "$(cat said1 said2 | tr '\n' ' ')$(grep -c '^! .*/in_place.hpp.gch$' seen) $(grep -c '^\. .*/tessera/kernels.hpp$' seen) $(find cache -name '*.gch' | wc -l)"
}
is "two first programs" "$(of_two 1)" "11 12 2 1 1"
is "two more" "$(of_two 2)" "21 22 2 0 1"
is "two with flags of the environment" "$(of_two 3 env CXXFLAGS=-O3)" "31 32 2 1 2"
for header in cache/tessera/entries/*.gch; do printf damaged >"$header"; done
is "two after a disk that failed" "$(of_two 4)" "41 42 2 1 2"

cp -r "$here/project" project
cmake -S project -B out -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || { cat log; fail "find_package(Tessera) fails"; }
cmake --build out >log 2>&1 || { cat log; fail "the CMake project does not build"; }
is "what it prints" "$(out/count 5 2>/dev/null)" "sum 15"
is "where its library is" "$(ldd out/count | sed -n 's/.*libtessera.so.[0-9]* => \([^ ]*\) .*/\1/p' | xargs realpath | xargs dirname)" "$prefix/lib"
cmake --install out --prefix "$work/own" >log 2>&1 || { cat log; fail "the CMake project does not install"; }
mv "$prefix" "$prefix.away"  # elsewhere, the library beside it or in lib
if own/bin/count 5 >log 2>&1; then fail "it has found a library"; fi
for beside in bin lib; do
  mkdir -p own/$beside && cp -a "$prefix.away"/lib/libtessera.so.* own/$beside/
  is "a program that has moved, its library in $beside" "$(own/bin/count 5 2>/dev/null)" "sum 15"
  rm own/$beside/libtessera.so.*
done
mv "$prefix.away" "$prefix"
ctest --test-dir out >log 2>&1 || { cat log; fail "its test fails"; }
sed -i 's/sum %d/all %d/' project/add.cpp  # what has changed is built again
cmake --build out >log 2>&1
is "after a change" "$(out/count 5 2>/dev/null)" "all 15"
sed -i 's/add.cpp/gone.cpp/' project/CMakeLists.txt
if cmake -S project -B out >log 2>&1; then fail "a kernel file that is not there is accepted"; fi
tr -s '\n ' ' ' <log | grep -q 'tessera_add_program(count): there is no [^ ]*/gone.cpp' || { cat log; fail "it does not say which file is missing"; }

# Programs called as a library, by one that has MPI of its own.
cp -r "$here/../../examples/library" library
cmake -S library -B called -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 && cmake --build called >log 2>&1 || { cat log; fail "examples/library does not build"; }
expected="round 0: largest 27
round 1: largest 27
round 2: largest 21
exit code 1: $work/library/broken.fa:6: error: the kernel threw an exception: there is no inverse of 0 [T409]
  in \`inverse(v, x)\` at $work/library/broken.fa:6 (v=0), called at $work/library/broken.fa:6"
is "a program that calls two" "$(called/solver 2>&1)" "$expected
sum 0.25"
is "the same on three ranks" "$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 called/solver 2>&1)" "$expected
sum 0.75"
is "what it says without --library" "$(tessera check library/smooth.fa 2>&1 | grep -c 'T205')" 3
is "and with" "$(tessera check --library library/smooth.fa 2>&1)" ""
status=0
tessera run called/../library/broken.fa >log 2>&1 || status=$?
is "a library is not run" "$status" 1
status=0
tessera build --library library/broken.fa -o broken.so >log 2>&1 || status=$?
is "a library of another name" "$status" 2

if [[ -d $prefix/lib/python3 ]]; then
  is "the Python module" "$(PYTHONPATH=$prefix/lib/python3/dist-packages /usr/bin/python3 -c "
import tessera
print(tessera.command(), tessera.compile('library/broken.fa').run(4)['x'])" 2>&1)" "$prefix/bin/tessera 0.25"
fi

if command -v pkg-config >/dev/null; then
  is "pkg-config" "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags tessera | tr ' ' '\n' | grep '^-I' | cut -c3- | xargs realpath)" "$prefix/include/tessera"
fi
for command in $(tessera --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
  grep -q '^.SH OPTIONS' "$prefix/share/man/man1/tessera-$command.1" || fail "no manual page of $command"
done
grep -qF -- '\-\-hostfile FILE' "$prefix/share/man/man1/tessera-run.1" || fail "the manual page of run has no --hostfile"

complete_words() {
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tessera 2>/dev/null; echo "${COMPREPLY[*]}"' _ \
    "$prefix/share/bash-completion/completions/tessera" "$@"
}
is "completion of a command" "$(complete_words tessera che)" check
is "of an option" "$(complete_words tessera run --hostf)" --hostfile
is "of a balancer" "$(complete_words tessera run x.fa -b cen)" central
is "of the program's arguments" "$(complete_words tessera run x.fa -- --hostf)" ""

# Links of installed pages to what is not.
nowhere=$(find "$prefix/share/doc/tessera" -name '*.md' | while read -r page; do
  grep -oE '\]\([^)#: ]+[)#]' "$page" | sed -E 's/^..(.*).$/\1/' | while read -r link; do [[ -e $(dirname "$page")/$link ]] || echo "${page##*/}: $link"; done || true
done)
is "links that lead nowhere" "$nowhere" ""

# Headers of another version than the command, as after an update of one of them.
sed -i 's/kAbiVersion = /kAbiVersion = 9/' "$prefix/include/tessera/tessera/abi.hpp"
status=0
tessera run "$(ls project/*.fa | head -n 1)" >log 2>&1 || status=$?
is "the exit code with other headers" "$status" 3
grep -q 'of different versions' log || { cat log; fail "it does not say that headers and command differ"; }
