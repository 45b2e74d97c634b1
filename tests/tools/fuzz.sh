#!/bin/sh
# fuzz.sh BUILD SECONDS JOBS [TARGET...]
# Runs the fuzz targets of BUILD (a build of the preset fuzz) for SECONDS each, JOBS at a time.
# Inputs found on the way stay in BUILD/corpus/TARGET and are taken up by the next run; an input
# that fails lies in BUILD/crashes. Prints a line for each target, and the counts.
#
# For a target fuzz_x: fuzz/corpus/x (seeds, if there are any), fuzz/x.dict (a dictionary, likewise).
# Inputs of fuzz_program are at most 600 bytes: longer ones find nothing else, only slower.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)

# The child of ourselves that runs one target.
if [ "$1" = --one ]; then
  build=$2 seconds=$3 target=$4
  name=${target#fuzz_}
  log=$build/log/$target.log
  mkdir -p "$build/corpus/$target" "$build/crashes" "$build/log"
  set -- "$build/corpus/$target"
  if [ -d "$root/tests/fuzz/corpus/$name" ]; then set -- "$@" "$root/tests/fuzz/corpus/$name"; fi
  if [ "$name" = program ]; then set -- -max_len=600 "$@"; fi
  if [ -f "$root/tests/fuzz/$name.dict" ]; then set -- "-dict=$root/tests/fuzz/$name.dict" "$@"; fi
  export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=1"
  export UBSAN_OPTIONS="print_stacktrace=1"
  if timeout -k 10 $((seconds + 120)) "$build/tests/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$build/crashes/$target-" -print_final_stats=1 "$@" >"$log" 2>&1 </dev/null; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    echo "PASS $target: ${runs:-?} executions"
  else
    tail -n 60 "$log"
    echo "FAIL $target: see $log"
  fi
  exit 0
fi

build=$1 seconds=$2 jobs=$3
shift 3
if [ $# -eq 0 ]; then
  for file in "$root"/tests/fuzz/fuzz_*.c; do
    if [ -f "$file" ]; then set -- "$@" "$(basename "$file" .c)"; fi
  done
fi
report=$build/fuzz-report
: >"$report"
if [ $# -gt 0 ]; then
  printf '%s\n' "$@" | xargs -n 1 -P "$jobs" "$0" --one "$build" "$seconds" >"$report"
fi
cat "$report"
passed=$(grep -c '^PASS ' "$report" || true)
failed=$(grep -c '^FAIL ' "$report" || true)
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
