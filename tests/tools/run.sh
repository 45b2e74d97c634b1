#!/bin/sh
# run.sh FOLDER COMMAND...
# Runs a test with FOLDER, emptied, as PERMC_TMP. A command that died of a signal says so.
set -eu
PERMC_TMP=$1
export PERMC_TMP
shift
rm -rf "$PERMC_TMP"
mkdir -p "$PERMC_TMP"

# Huge allocations are asked for by tests of lying headers; they shall fail as malloc fails.
export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"

status=0
"$@" || status=$?
[ "$status" -le 128 ] || echo "run.sh: the test ended with signal $((status - 128))" >&2
[ "$status" -ne 0 ] || rm -rf "$PERMC_TMP"
exit "$status"
