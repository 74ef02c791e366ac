#!/bin/sh
# check_end.sh abort|crash PROGRAM MPIRUN...: the run ends with the right code, its output is there, Open MPI
# prints no backtrace of its own, and no process is left.
set -u
how=$1
program=$2
shift 2
mark="end-$how-$$"
out=$("$@" -n 3 "$program" "$how" "$mark" 2>&1)
code=$?
fail() { echo "$1"; echo "exit code $code, output:"; echo "$out"; exit 1; }
case $how in
  abort)
    [ $code -eq 23 ] || fail "expected exit code 23"
    case $out in *"partial output"*) ;; *) fail "partial output is missing" ;; esac ;;
  crash)
    [ $code -ne 0 ] || fail "expected an exit code other than 0"
    case $out in *"Process received signal"*|*"Signal code"*) fail "Open MPI printed its own report" ;; esac ;;
esac
tries=0
while pgrep -f "$how $mark" > /dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 50 ] || fail "processes are left"
  sleep 0.1
done
