#!/bin/sh
# bench/run.sh [FOLDER [SUITE...]]
# Measures all suites (or those named) beside their peers: tables, JSON and plots go to FOLDER
# (build/bench). Some 15 minutes on two cores. Needs a machine that nobody else uses, and
#   cmake --preset release -D PERMC_BENCH_PEERS=ON
#   cmake --build --preset release --target permc bench_peers
# PERMC_BUILD names another build folder, PERMC_BACKEND another backend than cpu.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${PERMC_BUILD:-$root/build/release}
folder=${1:-$root/build/bench}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- bmmc sort rows ragged padded paper fft scan scaling
mkdir -p "$folder"

for suite in "$@"; do
  "$build/permc" bench --suite "$suite" --backend "${PERMC_BACKEND:-cpu}" --peers "$build/peers" --json \
    --svg "$folder/$suite.svg" >"$folder/$suite.json" 2>"$folder/$suite.txt" ||
    echo "bench/run.sh: $suite: see $folder/$suite.txt" >&2
  cat "$folder/$suite.txt"
done
