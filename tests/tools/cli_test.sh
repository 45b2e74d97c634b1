#!/bin/bash
# cli_test.sh PERMC SOURCE_ROOT
# The command line from end to end: verbs, options, exit statuses, files, signals, test blocks.
# Prints a line for each failure, and last `N passed, N failed, N skipped`.
set -u
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
permc=$(realpath "${1:-$PERMC}")
root=$(realpath "${2:-.}")
work=${PERMC_TMP:-$(mktemp -d)}/cli
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

# status N ARGUMENT...: permc ARGUMENT... exits with N. Output is in out and err. Input is in `in`.
status() {
  local expected=$1 actual=0
  shift
  "$permc" "$@" <in >out 2>err || actual=$?
  if [ "$actual" -eq "$expected" ]; then pass; else fail "permc $* exits with $actual, not $expected"; fi
}
out_is() { if [ "$(cat out)" = "$1" ]; then pass; else fail "standard output is not '$1'"; fi; }
err_is() { if [ "$(cat err)" = "$1" ]; then pass; else fail "standard error is not '$1'"; fi; }
out_has() { if grep -q -e "$1" out; then pass; else fail "standard output has no '$1'"; fi; }
err_has() { if grep -q -e "$1" err; then pass; else fail "standard error has no '$1'"; fi; }
out_lacks() { if grep -q -e "$1" out; then fail "standard output has '$1'"; else pass; fi; }
err_lines() { if [ "$(wc -l <err)" -eq "$1" ]; then pass; else fail "standard error has not $1 lines"; fi; }
last_is() { if [ "$(tail -n 1 out)" = "$1" ]; then pass; else fail "the last line is not '$1'"; fi; }
is_text() { if [ "$(cat "$1")" = "$2" ]; then pass; else fail "$1 is not '$2'"; fi; }
only_files() { # no temporary file is left
  if [ -z "$(find . -name '.permc-*')" ]; then pass; else fail "left: $(find . -name '.permc-*')"; fi
}
usage() { # usage MESSAGE ARGUMENT...: one line, exit 2
  local message=$1
  shift
  status 2 "$@"
  err_is "permc: $message"
}

: >in
cat >sort.perm <<'END'
main : [2^n]i32 -> [2^n]i32
main = sort_network

twice : [2^n]i32 -> ([2^n]i32, [2^n]i32)
twice xs = (sort xs, reverse xs)

shift_by : i32 -> [2^n]i32 -> [2^n]i32
shift_by k xs = map (\x -> x + k) xs

nine : i32
nine = 9
END
echo '[3, 1, 2, 0]' >four.txt

# ---- help, usage -----------------------------------------------------------------------------

status 0 help
out_has '^  permc run '
status 0 --help
out_has '^usage:'
status 0 help run
out_has '^  --backend auto|interp'
out_has '^example:'
status 0 run --help
out_has '^usage: permc run '
status 0 fmt -h
out_has '^usage: permc fmt '
status 0 --version
out_is "permc 0.2.0"
status 2
out_is ''
err_has '^  permc run '
usage "unknown verb 'tset' (did you mean test?)" tset
usage "unknown verb or function 'tset' (did you mean test?)" help tset
for word in formats csv table npy; do
  status 0 help $word
  out_has 'data.csv:price'
  out_has '^from docs/running.md, Values and file formats$'
done
usage "unknown verb or function 'revers' (did you mean reverse?)" help revers
usage "unknown verb 'ruin' (did you mean run?)" ruin
usage "unknown verb 'frobnicate' (see permc help)" frobnicate
usage "unknown verb 'sort', which is a function (did you mean permc run -e sort -i d.csv?)" sort d.csv
usage "unknown verb 'sort.perm' (did you mean permc run sort.perm?)" sort.perm
usage "unknown option '--versoin' (did you mean --version?)" --versoin
usage "unknown option '--qq' before the verb (see permc help)" --qq
usage "run: unknown option '--entri' (did you mean --entry?)" run --entri main sort.perm
usage "run: unknown option '--allow-extren' (did you mean --allow-extern?)" run --allow-extren sort.perm
usage "run: unknown option '--ent' (did you mean --entry?)" run --ent=main sort.perm
usage "run: unknown option '-entry' (did you mean --entry?)" run -entry main sort.perm
for data in --input --in --data; do
  usage "run: unknown option '$data' (did you mean -i FILE?)" run sort.perm $data four.txt
done
for expression in --expr --expression; do
  usage "run: unknown option '$expression' (did you mean -e EXPR?)" run $expression sort
  usage "test: unknown option '$expression' (see permc help test)" test $expression sort
done
usage "run: unknown option '-x' (see permc help run)" run -x
usage "check: unknown option '--jobs' (see permc help check)" check --jobs 3 sort.perm
usage "run: --backend must be one of auto, interp, cpu, portable, cuda, not 'gpu'; did you mean cuda?" run sort.perm --backend gpu
usage "test: --backend must be one of auto, interp, cpu, portable, cuda, not ''" test --backend= sort.perm
usage "run: --time takes no value" run --time=1 sort.perm
usage "run: -o needs a value (FILE)" run sort.perm -o
usage "run: --entry was given twice" run sort.perm --entry main --entry=main
usage "run: FILE or -e EXPR is missing (see permc help run)" run
usage "run: 'b.perm' is one operand too many (usage: permc run [OPTION]... [FILE]; data are read with -i FILE)" run a.perm b.perm
usage "check: FILE or -e EXPR is missing (see permc help check)" check
usage "fmt: PATH... is missing (usage: permc fmt [OPTION]... PATH...)" fmt --check
usage "test: PATH... is missing (usage: permc test [OPTION]... PATH...)" test --
usage "run: --seed needs --random: it is the seed of random arguments" run sort.perm --seed 3
usage "run: --seed must be a number from 0 to 2^64-1, such as 96 or 2^10, not '-3'" run sort.perm --random '[4]i32' --seed -3
usage "run: --seed must be a number from 0 to 2^64-1, such as 96 or 2^10, not '18446744073709551616'" \
  run sort.perm --random '[4]i32' --seed 18446744073709551616
usage "run: give --random or -i, not both" run sort.perm --random '[4]i32' -i four.txt
usage "run: give --entry or -e, not both" run sort.perm --entry main -e sort
usage "check: --size must be NAME=SIZE with an integer, such as n=30, not 'n'" check sort.perm --size n
usage "check: --size must be NAME=SIZE with an integer, such as n=30, not 'n=-1'" check sort.perm --size n=-1
usage "check: --limit must be steps=N, calls=N, operations=N, memory=BYTES, stack=BYTES, results=BYTES, space=BYTES or seconds=N, such as memory=2^33, not 'depth=1'" check sort.perm --limit depth=1
usage "explain: FILE or -e EXPR is missing (see permc help explain)" explain --size n=3
usage "tune: FILE or -e EXPR is missing (see permc help tune)" tune --size n=3
usage "tune: give --size or --arguments, not both" tune sort.perm --size n=3 --arguments '[8]i32'
usage "tune: give --dry-run or --forget, not both" tune sort.perm --size n=3 --dry-run --forget
usage "tune: --backend must be one of auto, cpu, cuda, not 'interp'" tune sort.perm --backend interp
usage "machine: dmm|umm|hmm [WHAT] is missing (usage: permc machine [OPTION]... dmm|umm|hmm [WHAT])" machine
usage "machine: unknown machine 'ddm' (there is dmm, umm and hmm)" machine ddm stride
usage "machine: unknown algorithm 'strid' (did you mean stride?)" machine dmm strid --size 8
usage "machine: an algorithm, a FILE or -e EXPR is missing (permc machine dmm help lists algorithms)" machine dmm
usage "machine: --size is missing" machine dmm stride
usage "machine: --permutation is missing" machine hmm d-designated --size 64
usage "machine: --addresses is missing" machine dmm addresses
usage "machine: --size must be a number from 1, such as 2^10, not '2^64'" machine dmm stride --size 2^64
usage "machine: --width must be a number from 1 to 4096, such as 96 or 2^10, not '0'" machine dmm stride --size 8 --width 0
usage "machine: --strategy does not apply to stride" machine dmm stride --size 32 --strategy naive
usage "machine: --registers does not apply to stride" machine umm stride --size 32 --registers 4
usage "machine: --permutation does not apply to random" machine umm random --size 32 --permutation shuffle
usage "machine: --addresses does not apply to crsw" machine dmm crsw --size 2^10 --addresses none.txt
usage "machine: --shared-latency does not apply to a umm" machine umm stride --size 32 --shared-latency 4
usage "machine: --seed does not apply to stride" machine dmm stride --size 32 --seed 4
usage "machine: --seed does not apply to d-designated with shuffle" machine hmm d-designated --size 64 --permutation shuffle --seed 4
usage "machine: --seed does not apply to a plan" machine hmm -e sort --seed 3
usage "explain: --size must be NAME=SIZE with an integer, such as n=30, not 'n'" explain sort.perm --size n
usage "explain: give --entry or -e, not both" explain sort.perm --entry main -e sort
usage "explain: give --size or --arguments, not both" explain sort.perm --size n=3 --arguments '[8]i32'
usage "explain: give --dump or --json, not both" explain sort.perm --size n=3 --dump net --json
usage "explain: --dump must be one of trace, net, plan, c, cuda, not 'code'" explain sort.perm --dump code
usage "test: --jobs must be a number from 1 to 4096, such as 96 or 2^10, not '0'" test --jobs 0 sort.perm

# ---- run -------------------------------------------------------------------------------------

status 0 run sort.perm -i four.txt
out_is '[0i32, 1i32, 2i32, 3i32]'
err_is ''
status 0 run -i four.txt -- sort.perm
out_is '[0i32, 1i32, 2i32, 3i32]'
status 0 run -ifour.txt --backend=interp sort.perm
out_is '[0i32, 1i32, 2i32, 3i32]'
status 0 run -e 'padded maxval sort' -i <(echo '[3u8, 1, 2]')
out_is '[1u8, 2u8, 3u8]'
status 0 run sort.perm -e 'reverse . main' -i four.txt
out_is '[3i32, 2i32, 1i32, 0i32]'
cp four.txt in
status 0 run sort.perm
out_is '[0i32, 1i32, 2i32, 3i32]'
status 0 run sort.perm -i -
out_is '[0i32, 1i32, 2i32, 3i32]'
printf '3\n1\n2\n0\n' >in
status 0 run sort.perm
out_is '[0i32, 1i32, 2i32, 3i32]'
: >in
status 0 run sort.perm --entry nine
out_is '9i32'
status 0 run sort.perm --entry shift_by -i <(echo 10) -i four.txt
out_is '[13i32, 11i32, 12i32, 10i32]'
status 0 run sort.perm --entry shift_by -i <(echo '10 [3, 1, 2, 0]')
out_is '[13i32, 11i32, 12i32, 10i32]'
status 0 run sort.perm --entry twice -i four.txt
out_is "$(printf '[0i32, 1i32, 2i32, 3i32]\n[0i32, 2i32, 1i32, 3i32]')"
status 0 run sort.perm --entry twice -i four.txt -o first
is_text first '[0i32, 1i32, 2i32, 3i32]'
out_is '[0i32, 2i32, 1i32, 3i32]'
status 0 run sort.perm --entry twice -i four.txt -o first -o second.npy
out_is ''
status 0 run -e 'reverse' -i second.npy
out_is '[3i32, 1i32, 2i32, 0i32]'
status 0 run sort.perm -i four.txt -o sorted.bin
status 0 run sort.perm -i sorted.bin
out_is '[0i32, 1i32, 2i32, 3i32]'
status 1 run sort.perm -i four.txt -o a -o b
err_is 'permc: main has 1 result, but -o was given 2 times; leave out one'
status 1 run absent.perm -i four.txt
err_lines 1
err_has '^permc: absent.perm: No such file or directory$'
status 1 run sort.perm -i absent.npy
err_lines 1
err_has '^permc: absent.npy: No such file or directory$'
status 1 run sort.perm --entry mian -i four.txt
err_has 'mian'
status 1 run sort.perm -i <(echo '[1, 2, 3]')
err_has 'padded'
status 1 run sort.perm -i <(echo '[1, 2')
status 1 run sort.perm
out_is ''
status 1 run sort.perm --random '[4]f32'
status 1 run sort.perm --random 'nonsense'
status 1 run sort.perm --random "$(printf '%0100000d' 0 | tr 0 '(')"
status 1 run -e 'padded maxval srot' -i four.txt
err_has 'srot'

printf 'extern "m" cosf : f32 -> f32\nmain : [m]f32 -> [m]f32\nmain = map cosf\n' >extern.perm
printf -- '-- ==\n-- input { [0f32] } output { [1f32] }\n' >>extern.perm
echo '[0f32]' >zero.txt
status 1 run extern.perm -i zero.txt
err_has '--allow-extern'
status 0 run extern.perm -i zero.txt --allow-extern
out_is '[1.0f32]'
status 0 check extern.perm
status 0 test extern.perm
out_has '--allow-extern'
last_is '0 passed, 0 failed, 1 skipped'
status 0 test extern.perm --allow-extern
last_is '1 passed, 0 failed, 0 skipped'

status 0 run sort.perm --random '[1024]i32'
cp out first
status 0 run sort.perm --random '[1024]i32' --seed 1
if cmp -s out first; then pass; else fail "seed 1 is the default"; fi
status 0 run sort.perm --random '[1024]i32' --seed 2
if cmp -s out first; then fail "seeds do not differ"; else pass; fi

status 0 run sort.perm -i four.txt --time
err_lines 8
stages=$(awk '{ printf "%s ", $2 } $1 != "permc:" || $3 !~ /^[0-9.]+$/ || $4 != "s" { exit 1 }' err)
if [ "$stages" = "read load elaborate plan compile run write total " ]; then pass; else fail "--time prints $stages"; fi
status 0 run sort.perm -i four.txt --time --backend portable
if awk '$2 == "plan" || $2 == "compile" { bad += $3 <= 0 } $2 == "total" { total = $3 }
  $2 != "total" { sum += $3 } END { exit bad || sum > total }' err; then pass
else fail "--time prints no planning, or a total below its parts"; fi
status 0 run sort.perm -i four.txt
cp out first

# A backend that is asked for by name is a promise; auto takes another one.
for backend in cpu cuda; do
  PERMC_CC=/nowhere/cc PERMC_CUDA_DRIVER=/nowhere/cuda.so \
    status 1 run sort.perm -i four.txt --backend "$backend"
  err_lines 1
  err_has "^permc: the backend $backend cannot run this: PERMC_C.* is /nowhere\|^permc: the backend cuda cannot run this: PERMC_CUDA_DRIVER .*; it needs an NVIDIA GPU"
done
PERMC_CC=/nowhere/cc PERMC_CUDA_DRIVER=/nowhere/cuda.so status 0 run sort.perm -i four.txt
err_lines 0
status 0 run sort.perm -i four.txt --strategy tile
err_has '^permc: warning: the strategy tile applies to no part of this program$'
status 0 run -e 'map (+ 1)' --random '[4]i32' --layout RAP --backend portable
err_has '^permc: warning: the layout RAP applies to nothing: there are no exchanges$'
status 0 run sort.perm --random '[1024]i32' --layout RAP --backend portable
err_has '^permc: warning: the layout RAP applies to nothing: the backend portable has none$'
status 0 explain -e sort --arguments '[16]i32'
out_has '^auto          interp; called often: cpu$'
out_has '^because       interp takes .*s, and what is planned at least .*s$'
status 0 explain -e sort_network --arguments '[2^28]i32'
out_has '^auto          cuda with a GPU, else cpu from the cache, else portable'
out_has '^predicted     a call: interp .* s, portable .* s, cpu .*s, cuda .*s$'
out_has '^before it     planning .*s, looking for compiled code .*s, compiling .* s (cuda .* s)$'
for apart in '--ranks 2' '--memory 1MiB'; do
  status 0 explain -e sort --arguments '[2^20]i32' $apart
  out_has '^auto          portable; called often: cpu$'
  out_has '^because       on ranks and files what takes interp 1 s is compiled, and this takes .*s$'
done

# Files that cannot be written.
status 1 run sort.perm -i four.txt -o absent/x.npy
err_lines 1
err_has "^permc: absent/x.npy: there is no folder 'absent'; make it (mkdir -p absent), or write elsewhere$"
# Tables.
printf 'date,price,"volume, total"\r\n2024-01-02,1.5,200\r\n2024-01-03, 1.25 ,"100"\r\n' >data.csv
status 0 run -e 'padded maxval sort' -i data.csv:price
out_is '[1.25f64, 1.5f64]'
status 0 run -e 'padded maxval sort' -i data.csv:1,2 -o sorted.csv
is_text sorted.csv "$(printf 'price,"volume, total"\n1.25,100\n1.5,200')"
printf 'main : [m]f64 -> [m]i64 -> ([m]i64, [m]f64)\nmain xs ys = (reverse ys, xs)\n' >columns.perm
status 0 run columns.perm -i sorted.csv
out_is "$(printf '[200i64, 100i64]\n[1.25f64, 1.5f64]')"
status 0 run -e transpose -i <(printf '1 2\n3 4\n')
out_is '[[1i64, 3i64], [2i64, 4i64]]'
status 1 run -e 'padded maxval sort' -i data.csv:prize
err_is "permc: data.csv: there is no column 'prize'; there is date, price, \"volume, total\""
status 1 run -e 'padded maxval sort' -i data.csv
err_is "permc: data.csv:2:1: column 'date' holds text ('2024-01-02'); permc reads numbers only: choose columns, as in -i data.csv:price,2"
for first in '1 000' '$5' '-x'; do
  printf '%s\n2\n' "$first" >one.csv
  status 1 run -e 'padded maxval sort' -i one.csv
  err_has "^permc: one.csv:1:1: expected a value, found '$first'; "
done
printf '1 2\n3 4\n' >one.csv
status 1 run -e transpose -i one.csv
err_has "found '1 2'; commas, semicolons or tabulators separate the columns of .csv, blanks those of"
printf 'name,2019,2020\nalice,1,2\nbob,4,3\n' >one.csv
status 0 run -e 'padded maxval sort' -i one.csv:2020
out_is '[2i64, 3i64]'
printf 'Weight\n2\n1\n' >one.txt
status 1 run -e 'padded maxval sort' -i one.txt
err_is "permc: one.txt:1:1: expected a value, found 'Weight'; a header is read with -i one.txt:Weight"
"$permc" run -e 'padded maxval sort' <one.txt 2>err
err_has 'a header is read with -i -:Weight$'
printf 'weight,count\n2,1\n' >one.csv
status 1 run -e 'map (sort_on fst)' -i one.csv
err_has '^hint: rows of tuples are one array of rank 2 or more for each component'
# An array without elements is an empty file.
printf 'main : [m]f64 -> [m]f64\nmain = map (+ 1)\n' >next.perm
for ending in csv txt; do
  status 0 run next.perm -i <(echo 'empty([0]f64)') -o "none.$ending"
  status 0 run next.perm -i "none.$ending"
  out_is 'empty([0]f64)'
done
status 1 run -e 'padded maxval sort' -i none.csv
err_is 'permc: none.csv: this file is empty, and an empty array needs the type of its elements, as in main : [m]f64 -> [m]f64'
status 1 run -e 'map (+ 1)' -i data.csv:price,2
err_is 'permc: data.csv gives 2 columns, and '"'-e'"' takes only 1; choose by name or number: -i data.csv:price'
# Before anything runs: these programs take minutes, or fail when they run.
long='\xs -> (sum (iota (2^34)) + xs, xs)'
ln -sf sorted link
for pair in 'sorted sorted' 'sorted ./sorted' "sorted $PWD/sorted" 'sorted link'; do
  # shellcheck disable=SC2086
  set -- $pair
  status 1 run -e "$long" -i <(echo 1) -o "$1" -o "$2"
  err_is "permc: -o $1 and -o $2 are one file; give each result a file of its own"
done
rm link
status 1 run -e "$long" -i <(echo 1) -o a -o b -o c
err_is 'permc: -e has 2 results, but -o was given 3 times; leave out one'
status 1 run -e "$long" -i <(echo 1) -o sorted.json
err_has "^permc: sorted.json: '.json' is the ending of no format; results can be written as .npy"
status 1 run -e "$long" -i <(echo 1) -o a -o .
err_is 'permc: .: this is a folder; name a file in it'
status 1 run -e "\\x -> split 1 (iota (2^34))" -i <(echo 1) -o a.npy -o b
err_is 'permc: -e has 1 result, but -o was given 2 times; leave out one'
status 1 run -e 'split 1 . split 1 . padded maxval sort' --random '[8]i32' -o a.csv
err_has '^permc: a.csv: a table has rows and columns, but this value has 3 dimensions'
status 1 bench -e sort --arguments '[16]u32' --turns -o absent/sorted.npy
err_has "^permc: absent/sorted.npy: there is no folder 'absent'"
out_is ''
# The file of an argument may be written.
cp four.txt own
status 0 run sort.perm -i own -o own
is_text own '[0i32, 1i32, 2i32, 3i32]'
# Tables of plain numbers.
status 0 run -e 'map (\x -> (x, f64 x / 4))' -i four.txt -o pairs.csv
is_text pairs.csv "$(printf '3,0.75\n1,0.25\n2,0.5\n0,0.0')"
status 0 run -e 'split 1' -i four.txt -o rows.txt
is_text rows.txt "$(printf '3 1\n2 0')"
"$permc" run sort.perm -i four.txt >/dev/full 2>err
if [ $? -eq 1 ]; then pass; else fail "a full standard output"; fi
err_is 'permc: standard output: No space left on device'
"$permc" run sort.perm -i four.txt >&- 2>err
if [ $? -eq 1 ]; then pass; else fail "a closed standard output"; fi
err_is 'permc: standard output: Bad file descriptor'
# Streams that are closed: what is said goes into no file that is opened then.
"$permc" run sort.perm -i four.txt -o closed.npy --time <&- >&- 2>&-
"$permc" run sort.perm -i four.txt -o open.npy
if cmp -s closed.npy open.npy; then pass; else fail "an output is another without standard streams"; fi
# A small stack, but for sanitizers, which need more.
if [ "${PERMC_SLOWER:-1}" != 1 ] || (ulimit -s 32 && "$permc" run -e 1 >out 2>err); then
  pass
else
  fail "a stack of 32 KiB does not suffice"
fi
status 1 run sort.perm -i four.txt -o /dev/full
err_is 'permc: /dev/full: No space left on device'
# All outputs or none: an argument's file is as it was.
cp four.txt both.txt
status 1 run -e '\x -> (sort x, x)' -i both.txt -o both.txt -o /dev/full
if cmp -s four.txt both.txt; then pass; else fail "an output of a run that failed"; fi
rm both.txt
for verb in "help" "help run" "--version" "--help"; do
  # shellcheck disable=SC2086
  "$permc" $verb >/dev/full 2>err
  if [ $? -eq 1 ]; then pass; else fail "permc $verb on a full standard output"; fi
  err_is 'permc: standard output: No space left on device'
done
{
  "$permc" run sort.perm --random '[65536]i32' 2>err
  echo $? >status
} | true
if [ "$(cat status)" = 141 ]; then pass; else fail "a closed pipe gives $(cat status)"; fi
err_is ''
{
  "$permc" run sort.perm --entry twice --random '[65536]i32' -o - -o behind.npy 2>err
} | true
err_is ''
if [ -s behind.npy ]; then pass; else fail "nothing is written after a closed pipe"; fi
{
  "$permc" help run 2>err
  echo $? >status
} | true
err_is ''
echo old >kept.txt
status 1 run sort.perm -i <(echo '[1, 2, 3]') -o kept.txt
is_text kept.txt old
only_files

# Options of the compiler: what it is called with, and what programs then compute.
cat >noting_cc <<END
#!/bin/sh
echo "\$@" >>$work/cc.log
exec cc "\$@"
END
chmod +x noting_cc
compiled() { # compiled WORD OPTION...: the compiler is called, with WORD, and the result is right
  rm -rf empty_cache cc.log
  PERMC_CACHE=$work/empty_cache PERMC_CC=$work/noting_cc "$permc" run -e 'map (\x -> x * x + 1)' \
    --backend cpu "${@:2}" -i <(echo '[1.5f32, -2f32]') >out 2>err
  out_is '[3.25f32, 5.0f32]'
  if grep -q -e "$1" cc.log; then pass; else fail "the compiler is not called with $1"; fi
}
if command -v cc >/dev/null; then
  compiled ' -ffp-contract=off '
  compiled ' -ffp-contract=off ' --strict-fp
  compiled ' -ffp-contract=fast ' --fast-fp
  compiled " -march=$(grep -qs avx512vl /proc/cpuinfo && echo native || echo x86-64-v)" \
    --target-isa native
  compiled ' -ffp-contract=off ' --target-isa baseline
  if grep -q -e -march cc.log; then fail "baseline has -march"; else pass; fi
  compiled ' -ffp-contract=off ' --threads 1
  compiled ' -ffp-contract=off ' --threads=3
else
  skip "there is no C compiler"
fi
usage "run: --target-isa must be native, baseline, avx2 or avx512, as far as this processor has it, not 'z80'" \
  run sort.perm --target-isa z80
usage "test: --threads must be a number from 1 to 1024, such as 96 or 2^10, not '1025'" test sort.perm --threads 1025
usage "run: give --strict-fp or --fast-fp, not both" run sort.perm --strict-fp --fast-fp

# ---- check -----------------------------------------------------------------------------------

status 0 check sort.perm
err_is ''
status 0 check sort.perm --size n=20 --size=n=20 --time
err_lines 2
err_has '^permc: load  *[0-9.]* s$'
err_has '^permc: elaborate  *[0-9.]* s$'
echo 'main : i32 -> i32' >lacking.perm
printf 'main : [2^n]i32 -> [2^n]i32\nmain = srot\n' >unbound.perm
status 1 check unbound.perm sort.perm
err_has '^unbound.perm:2:8: error: '
status 1 check lacking.perm unbound.perm
err_has '^lacking.perm:'
err_has '^unbound.perm:'
status 1 check absent.perm
err_has '^permc: absent.perm: No such file or directory$'
status 1 check .
err_has '^./unbound.perm:2:8: error: '
printf 'main : [2^n]i32 -> [2^n]i32\nmain = parm 4 sort\n' >large.perm
status 0 check large.perm
err_has 'warning'
status 1 check large.perm --size n=2
status 0 check large.perm --size n=3

# ---- fmt -------------------------------------------------------------------------------------

printf -- '-- sorts\nmain   :   [2^n]i32->[2^n]i32\nmain=sort   -- all\n\n\n\n' >ugly.perm
cp ugly.perm in
status 0 fmt -
cp out neat.perm
out_has '^-- sorts$'
out_has '^main : \[2^n\]i32 -> \[2^n\]i32$'
out_has '-- all$'
cp neat.perm in
status 0 fmt -
if cmp -s out neat.perm; then pass; else fail "fmt is not idempotent"; fi
: >in
status 1 fmt --check neat.perm ugly.perm
out_is 'ugly.perm'
chmod 640 ugly.perm
ln -s ugly.perm link.perm
status 0 fmt neat.perm link.perm
out_is ''
if cmp -s ugly.perm neat.perm; then pass; else fail "fmt in place"; fi
if [ -L link.perm ] && [ "$(stat -c %a ugly.perm)" = 640 ]; then pass; else fail "fmt keeps links and modes"; fi
touch -d '2001-01-01' neat.perm
status 0 fmt neat.perm
if [ "$(stat -c %Y neat.perm)" -lt 1000000000 ]; then pass; else fail "fmt rewrites what is neat"; fi
status 0 fmt --check neat.perm ugly.perm
mkdir -p some/deep
cp ugly.perm some/deep/one.perm
printf 'main = 1   + 2\n' >some/two.perm
status 1 fmt --check some
out_is 'some/two.perm'
status 0 fmt some
status 0 check some neat.perm
rm -r some
status 1 fmt --check absent.perm
err_is 'permc: absent.perm: No such file or directory'
printf 'main = = sort\n' >broken.perm
cp broken.perm before
status 1 fmt broken.perm
err_has '^broken.perm:1:8: error: '
if cmp -s broken.perm before; then pass; else fail "fmt touched a broken program"; fi
"$permc" fmt - <ugly.perm >/dev/full 2>err
if [ $? -eq 1 ]; then pass; else fail "fmt to a full standard output"; fi
err_is 'permc: standard output: No space left on device'
only_files

# ---- machine ---------------------------------------------------------------------------------

printf '0 1 10 6  # of one warp\n0x8 9 14 15\n' >figure_4.txt
status 0 machine dmm addresses --addresses figure_4.txt --width 4 --latency 3
out_has "time units                   5             5"
status 0 machine umm addresses --addresses figure_4.txt --width 4 --latency 3
out_has "time units                   7             7"
status 0 machine hmm -e bitrev --arguments '[2^16]u32' --dmms 8
out_has "1.000"
status 0 machine hmm hmm-transpose --size 2^12 --json
out_has '"access": "read", "good": 1, "casual": 0'
status 1 machine dmm stride --size 1024 --threads 100
err_is "permc: the threads are whole warps: p = 100 is no multiple of w = 32"
status 1 machine dmm crsw --size 144 --width 8 --threads 8
err_is "permc: the side of the matrix, 12, is no multiple of w = 8"
status 1 machine dmm crsw --size 32
err_is "permc: a square matrix has no 32 elements: n is to be a square"
status 1 machine hmm d-designated --size 1000 --permutation shuffle
err_is "permc: the permutation shuffle needs n = 2^k with k at most 31, not n = 1000"
status 1 machine hmm -e sort --arguments '[2^8]u32' --width 16
err_is "permc: the warps of a plan have 32 lanes: w = 16 will not do"
status 1 machine dmm stride --size 2^40
err_is "permc: n must be at most 2^31, not 1099511627776"
status 1 machine dmm stride --size 1000
err_is "permc: n = 1000 is no multiple of w = 32, so whole warps of threads cannot share it: the next that is, is 1024"
status 1 machine dmm stride --size 1024 --threads 2^40
err_is "permc: there are more than 2^31 warps: take fewer threads (--threads)"
status 1 machine dmm stride --size 1024 --threads 96
err_is "permc: n = 1024 is no multiple of p = 96: --threads is a multiple of w = 32 that divides n"
status 1 machine umm umm-transpose --size 16
err_is "permc: the side of the matrix, 4, is no multiple of w = 32"
status 1 machine hmm umm-transpose --size 2^10
err_is "permc: umm-transpose does not run on an hmm, only on a dmm and a umm"
status 1 machine dmm addresses --addresses figure_4.txt --threads 2^40
err_has "^permc: p = 1099511627776 is too large: a memory machine for it needs [0-9.]* TiB of memory; .* [0-9.]* .iB$"
status 1 machine hmm -e bitrev --arguments '[2^60]u32'
err_has "^permc: a memory machine for this plan needs [0-9.]* PiB of memory; .*; fewer threads do not help: take smaller arrays$"
status 1 machine hmm -e bitrev --arguments '[2^46]u32' --dmms 4096
err_has "^permc: a memory machine for this plan needs [0-9.]* .iB of memory; .*--threads"
status 1 machine hmm -e sort --arguments '[2^16]u32' --threads 32
err_is "permc: the blocks of pass 1 have 256 threads: p = 32 is not enough for one"
status 1 machine hmm -e sort --arguments '[2^16]u32' --threads 300
err_is "permc: the threads are whole warps: p = 300 is no multiple of w = 32"
status 1 machine hmm -e bitrev --arguments '[2^16]u32' --strategy online
err_is "permc: the strategy online has a kernel of its own, which the machines do not know (another --strategy has none)"
status 1 machine dmm -e bitrev --arguments '[2^16]u32'
err_is "permc: a plan needs an hmm (permc machine hmm): a dmm has one memory only"
: >err
"$permc" machine hmm -e bitrev --arguments '[2^30]u32' >out 2>err &  # it would take a minute
pid=$! waited=0
while [ ! -s err ] && [ $waited -lt 300 ]; do
  sleep 0.1
  waited=$((waited + 1))
done
kill $pid
wait $pid
err_has "^permc: simulating 8.6e+09 requests takes about 66 seconds$"
printf '0x0x5\n' >twice_hexadecimal.txt
status 1 machine dmm addresses --addresses twice_hexadecimal.txt
err_is "permc: twice_hexadecimal.txt:1: '0x0x5' is not a number such as 96 or 0x60"
: >empty.txt
status 1 machine dmm addresses --addresses empty.txt
err_is "permc: empty.txt: the file has no numbers"
printf '1 2\n3 x4\n' >malformed.txt
status 1 machine dmm addresses --addresses malformed.txt
err_is "permc: malformed.txt:2: 'x4' is not a number such as 96 or 0x60"
printf '18446744073709551616\n' >large.txt
status 1 machine dmm addresses --addresses large.txt
err_is "permc: large.txt:1: 18446744073709551616 is too large: addresses are less than 2^48"
printf '0 2 2 1\n' >twice.txt
status 1 machine hmm d-designated --permutation twice.txt --width 2
err_is "permc: twice.txt is not a permutation: number 2 is 2 again"
status 1 machine hmm d-designated --permutation twice.txt --size 8
err_is "permc: twice.txt: it has 4 numbers, but --size is 8"

# ---- tune ------------------------------------------------------------------------------------

status 1 tune sort.perm
export PERMC_CACHE=$work/tuned
status 0 tune sort.perm --size n=12 --backend cpu --forget
out_is "no target is stored"
"$permc" tune sort.perm --size n=12 --backend cpu >out 2>err &
tuning=$!
sleep 1.5
kill -TERM $tuning
wait $tuning
if [ $? -eq 143 ]; then pass; else fail "an interrupted tune exits with another status"; fi
err_has "interrupted"
if [ -z "$(find "$PERMC_CACHE" -name 'work-*' -o -name '*.text')" ]; then pass; else fail "left by tune"; fi

# What the user has in the folder of the cache stays.
export PERMC_CACHE=$work/project
mkdir -p project/work-notes
echo kept >project/work-notes/notes.txt
touch -d '2 hours ago' project/work-notes
status 0 run sort.perm --backend cpu --random '[16]i32'
is_text project/work-notes/notes.txt kept
unset PERMC_CACHE

# ---- cache, doctor ---------------------------------------------------------------------------

export PERMC_CACHE=$work/kept
status 0 cache
out_is "folder    $work/kept
entries   0 of compiled code, 0 of tuned plans, 0 of runs
size      0 bytes of at most 1 GiB"
status 0 run sort.perm --backend cpu --random '[16]i32'
if [ ! -s err ]; then # there is a compiler
  status 0 cache
  out_has '^entries   1 of compiled code, 0 of tuned plans, 0 of runs$'
  status 0 cache --list
  out_has '^....-..-.. ..:..:..  .* KiB  code         [0-9a-f]\{12\}$'
  status 0 cache --limit 4KiB
  out_has '^removed   [0-9]* KiB$'
  status 0 run sort.perm --backend cpu --random '[16]i32'
  status 0 cache
  out_has '^entries   0 of compiled code'
  status 0 cache --clear --limit 2^20
  out_has '^size      0 bytes of at most 1 MiB$'
fi
usage "cache: --limit must be a number of bytes, at least 0 bytes, such as 512MiB or 2^30, not 'much'" \
  cache --limit much
export PERMC_CACHE=/dev/null/none
status 1 cache
err_is 'permc: the cache /dev/null/none cannot be used: Not a directory'
status 0 doctor
out_has '^speed     [0-9]* GB/s read and written by one thread, [0-9]* by all$'
out_has '^places    [0-9.]* ns for an element anywhere in 512 KiB, [0-9.]* in 8 MiB, [0-9.]* in 64 MiB$'
out_has '^permc     [0-9.]*, built by '
out_has '^cache     none, programs are compiled anew in each run: the cache /dev/null/none '
out_has '^          to do: set PERMC_CACHE to a folder of yours with free space, from where '
out_has '^backends  interp, portable'
export PERMC_CACHE=$work/kept
PERMC_CC=/nonexistent/cc "$permc" doctor >out 2>err
out_has '^compiler  none$'
out_has '^          to do: PERMC_CC is /nonexistent/cc, which is no C compiler; set it to the path of gcc or clang$'
out_has "^cache     $work/kept: .* of at most "
mkdir noexec
# In a mount namespace of its own, which ends with it.
if unshare -m sh -c 'mount -t tmpfs -o noexec,mode=700 tmpfs noexec && PERMC_CACHE=$PWD/noexec "$0" doctor' \
    "$permc" >out 2>err; then
  out_has '^compiler .*: nothing may be executed from .*/noexec/.*, which is mounted with noexec$'
  out_has '^          to do: set PERMC_CACHE to a folder of yours with free space, from where '
else
  skip "no file system can be mounted here"
fi
rmdir noexec
unset PERMC_CACHE

# ---- explain ---------------------------------------------------------------------------------

status 0 explain sort.perm --size n=20 --target line128-tile32k
out_has '^main : \[2^n\]i32 -> \[2^n\]i32$'
out_has '^columns       210, each of static direction$'
out_has '^ all   210 '
err_is ''
status 0 explain -e 'sort_network . bitrev' --arguments '[2^12]f32' --rules
out_has '^arguments     \[2^12\]f32$'
out_has '^parm-'
status 0 explain sort.perm --entry nine
out_has '^arguments     none$'
status 0 explain sort.perm -e 'reverse . main' --arguments '[1024]i32' --dump plan
out_has '^target '
out_has '^pass 0 of stage 0 '
status 0 explain sort.perm --size n=4 --dump net
out_has '^stage 0 n=4$'
status 0 explain sort.perm --size n=4 --dump trace
out_has '^results %'
# The program's own part of the text, with names and lines of its source.
status 0 explain -e sort_network --arguments '[2^4]u32' --dump c
out_has '^// sort_network : '
out_has '^// a0  argument 0: \[16\]u32$'
out_has '^ *// %8 stdlib/sort.perm:[0-9]*: '
out_has '^void permc_pass_0('
[ "$(wc -l <out)" -lt 200 ] || fail "--dump c of sort has $(wc -l <out) lines"
status 0 explain -e '\keys -> sort keys' --arguments '[2^4]u32' --dump cuda
out_has '^// a0  argument keys: \[16\]u32$'
out_has '^PERMC_KERNEL(0, '
[ "$(wc -l <out)" -lt 200 ] || fail "--dump cuda of sort has $(wc -l <out) lines"
# Loops by data are of one element each: what is around them is not taken apart lane by lane.
status 0 explain -e 'reduce_ragged (+) 0.0' --arguments '[3]int [2^13]f64' --target avx512 --dump c
out_has '{  // phase 0: 1 op, 2^0 registers of 2^0 lanes$'
out_has '      for (u64x1 v[0-9]* = v[0-9]*; (int64_t)v[0-9]* < (int64_t)v[0-9]*; v[0-9]*++) {'
out_lacks '\[lane\]'
out_has ' double v[0-9]* = v[0-9]*;$'  # the sum, from turn to turn
# Elements at places of a vector are read by an instruction, where there is one.
status 0 explain -e search_sorted --arguments '[2^10]int [2^10]int' --target avx512 --dump c
out_has '_mm512_mask_i64gather_epi64'
# An index that leaves i64 on the way wraps also where compilers take it that it does not.
status 0 explain -e 'map (\i -> abs (i + 9223372036854775806)) (iota 49)' --target gpu --dump cuda
out_has 'const uint64_t u[0-9]* = u[0-9]* + (t);'
printf 'base = avx2\nname = mine\nline_bytes = 64\n' >mine.target
status 0 explain sort.perm --size n=4 --target mine.target
out_has '^target        mine: lines of 64 bytes'
status 0 explain --target help
out_has '^avx512$'
out_has '^  line_bytes = 128, '
out_has '^pass_seconds '
status 1 explain sort.perm
err_is $'permc: the size \'n\' of \'main\' is not given\nhint: give each size by its name, such as --size n=3'
status 1 explain sort.perm --size n=4 --target nowhere
err_has "^permc: there is no target 'nowhere', nor a file of that name (known targets: avx512, "
printf 'base = avx2\nlanes = 3\n' >mine.target
status 1 explain sort.perm --size n=4 --target mine.target
err_is "permc: mine.target: line 2: a target has no field 'lanes'"
status 1 explain absent.perm --size n=4
err_is 'permc: absent.perm: No such file or directory'
status 0 explain sort.perm --size n=20 --rules --json
if command -v python3 >/dev/null; then
  python3 - >verdict 2>&1 <<'END'
import json
with open("out") as file:
    e = json.load(file)
assert e["entry"] == "main" and e["sizes"] == {"n": 20}, e
assert e["arguments"] == [{"type": "i32", "dims": [1 << 20]}] == e["results"], e
assert e["columns"] == e["static_columns"] == 210 and e["permutations"] == e["copies"] == 0, e
assert e["pass_count"] == len(e["passes"]) and e["target"]["tile_bytes"] > 0, e
assert sum(p["ops"] for p in e["passes"]) == 210, e
assert all(p["bytes_read"] == 4 << 20 for p in e["passes"]), e
assert all(int(v, 16) > 0 for p in e["passes"] for v in p["tile"]), e
assert any(r["name"] == "minmax" and r["times"] > 0 for r in e["rules"]), e
END
  if [ -s verdict ]; then fail "explain --json: $(tail -n 1 verdict)"; else pass; fi
else
  skip "python3 is not here to read explain --json"
fi

# ---- test ------------------------------------------------------------------------------------

mkdir -p tests/sub tests/.hidden empty
cat >tests/good.perm <<'END'
main : [2^n]a -> [2^n]a
main = sort
-- ==
-- tags { fast small }
-- input { [3, 1, 2, 0] }
-- output { [0, 1, 2, 3] }
-- input { [2u8,
--          1u8] } output { [1, 2] }
-- input { [2.5f32, 1.5] } output @sub/floats.txt
-- input @sub/four.txt
-- auto output
-- random input { [1024]i32 }
-- property: sorted
-- property: permutation
-- property: equals sort
-- input { [1, 2, 3] }
-- error: power of two ... padded

back : [2^n]a -> [2^n]a
back = reverse
  -- ==
  -- entry: back main
  -- tags { pair }
  -- random input { [64]f64 }
  -- property: permutation
  -- ==
  -- entry: back
  -- random input { [64][8]u16 } auto output
  -- property: inverse_of reverse
  -- structure { n 20 columns 0 passes <= 1 permutations 1 copies 0 exchanges 0 target gpu }
END
echo '[3, 1, 2, 0]' >tests/sub/four.txt
echo '[1.5f32, 2.5f32]' >tests/sub/floats.txt
cat >tests/sub/rows.perm <<'END'
main : [m][2^n]a -> [m][2^n]a
main = map sort
-- ==
-- input { [[2, 1], [4, 3], [6, 5]] }
-- output { [[1, 2], [3, 4], [5, 6]] }
-- property: sorted
-- property: permutation
END
cat >tests/sub/wrong.perm <<'END'
main : i32 -> i32
main x = srot x
-- ==
-- error: 'srot' is not defined ... did you mean 'sort'?
END
cp tests/sub/rows.perm tests/.hidden/rows.perm
cp tests/sub/rows.perm tests/rows.txt
status 0 test tests
last_is '12 passed, 0 failed, 0 skipped'
out_is '12 passed, 0 failed, 0 skipped'
err_is ''
status 0 test tests --jobs 1
last_is '12 passed, 0 failed, 0 skipped'
status 0 test tests/rows.txt tests/good.perm --tag pair
last_is '2 passed, 0 failed, 0 skipped'
status 0 test tests --tag pair --tag fast
last_is '8 passed, 0 failed, 0 skipped'
status 0 test tests --tag fast --exclude pair
last_is '6 passed, 0 failed, 0 skipped'
status 0 test tests --exclude fast --exclude pair
last_is '4 passed, 0 failed, 0 skipped'
status 0 test tests --only good.perm
last_is '10 passed, 0 failed, 0 skipped'
status 0 test tests --only 'good.perm:12 main'
last_is '1 passed, 0 failed, 0 skipped'
status 0 test tests --only '[2.5f32'
last_is '1 passed, 0 failed, 0 skipped'
status 1 test tests --only nonsense
err_is 'permc: no test matches --only, --tag and --exclude'
last_is '0 passed, 0 failed, 0 skipped'
status 1 test empty
err_is 'permc: empty: there is no program (*.perm) in this folder'
last_is '0 passed, 0 failed, 0 skipped'
status 1 test absent tests/sub
err_is 'permc: absent: No such file or directory'
last_is '2 passed, 0 failed, 0 skipped'

cat >fails.perm <<'END'
main : [2^n]i32 -> [2^n]i32
main = sort
-- ==
-- input { [3, 1, 2, 0] } output { [0, 1, 5, 3] }
-- input { [3, 1, 2, 0] } output { [0, 1] }
-- input { [3, 1, 2, 0] } output { [0f32, 1f32, 2f32, 3f32] }
-- input { [3, 1, 2, 0] } output { [0, 1, 2, 3] 4 }
-- input { [3, 1, 2, 0] } output { }
-- input { [3, 1, 2, 0] } error: padded
-- input { [3, 1, 2] } error: nonsense
-- input { [3, 1, 2] } output { [1, 2, 3] }
-- input { [3,
--   x] }
-- input @absent.txt
-- input { [3, 1] } output @absent.txt

flip2 : [2^n]i32 -> [2^n]i32
flip2 = reverse
constant : [2^n]i32 -> [2^n]i32
constant xs = map (\x -> 7) xs
pairs : [2^n](i32, f32) -> [2^n](i32, f32)
pairs xs = xs
-- ==
-- entry: flip2
-- input { [1, 2] }
-- property: sorted
-- ==
-- entry: constant
-- input { [1, 7] } property: permutation
-- ==
-- entry: constant
-- input { [1, 7] } property: inverse_of reverse
-- ==
-- entry: constant
-- input { [1, 7] } property: equals srot
-- ==
-- entry: constant
-- input { [1, 8] } property: equals reverse
-- ==
-- entry: absent
-- input { [1, 7] }
-- ==
-- error: anything
-- ==
-- entry: pairs
-- input { [1, 1] [2f32, 1f32] } property: sorted
END
status 1 test fails.perm
last_is '0 passed, 19 failed, 0 skipped'
out_has '^fails.perm:4: main: result\[2\] is 2i32, expected 5i32$'
out_has '^  expected \[0i32, 1i32, 5i32, 3i32\]$'
out_has '^  found    \[0i32, 1i32, 2i32, 3i32\]$'
out_has '^fails.perm:5: main: result is \[4\]i32, expected \[2\]i32$'
out_has '^fails.perm:6: main: the output cannot be read as \[4\]i32, the type of the result:$'
out_has '^  fails.perm:6:'
out_has '^fails.perm:7: main: the output has more than the 1 array of the result$'
out_has '^fails.perm:8: main: the output has 0 of the 1 arrays of the result$'
out_has "^fails.perm:9: main: expected an error with the words 'padded', found none$"
out_has "^fails.perm:10: main: expected an error with the words 'nonsense', found:$"
out_has '^fails.perm:11: main: the run fails:$'
out_has '^fails.perm:12: main: the input cannot be read:$'
out_has 'fails.perm:13:6: '
out_has '^fails.perm:14: main: the input cannot be read:$'
out_has 'absent.txt: No such file or directory$'
out_has '^fails.perm:15: main: absent.txt: No such file or directory$'
out_has '^fails.perm:25: flip2: property sorted: result\[1\] is out of order: 2i32 stands before 1i32$'
out_has '^fails.perm:29: constant: property permutation: result does not hold the elements of the input$'
out_has '^fails.perm:32: constant: property inverse_of reverse: the recovered input\[0\] is 7i32, expected 1i32$'
out_has '^fails.perm:35: constant: property equals srot: srot:$'
out_has '^fails.perm:38: constant: property equals reverse: result\[0\] is 7i32, expected 8i32$'
out_has '^fails.perm:40: absent: '
out_has "^fails.perm:42: main: expected an error with the words 'anything', found none$"
out_has 'out of order: (1i32, 2.0f32) stands before (1i32, 1.0f32)$'

cat >unloaded.perm <<'END'
main : i32 -> i32
main x = srot x
-- ==
-- input { 1 } output { 2 }
-- input { 2 } output { 2 }
-- structure { columns 1 }
END
status 1 test unloaded.perm
last_is '0 passed, 3 failed, 0 skipped'
out_has '^unloaded.perm:4: main: the program does not load:$'
out_has '^  unloaded.perm:2:10: error: '
out_has '^unloaded.perm:5: main: the program does not load$'

# Mistakes in test blocks.
mistake() { # mistake LINE MESSAGE BLOCK
  printf 'main : i32 -> i32\nmain x = x\n-- ==\n%s\n' "$3" >mistake.perm
  status 1 test mistake.perm
  if [ "$(head -n 1 out)" = "mistake.perm:$1: $2" ]; then pass; else fail "expected: mistake.perm:$1: $2"; fi
}
mistake 4 "expected entry:, tags, input, random input, output, auto output, error:, property: or structure, not 'inptu { 1 }' (did you mean input?); nothing behind it in this block was run" '-- inptu { 1 }'
mistake 4 "the { after 'input' has no }: write one at the end of its values" '-- input { 1'
mistake 4 "column 10: expected { after 'input': write -- input { 1 }" '-- input 1'
mistake 4 "'output' must follow an input" '-- output { 1 }'
mistake 5 "the input of line 4 already has an output or an error" $'-- input { 1 } output { 1 }\n-- error: x'
mistake 4 "expected : after 'entry'" '-- entry main'
mistake 4 "expected a name after 'entry:'" '-- entry:'
mistake 5 "'entry:' must be given once, before the inputs of its block" $'-- input { 1 }\n-- entry: main'
mistake 3 "a test block needs an input, a structure or an error" '-- tags { a }'
mistake 4 "expected 'input' after 'random'" '-- random { i32 }'
mistake 4 "expected 'output' after 'auto'" '-- auto input { 1 }'
mistake 4 "expected a file name after 'input @'" '-- input @'
mistake 4 "expected sorted, permutation, inverse_of FUNCTION or equals FUNCTION, not 'sotred'" '-- property: sotred'
mistake 4 "expected a function after 'equals'" '-- property: equals'
mistake 4 "'sorted' takes no function, but 'now' follows" '-- property: sorted now'
mistake 4 "'property:' needs an input in its block" '-- property: sorted'
mistake 4 "'structure' needs columns, passes, permutations, copies or exchanges, and a number; did you mean columns" '-- structure { colums 1 }'
mistake 4 "expected a number, or <= and a number, after 'columns'" '-- structure { columns }'
mistake 4 "expected a number after '<='" '-- structure { n 3 passes <= -1 }'
mistake 4 "expected a number, or <= and a number, after 'columns'" '-- structure { columns 18446744073709551616 }'
mistake 4 "'n=3' is no name of a count or size: write n 20, without =" '-- structure { columns 3 n=3 }'
mistake 4 "expected a number after 'n'" '-- structure { columns 3 n <= 3 }'
mistake 4 "expected a name after 'target'" '-- structure { columns 3 target }'
mistake 4 "a structure has one target, not two" '-- structure { target gpu columns 3 target gpu }'
mistake 4 "expected words of the message after 'error:'" '-- error:'
mistake 4 "'error:' must follow its input, or be in a block without inputs" $'-- error: x\n-- input { 1 }'

"$permc" test tests >/dev/full 2>err
if [ $? -eq 1 ]; then pass; else fail "test on a full standard output"; fi
err_is 'permc: standard output: No space left on device'

# The order of reports is that of the files, however many threads there are.
mkdir many
for i in $(seq 10 40); do
  printf 'main : i32 -> i32\nmain x = x\n-- ==\n-- input { 1 } output { %d }\n' "$i" >"many/f$i.perm"
done
status 1 test many --jobs 1
cp out first
status 1 test many --jobs 16
if cmp -s out first; then pass; else fail "reports change with --jobs"; fi

# ---- terminals and signals -------------------------------------------------------------------

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  echo '[2, 1]' >in
  script -qec "$permc run sort.perm -i four.txt" /dev/null <in >out 2>err
  out_lacks 'standard input'
  (sleep 1; printf '[2, 1]\n\004'; sleep 1) | script -qec "$permc run sort.perm" /dev/null >out 2>err
  out_has '^permc: reading the argument of main : .* from standard input'
  out_has '^\[1i32, 2i32\]'
  script -qec "$permc test tests" /dev/null <in >out 2>err
  out_has '12 passed, 0 failed, 0 skipped'
  : >in
else
  skip "terminals: script(1) cannot make one here"
fi

# A process that waits for its input, in the state in which a terminal's Ctrl-C finds it.
interrupted() { # interrupted SIGNAL ARGUMENT...
  local signal=$1 actual=0
  shift
  mkfifo pipe
  env --default-signal=INT "$permc" "$@" <pipe >out 2>err &
  local process=$!
  exec 3>pipe
  sleep 0.3
  kill -s "$signal" "$process"
  wait "$process" || actual=$?
  exec 3>&-
  rm pipe
  if [ "$actual" -eq $((128 + $(kill -l "$signal"))) ]; then pass; else fail "SIG$signal: permc $* exits with $actual"; fi
  err_is 'permc: interrupted'
  out_is ''
  only_files
}
echo old >kept.txt
interrupted INT run sort.perm -o kept.txt
interrupted TERM run sort.perm -o kept.txt
interrupted HUP run sort.perm -o kept.txt
interrupted INT fmt -
is_text kept.txt old

# A compiler that never ends: it is ended, and a second run without it.
cat >slow_cc <<'END'
#!/bin/sh
[ "$1" = --version ] && echo slow && exit 0
sleep 1000
END
chmod +x slow_cc
for message in 'takes more than 1 s, its limit (--compile-seconds)' \
  'reached its limit of time with this program in an earlier run; give it more (--compile-s'; do
  PERMC_CACHE=$work/limited PERMC_CC=$work/slow_cc "$permc" run -e sort -i four.txt --backend cpu \
    --compile-seconds 1 >out 2>err
  err_has "$message"
done
rm -r limited
usage "run: --compile-memory must be a number of bytes, at least 64 MiB, such as 512MiB or 2^30, not '1MiB'" \
  run -e sort -i four.txt --compile-memory 1MiB
usage "run: --compile-memory must be a number of bytes, at least 64 MiB, such as 512MiB or 2^30, not '16777216TiB'" \
  run -e sort -i four.txt --compile-memory 16777216TiB
status 0 run -e sort -i four.txt --compile-memory 1GiB --compile-seconds 100

# A run at work.
actual=0
env --default-signal=INT "$permc" run -e 'padded maxval sort' --random '[4000000]f64' -o kept.txt >out 2>err &
process=$!
sleep 0.5
kill -s INT "$process"
wait "$process" || actual=$?
if [ "$actual" -eq 130 ]; then pass; else fail "an interrupted run exits with $actual"; fi
err_is 'permc: interrupted'
is_text kept.txt old
only_files

# ---- the programs of the tree ----------------------------------------------------------------

if [ -d "$root/examples" ] && [ -n "$(find "$root/examples" -name '*.perm')" ]; then
  cd "$root" || exit 1
  status() { # without changing the tree
    local expected=$1 actual=0
    shift
    "$permc" "$@" </dev/null >"$work/out" 2>"$work/err" || actual=$?
    if [ "$actual" -eq "$expected" ]; then pass; else (cd "$work" && fail "permc $* exits with $actual"); fi
  }
  status 0 check examples/*.perm
  status 0 fmt --check examples/*.perm
  cd "$work" || exit 1
else
  skip "examples/: none yet"
fi

cd / && rm -rf "$work"
tally
