#!/bin/sh
# bad_data.sh
# Files that lie, outputs that cannot be written, an interrupt. Each run must end with a status that
# is not 0 and no signal's, say why in one line (a hint may follow) that names the file, print no
# result, and leave the folder as it was: no output, no temporary file, an older output untouched.
# Environment: PERMC, PERMC_TMP, PERMC_SLOWER.
set -u
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$PERMC_TMP" || exit 1
mkdir data work

# ---- the bad files ------------------------------------------------------------------------------

npy() { # npy NAME DESCR SHAPE BYTES: a version 1 .npy file whose header says so, with BYTES of data
  header=$(printf "{'descr': %s, 'fortran_order': False, 'shape': %s, }" "$2" "$3")
  {
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    head -c "$4" /dev/zero
  } >"data/$1"
}

binary() { # binary NAME RANK TYPE DIM BYTES: Futhark's binary format, octal escapes for the fields
  # shellcheck disable=SC2059  # escapes are meant
  {
    printf "b\\002$2$3$4"
    head -c "$5" /dev/zero
  } >"data/$1"
}

npy good.npy "'<i4'" "(4,)" 16
npy short.npy "'<i4'" "(4,)" 15
npy long.npy "'<i4'" "(4,)" 17
npy empty_body.npy "'<i4'" "(4,)" 0
npy huge.npy "'<i4'" "(4611686018427387904,)" 16
npy overflow.npy "'<i4'" "(4294967296, 4294967296, 4294967296)" 16
npy more_than_64_bits.npy "'<i4'" "(99999999999999999999999,)" 16
npy negative.npy "'<i4'" "(-4,)" 16
npy no_type.npy "'<q9'" "(4,)" 16
npy objects.npy "'|O'" "(4,)" 32
npy no_shape.npy "'<i4'" "four" 16
npy nesting.npy "[[[[[[[[" "(4,)" 16
npy three.npy "'<i4'" "(3,)" 12
npy five.npy "'<i4'" "(5,)" 20
npy scalar.npy "'<i4'" "()" 4
head -c 60 data/good.npy >data/cut_header.npy
head -c 7 data/good.npy >data/cut_magic.npy
printf '\223NUMPY\011\000\166\000' >data/version9.npy
printf '\223NUMPY\002\000\377\377\377\377{' >data/header_4g.npy
: >data/nothing.npy

four='\004\000\000\000\000\000\000\000'
binary short.bin '\001' ' i32' "$four" 15
binary long.bin '\001' ' i32' "$four" 17
binary huge.bin '\001' ' i32' '\000\000\000\000\000\000\000\100' 16
binary negative.bin '\001' ' i32' '\377\377\377\377\377\377\377\377' 16
binary rank200.bin '\310' ' i32' "$four" 16
binary no_type.bin '\001' ' i99' "$four" 16
printf 'b\002\001 i3' >data/cut_header.bin
printf 'b\011\001 i32' >data/version9.bin

seq 3 >data/three.txt
seq 5 >data/five.txt
seq 1023 >data/below_1024.txt
seq 1025 >data/above_1024.txt
echo '[1i32, 2i32' >data/open.txt
echo '[1i32, 2f32]' >data/mixed.txt
echo '[[1, 2], [3]]' >data/ragged.txt
echo '[1, banana]' >data/word.txt
echo '[99999999999i32, 1i32]' >data/too_big.txt
printf '1\n2\n\n3x\n' >data/digits.txt
printf '\000\001\002\003' >data/zeros.txt
head -c 100000 /dev/zero | tr '\0' '[' >data/deep.txt

# Schedules of the permutation 2 0 1 3 whose steps, header or end is not as it was written.
echo '[2, 0, 1, 3]' | "$PERMC" schedule - -o four.sched || fail "permc schedule"
{ head -c 70 four.sched && printf '\377' && tail -c +72 four.sched; } >data/changed.sched
{ head -c 16 four.sched && printf '\377' && tail -c +18 four.sched; } >data/header.sched
{ head -c 8 four.sched && printf '\011' && tail -c +10 four.sched; } >data/version9.sched
head -c 80 four.sched >data/cut_steps.sched
head -c 20 four.sched >data/cut_header.sched

# ---- checks -------------------------------------------------------------------------------------

# complaint STATUS NAME: what is wrong with a run that should have failed; nothing if all is well.
complaint() {
  if [ "$1" -eq 0 ]; then echo "status 0"; fi
  if [ "$1" -ge 124 ] && [ "$1" -ne 130 ]; then echo "status $1"; fi
  if [ -s out ]; then echo "printed a result"; fi
  case $(head -n 1 err) in
  permc:*"$2"*) ;;
  *) echo "first line does not begin with permc: and name $2" ;;
  esac
  if sed 1d err | grep -qv '^hint: '; then echo "more than one line"; fi
  if [ "$(head -n 1 err | wc -c)" -gt 300 ]; then echo "a line of over 300 bytes"; fi
  if [ "$(ls -A work)" != old.npy ] || [ "$(cat work/old.npy)" != old ]; then
    echo "the folder of outputs changed: $(ls -A work)"
    rm -rf work
    mkdir work
    echo old >work/old.npy
  fi
}
echo old >work/old.npy

verdict() { # verdict TITLE STATUS NAME
  wrong=$(complaint "$2" "$3")
  if [ -z "$wrong" ]; then
    pass
  else
    fail "$1:
$wrong"
    head -n 5 err | cut -c 1-300 | sed 's/^/    /'
  fi
}

try() { # try NAME ARGS...: permc run ARGS must fail and name NAME
  name=$1
  shift
  rc=0
  timeout $((60 * ${PERMC_SLOWER:-1})) "$PERMC" run "$@" >out 2>err </dev/null || rc=$?
  verdict "permc run $*" "$rc" "$name"
}

# try_length FILE: a length that is no power of two. The program is at fault as much as the data: the
# message names the length, the nearest powers of two, and padded.
try_length() {
  rc=0
  "$PERMC" run -e sort_network -i "$1" -o work/old.npy >out 2>err </dev/null || rc=$?
  case $1 in
  *three*) words='3 2 4' ;;
  *five*) words='5 4 8' ;;
  *below*) words='1023 512 1024' ;;
  *) words='1025 1024 2048' ;;
  esac
  lacking=
  for word in $words padded; do grep -qw -- "$word" err || lacking="$lacking $word"; done
  if [ "$rc" -eq 1 ] && [ -z "$lacking" ] && [ "$(cat work/old.npy)" = old ]; then
    pass
  else
    fail "permc run -i $1: status $rc; the message lacks:$lacking"
    sed 's/^/    /' err
  fi
}

for file in data/*; do
  case $file in
  data/good.npy) ;;
  *three.* | *five.* | *1024.*) try_length "$file" ;;
  *) try "$file" -e sort_network -i "$file" -o work/old.npy ;;
  esac
done
try absent.npy -e sort_network -i data/absent.npy -o work/old.npy
try data -e sort_network -i data -o work/old.npy

"$PERMC" run -e sort_network -i data/good.npy -o good_result.npy || fail "permc run of good.npy"
try /dev/full -e sort_network -i data/good.npy -o /dev/full
try nowhere -e sort_network -i data/good.npy -o nowhere/new.npy
try good.npy -e sort_network -i data/good.npy -o data/good.npy/new.npy
try work -e sort_network -i data/good.npy -o work

schedule() { # schedule NAME TEXT: no permutation, so there is no schedule
  rc=0
  echo "$2" >"$1"
  "$PERMC" schedule "$1" -o work/new.sched >out 2>err || rc=$?
  verdict "permc schedule $2" "$rc" "$1"
}
schedule twice.in '[0, 1, 1]'
schedule outside.in '[0, 3, 1]'
schedule negative.in '[0, -1, 1]'
schedule fractions.in '[0.0, 1.0]'
schedule matrix.in '[[0, 1], [2, 3]]'
schedule empty.in ''
rc=0
echo '[1, 0]' >swap.in
"$PERMC" schedule swap.in -o work/new.npy >out 2>err || rc=$?
verdict "permc schedule -o new.npy" "$rc" "ends in .sched"

rc=0
"$PERMC" run -e sort_network -i data/good.npy >/dev/full 2>err </dev/null || rc=$?
: >out
verdict "permc run -i data/good.npy >/dev/full" "$rc" "standard output"

# As Ctrl-C would; timeout sends it, for a shell's background processes ignore it.
rc=0
timeout --preserve-status -s INT 1 "$PERMC" run -e 'iter 1000 sort_network' --backend interp --random '[65536]i32' \
  -o work/new.npy >out 2>err </dev/null || rc=$?
verdict "interrupted" "$rc" "interrupted"

tally
