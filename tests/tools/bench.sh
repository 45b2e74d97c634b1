#!/bin/bash
# bench.sh PERMC
# permc bench from end to end: cases, JSON, turns, comparisons. Nothing here looks at how long something
# takes. Prints a line for each failure, and last `N passed, N failed, N skipped`.
set -u
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
permc=$(realpath "${1:-$PERMC}")
work=${PERMC_TMP:-$(mktemp -d)}/bench
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
export LC_ALL=C

fail() { # fail TEXT, and what permc has printed
  failed=$((failed + 1))
  echo "FAIL line ${BASH_LINENO[1]}: $*"
  sed 's/^/  out: /' out
  sed 's/^/  err: /' err
}
# status N ARGUMENT...: permc bench ARGUMENT... exits with N. Output is in out and err.
status() {
  local expected=$1 actual=0
  shift
  "$permc" bench --seconds 0 "$@" </dev/null >out 2>err || actual=$?
  if [ "$actual" -eq "$expected" ]; then pass; else fail "permc bench $* exits with $actual, not $expected"; fi
}
has() { if grep -q -e "$2" "$1"; then pass; else fail "$1 has no '$2'"; fi; }
lacks() { if grep -q -e "$2" "$1"; then fail "$1 has '$2'"; else pass; fi; }
lines() { if [ "$(grep -c -e "$2" "$1")" -eq "$3" ]; then pass; else fail "$1 has not $3 lines with '$2'"; fi; }
usage() { # usage MESSAGE ARGUMENT...: one line, exit 2
  local message=$1
  shift
  status 2 "$@"
  if [ "$(cat err)" = "permc: bench: $message" ]; then pass; else fail "it does not say '$message'"; fi
}

cat >two.perm <<'END'
main : [2^n]i32 -> ([2^n]i32, i32)
main xs = (sort xs, sum xs)

pairs : [m][2^n](u8, f32) -> [m][2^n](u8, f32)
pairs = map sort

both : [2^n]u32 -> [2^n]u32
both xs = reverse (bitrev xs)
END

# ---- cases -----------------------------------------------------------------------------------

for backend in interp portable cpu; do
  status 0 two.perm --arguments '[256]i32' --backend "$backend"
  has out "^main \[256\]i32 .* ($backend, .*, equal to interp)$"
done
status 0 two.perm --entry pairs --size m=3 --size n=2..4 --threads 1
lines out '^pairs m=3 n=[234] .* 1 thread, ' 3
status 0 -e 'map (+ 1)' --arguments '[1000]u8' --seed 5
has out '^map (+ 1) \[1000\]u8 '
echo '[4, 3, 2, 1]' >four.txt
status 0 two.perm -i four.txt
has out '^main '
status 0 -e 'sort_on fst' --arguments '[2^10](u32, u32)' --backend cpu --json
CUDA_VISIBLE_DEVICES= status 1 -e sort --arguments '[16]u32' --backend cuda
has err '^permc: the backend cuda cannot run this: .*; it needs an NVIDIA GPU, .*; the backend auto, '
has err '^permc: bench: no figures for sort \[16\]u32$'
status 0 -e bitrev --arguments "[256]u32" --backend portable --strategy tile --json
has out '"strategy": "tile",'
has out '"passes": 1,'
status 0 -e bitrev --arguments '[256]u32' --json
has out '"strategy": "",'

# ---- JSON -----------------------------------------------------------------------------------

status 0 two.perm --size n=4..6 --json
cp out new.json
has err '^main n=5 '
has new.json '^  "permc": "[0-9.]*",$'
has new.json '^  "date": "20'
lines new.json '"name": "main n=' 3
lines new.json '"name": "copy",' 3
status 0 --compare new.json new.json
lines out '^main n=[456] .* the same ' 3
status 0 two.perm --size n=6..7 --compare new.json
has out '^main n=6 '
lines out '^main n=7 .*new$' 1
lines out '^main n=4 .*gone$' 1
status 1 two.perm --size n=4 --json --compare absent.json
lines err . 1

# ---- comparisons of figures that are known ---------------------------------------------------

report() { # report LOW MEDIAN HIGH: one row, without a copy
  echo "{\"rows\": [{\"name\": \"a\", \"seconds\": {\"low\": $1, \"median\": $2, \"high\": $3}}]}"
}
report 1 2 3 >old.json
report 3.5 4 5 >slower.json
report 2.5 4 5 >perhaps.json
report 0.4 0.5 0.6 >faster.json
status 0 --compare old.json slower.json
has out '^a  *2 s  *4 s  *2x slower'
status 0 --compare old.json perhaps.json
has out '^a  *2 s  *4 s  *the same'
status 0 --compare old.json faster.json
has out '^a  *2 s  *500 ms  *4x faster'

device() { # device FILE NAME BACKEND THREADS DEVICE: one row on that device, that takes 2 s
  echo "{\"processor\": \"$2\", \"rows\": [{\"name\": \"a\", \"backend\": \"$3\", \"threads\": $4,
    \"device\": \"$5\", \"seconds\": {\"low\": 2, \"median\": 2, \"high\": 2}}]}" >"$1"
}
device first.json Abacus cuda 1 'NVIDIA H200, CUDA 13.0'
device newer_driver.json Slate cuda 1 'NVIDIA H200, CUDA 13.1'
device other.json Abacus cuda 1 'NVIDIA H100, CUDA 13.0'
device none.json Abacus cuda 1 ''
device cpu.json Abacus cpu 1 ''
device two_threads.json Abacus cpu 2 ''
device slate.json Slate cpu 1 ''
status 0 --compare first.json newer_driver.json
has out '^a  *2 s  *2 s  *the same'
status 0 --compare first.json other.json
has out '^a  *2 s  *2 s  not compared: on NVIDIA H200 before, on NVIDIA H100 after$'
status 0 --compare first.json none.json
has out '^a  *2 s  *2 s  not compared: on NVIDIA H200 before, on Abacus after$'
status 0 --compare cpu.json slate.json
has out '^a  *2 s  *2 s  not compared: on Abacus before, on Slate after$'
status 0 --compare cpu.json first.json
has out '^a  *new  with --backend cuda$'
has out '^a  *gone  with --backend cpu$'
status 0 --compare cpu.json two_threads.json
has out '^a  *new  with 2 threads$'
has out '^a  *gone  with 1 thread$'

strategy() { # strategy FILE NAME SECONDS: one row by that strategy
  echo "{\"rows\": [{\"name\": \"a\", \"strategy\": \"$2\",
    \"seconds\": {\"low\": $3, \"median\": $3, \"high\": $3}}]}" >"$1"
}
strategy tile.json tile 2
strategy naive.json naive 4
strategy slow.json tile 8
status 0 --compare tile.json slow.json
has out '^a  *2 s  *8 s  *4x slower'
status 0 --compare tile.json naive.json
has out '^a  *new  with --strategy naive$'
has out '^a  *gone  with --strategy tile$'
status 0 --compare old.json naive.json
has out '^a  *gone  without --strategy$'

echo '{"rows": 1' >broken.json
status 1 --compare old.json broken.json
has err "^permc: broken.json: line 2: '}' expected near end of file$"
status 1 --compare missing.json old.json
has err '^permc: missing.json: No such file'

# ---- turns that are asked for ------------------------------------------------------------------

turns() { # turns N LINE... -- ARGUMENT...: the lines are its input
  local expected=$1 actual=0
  shift
  : >lines
  while [ "$1" != -- ]; do
    echo "$1" >>lines
    shift
  done
  shift
  "$permc" bench --turns "$@" <lines >out 2>err || actual=$?
  if [ "$actual" -eq "$expected" ]; then pass; else fail "permc bench --turns $* exits with $actual, not $expected"; fi
}
turns 0 '' copy '' -- -e sort --arguments '[256]u32'
lines out '^[0-9.e-]*$' 3
has out '"name": "sort \[256\]u32"'
has out '"verified": "equal to interp"'
has out '"name": "copy"'
turns 0 '' -- two.perm -i four.txt -o sorted.txt -o sum.txt
has out '"verified": ""'
has sorted.txt '^1'
has sum.txt '^10'
turns 1 '' -- two.perm -i four.txt -o sorted.txt
has err '^permc: bench: there are 2 results, but 1 files for them$'
turns 1 copy -- -e sort --arguments '[0]u8'
has err '^permc: bench: there is nothing to copy$'
turns 2 '' -- two.perm --size n=4..5
has err '^permc: bench: --turns is of one case, not of several sizes$'

# ---- mistakes --------------------------------------------------------------------------------

usage 'FILE or -e EXPR is missing (see permc help bench)'
usage 'give --arguments or --size, not both' two.perm --arguments '[4]i32' --size n=2
usage "--size must be NAME=SIZE, or NAME=FIRST..LAST with at most 64 sizes, not 'n=4..3'" two.perm --size n=4..3
usage "--size must be NAME=SIZE, or NAME=FIRST..LAST with at most 64 sizes, not '=4'" two.perm --size =4
usage "--threads must be a number from 1 to 1024, such as 96 or 2^10, not '0'" two.perm --size n=4 --threads 0
status 1 two.perm
has err "the size 'n' of 'main' is not given"
status 1 two.perm --size n=4 --entry nothing
has err "no entry point 'nothing'"
status 1 -e 'no_such_name' --arguments '[4]i32'
has err 'no_such_name'
status 1 -e sort_network --arguments '[3]i32'
has err 'power of two'
lacks err 'interp'

tally
