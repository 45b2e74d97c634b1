#!/bin/sh
# files.sh PERMC
# Arrays larger than memory: permc run --memory. Results are those in memory; what fails leaves nothing; a
# run that is killed at any moment goes on with --resume, and its result is right. A full disk is skipped
# without the right to mount one.
set -u
permc=$1
folder=$(mktemp -d)
trap 'umount "$folder/disk" 2>/dev/null; rm -rf "$folder"' EXIT
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$folder" || exit 1
export PERMC_CACHE="$folder/cache"
"$permc" run -e id --random '[2^19]u32' -o keys.npy
"$permc" run -e 'map (\x -> (x, x + 1))' --random '[4000]i64' -o pairs.npy
"$permc" run -e 'map (\x -> (x & 0) + 7)' -i keys.npy -o sevens.npy

# Without the length of headers, which leave room here.
elements() { tail -c "$2" "$1" | cksum; }

# agrees NAME BYTES ARGS...: the same elements by little memory, and nothing beside the result
agrees() {
  name=$1 bytes=$2
  shift 2
  mkdir out
  if "$permc" run "$@" -o expected.npy && "$permc" run "$@" --memory 2MiB -o out/found.npy &&
    [ "$(elements out/found.npy "$bytes")" = "$(elements expected.npy "$bytes")" ] &&
    [ "$(ls -A out)" = found.npy ]; then
    pass
  else
    fail "$name: $(ls -A out)"
  fi
  rm -rf out
}
agrees sort 2097152 -e sort -i keys.npy
agrees bitrev 2097152 -e bitrev -i keys.npy
agrees scan 2097152 -e 'scan (+)' -i keys.npy
agrees pairs 64000 -e 'map (\x -> (x, x + 1))' --random '[4000]i64'
agrees rows 2400012 -e 'map reverse' --random '[3][200001]u32'
agrees columns 2400012 -e 'map (\r -> map (\y -> y - sum r) r) . transpose' --random '[200001][3]u32'
agrees far_halves 4000024 -e '\xs -> concat (map (+ 1) xs) xs' --random '[500003]u32'
agrees boxes 4004000 -e '\xs -> transpose (map reverse (map (map (+ 1)) xs))' --random '[1000][1001]u32'
agrees permuted 4000024 -e '\xs -> permute (map (\i -> i * 7919 % 500003) (iota 500003)) (map (+ 1) xs)' --random '[500003]u64'
# Hundreds of steps; the time that each takes to begin does not grow with their number.
agrees many_steps 792 -e '\x -> let at i j = if i >= 0 && i < 9 && j >= 0 && j < 11 then x[clamp 0 8 i][clamp 0 10 j] else 0.0
  in [[sum [f64 (p + 2 * q + 1) * at (i+p) (j+q) | p <- -1..1, q <- -1..1] | j <- 0..10] | i <- 0..8]' --random '[9][11]f64'
agrees sorted_pairs 64000 -e 'sort_on (\p -> p.0)' -i pairs.npy

# A number and text go to standard output; a file that exists keeps its mode.
expected=$("$permc" run -e sum -i keys.npy)
[ "$("$permc" run -e sum -i keys.npy --memory 1MiB)" = "$expected" ] && pass || fail "sum"
: >mode.npy && chmod 640 mode.npy
"$permc" run -e id -i keys.npy --memory 1MiB -o mode.npy
[ "$(stat -c %a mode.npy)" = 640 ] && pass || fail "mode $(stat -c %a mode.npy)"
"$permc" run -e id -i keys.npy --memory 4MiB -o text.txt && [ "$(wc -l <text.txt)" -gt 0 ] && pass || fail "text"
"$permc" run -e id -i keys.npy --memory 4MiB -o /dev/stdout 2>/dev/null | head -c 100 >piped && [ -s piped ] && pass || fail "pipe"

# says NAME LINE ARGS...: an error of that line, and nothing is left
says() {
  name=$1 line=$2
  shift 2
  mkdir -p out
  if ! "$permc" run "$@" 2>err && [ "$(head -n 1 err)" = "$line" ] && [ -z "$(ls -A out)" ]; then
    pass
  else
    fail "$name, left: $(ls -A out)"
    cat err
  fi
}
says little 'permc: 64 KiB of memory are too few to sort 524288 elements in files; 512 KiB would do' \
  -e sort -i keys.npy --memory 64KiB -o out/a.npy
says printed 'permc: a result has 2 MiB, and there are 1 MiB of memory; write it to a .npy' \
  -e id -i keys.npy --memory 1MiB -o out/a.txt
says no_output 'permc: result 2 of 2, which has no -o: a result has 2 MiB, and there are 1 MiB of memory; write it to a .npy' \
  -e '\x -> (x, x)' -i keys.npy --memory 1MiB -o out/a.npy
says resume 'permc: run: --resume needs --memory: it is for runs on files' -e id -i keys.npy --resume -o out/a.npy
says where 'permc: run: --resume needs -o FILE: what is done is kept beside it' \
  -e id -i keys.npy --memory 1MiB --resume
head -c 1000000 keys.npy >short.npy
says short "permc: short.npy: $("$permc" run -e id -i short.npy 2>&1 | sed 's/^permc: short.npy: //')" \
  -e id -i short.npy --memory 1MiB -o out/a.npy

says part 'permc: this does not run in 64 KiB of memory: a part of it needs more at one time; 4 MiB would do' \
  -e '\xs -> gather xs xs' --random '[300000]i64' --memory 64KiB -o out/a.npy
says least "permc: run: --memory must be a number of bytes, at least 64 KiB, such as 512MiB or 2^30, not '4KiB'" \
  -e id -i keys.npy --memory 4KiB -o out/a.npy
[ "$("$permc" explain -e id --arguments '[9]u8' --memory 4KiB 2>&1)" = \
  "permc: explain: --memory must be a number of bytes, at least 64 KiB, such as 512MiB or 2^30, not '4KiB'" ] && pass ||
  fail "the least --memory of explain"
says proc 'permc: /proc/o.npy: there is no such device or open file; write elsewhere' \
  -e sort -i keys.npy --memory 1MiB -o /proc/o.npy
says device 'permc: run: --resume needs -o FILE: what is done is kept beside it' \
  -e id -i keys.npy --memory 1MiB --resume -o /dev/full
says full 'permc: /dev/full: No space left on device' -e id -i keys.npy --memory 4MiB -o /dev/full

# What would fail again keeps nothing, with --resume too.
says twice '-e:1:1: error: index 7 occurs twice, first at position 0' \
  -e 'permute' -i sevens.npy -i keys.npy --memory 8MiB --resume -o out/a.npy
says twice_in_parts '-e:1:8: error: index 0 occurs twice, first at position 0' \
  -e '\xs -> permute (map (\i -> i / 2) (iota 524288)) xs' -i keys.npy --memory 2MiB -o out/a.npy
says not_printed 'permc: a result has 2 MiB, and there are 1 MiB of memory; write it to a .npy' \
  -e id -i keys.npy --memory 1MiB --resume -o out/a.txt
"$permc" run -e 'map (> 0)' --random '[40000]u32' -o bools.npy
printf '\007' | dd of=bools.npy bs=1 seek=$(($(stat -c %s bools.npy) - 1)) conv=notrunc status=none
rm -rf out
agrees bools 40000 -e id -i bools.npy

# A link to a folder, which is empty again, and without the link, at the end.
mkdir -p out elsewhere && ln -s ../elsewhere out/a.npy.resume
"$permc" run -e bitrev -i keys.npy --memory 1MiB --resume -o out/a.npy && [ "$(ls -A out)$(ls -A elsewhere)" = a.npy ] &&
  pass || fail "a link: $(ls -A out elsewhere)"
rm -rf out

says counts 'permc: 64 KiB of memory are too few for 65536 counts; 2 MiB would do' \
  -e 'histogram 16 (& 65535)' -i keys.npy --memory 64KiB -o out/a.npy
"$permc" run -e 'histogram 4 (& 15)' --random '[0]u32' --memory 64KiB >counts 2>&1 && pass || fail "no keys: $(cat counts)"
"$permc" run -e sort -i keys.npy --memory 1MiB --strategy naive -o other.npy 2>err && grep -q 'strategy' err && pass ||
  fail "a strategy that applies to nothing: $(cat err)"

# refuses NAME LINE: a folder of --resume that is of no run stays as it is
refuses() {
  find out | sort >before
  "$permc" run -e bitrev -i keys.npy --memory 1MiB --resume -o out/a.npy 2>err
  if [ $? -eq 1 ] && [ "$(cat err)" = "$2" ] && find out | sort | cmp -s - before; then
    pass
  else
    fail "$1"
    cat err
  fi
  rm -rf out
}
mkdir -p out && : >out/a.npy.resume
refuses "a file" 'permc: out/a.npy.resume: it is no folder; remove it, or write elsewhere'
mkdir -p out/a.npy.resume && echo mine >out/a.npy.resume/f1
refuses "files without a journal" "permc: out/a.npy.resume: this folder of a run with --resume is damaged: it has 'f1', and no journal; remove it to begin anew, or run without --resume"
mkdir -p out/a.npy.resume && echo mine >out/a.npy.resume/notes
refuses "files of others" "permc: out/a.npy.resume: it holds 'notes', which no run has written; remove it, or write elsewhere"
mkdir -p out/a.npy.resume && echo garbage >out/a.npy.resume/journal
refuses "no journal" 'permc: out/a.npy.resume: this folder of a run with --resume is damaged: its journal is not what was written; remove it to begin anew, or run without --resume'

# A folder of a run that was killed: damaged, or taken up by another run, which is said; or it goes on.
begin() {
  mkdir begun
  "$permc" run -e fft --random '[2^20]c64' --memory 1MiB --resume -o begun/a.npy 2>/dev/null &
  until grep -q '^done [1-9]' begun/a.npy.resume/journal 2>/dev/null || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
  kill -9 $! 2>/dev/null
  wait $! 2>/dev/null
  [ -e begun/a.npy.resume/journal ]
}
# damaged LINE COMMAND: run in the folder, it makes the next run say so
damaged() {
  cp -a begun out
  (cd out/a.npy.resume && eval "$2")
  "$permc" run -e fft --random '[2^20]c64' --memory 1MiB --resume -o out/a.npy 2>err
  [ $? -eq 1 ] && [ ! -e out/a.npy ] && [ "$(cat err)" = \
    "permc: out/a.npy.resume: this folder of a run with --resume is damaged: $1; remove it to begin anew, or run without --resume" ] &&
    pass || { fail "damaged by $2"; cat err; }
  rm -rf out
}
if begin; then
  made=$(sed -n 's/^made \(f[0-9]*\) .*/\1/p' begun/a.npy.resume/journal | tail -n 1)
  damaged "its journal is not what was written" "printf x | dd of=journal bs=1 seek=40 conv=notrunc status=none"
  damaged "its journal is not what was written" "printf x | dd of=journal bs=1 seek=3 conv=notrunc status=none"
  damaged "$made is gone" "rm $made"
  damaged "$made has been cut" "truncate -s -1 $made"
  "$permc" run -e fft --random '[2^20]c64' -o expected.npy
  for lines in 0 1 2; do
    cp -a begun out
    head -n $lines begun/a.npy.resume/journal >out/a.npy.resume/journal
    "$permc" run -e fft --random '[2^20]c64' --memory 1MiB --resume -o out/a.npy 2>err
    [ $? -eq 0 ] && [ "$(elements out/a.npy 8388608)" = "$(elements expected.npy 8388608)" ] && [ "$(ls -A out)" = a.npy ] ||
      grep -q 'a.npy.resume: this folder of a run with --resume is damaged: ' err && pass ||
      fail "$lines lines of a journal: $(cat err)"
    rm -rf out
  done
  cp -a begun out
  for other in "-e ifft --random [2^20]c64 --memory 1MiB" "-e fft --random [2^19]c64 --memory 1MiB" \
    "-e fft --random [2^20]c64 --memory 2MiB"; do
    # shellcheck disable=SC2086
    ! "$permc" run $other --resume -o out/a.npy 2>err && [ "$(cat err)" = \
      'permc: out/a.npy.resume: the run that was begun here has another program, other arguments, or another --memory, --backend or version of permc; repeat that one, or remove the folder to begin anew' ] &&
      pass || fail "another run, $other: $(cat err)"
  done
else
  skip "a run ended before it was killed"
fi
rm -rf out begun

# Files that the system lets be no longer.
mkdir -p out
(ulimit -f 100; "$permc" run -e bitrev -i keys.npy --memory 1MiB -o out/a.npy 2>err)
[ $? -eq 1 ] && [ -z "$(ls -A out)" ] && [ "$(cat err)" = \
  'permc: out/: a file of this run needs 2 MiB there: File too large; raise the limit of the size of files (ulimit -f)' ] &&
  pass || fail "files that may not be large: $(cat err) $(ls -A out)"
told=0 wrong=0
for most in 4 5 6 7 8 9 10; do
  if ! sh -c "ulimit -n $most; exec \"$permc\" run -e bitrev -i keys.npy --memory 1MiB -o out/a.npy" 2>err; then
    grep -q 'Too many open files\|Error 24' err && [ -z "$(ls -A out)" ] || wrong=$((wrong + 1))
    [ "$(cat err)" = 'permc: out/: Too many open files; raise the limit of open files (ulimit -n)' ] && told=$((told + 1))
  fi
  rm -f out/a.npy
done
[ $told -gt 0 ] && [ $wrong -eq 0 ] && pass || fail "few files may be open: told $told, wrong $wrong, $(cat err) $(ls -A out)"

# Killed at many moments, then resumed: by the clock, which is another each time; no verdict depends on it.
# resumes BYTES ARGS...
resumes() {
  bytes=$1 kills=0 wrong=0
  shift
  "$permc" run "$@" -o expected.npy
  for moment in 1 2 3 4 5 6 7 8 9 10; do
    mkdir -p out
    "$permc" run "$@" --resume -o out/a.npy 2>/dev/null &
    sleep "0.0$moment"
    kill -9 $! 2>/dev/null && kills=$((kills + 1))
    wait $! 2>/dev/null
    [ ! -e out/a.npy ] || [ "$(elements out/a.npy "$bytes")" = "$(elements expected.npy "$bytes")" ] || wrong=$((wrong + 1))
    "$permc" run "$@" --resume -o out/a.npy 2>err || wrong=$((wrong + 1))
    [ "$(elements out/a.npy "$bytes")" = "$(elements expected.npy "$bytes")" ] || wrong=$((wrong + 1))
    [ "$(ls -A out)" = a.npy ] || wrong=$((wrong + 1))
    rm -rf out
  done
  [ $wrong -eq 0 ] && pass || fail "$wrong of $kills kills: $(cat err)"
}
resumes 4194304 --memory 1MiB -e fft --random '[2^19]c64'
"$permc" run -e id --random '[4010][517]i64' -o rows.npy
resumes 16585360 --memory 4MiB -e 'map (\r -> map (\v -> v - sum r) r)' -i rows.npy

# Killed without --resume, or in memory: the old file or the new one, and nothing else, where files need no name
# until they are done.
case $(stat -f -c %T .) in
ext2/ext3 | xfs | btrfs | tmpfs) names=none ;;
*) names=needed ;;
esac
# killed NAME BYTES ARGS...
killed() {
  name=$1 bytes=$2 wrong=0
  shift 2
  "$permc" run "$@" -o expected.npy
  for moment in 02 05 08 12 16 20; do
    mkdir out
    echo old >out/a.npy
    "$permc" run "$@" -o out/a.npy 2>/dev/null &
    sleep "0.$moment"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    for wait in 1 2 3 4 5 6 7 8 9; do  # a name that is to replace the old one does so a moment later
      [ "$(ls -A out)" = a.npy ] || sleep 0.1
    done
    [ "$(ls -A out)" = a.npy ] || { wrong=$((wrong + 1)); ls -A out; }
    [ "$(head -c 4 out/a.npy)" = old ] || [ "$(elements out/a.npy "$bytes")" = "$(elements expected.npy "$bytes")" ] ||
      wrong=$((wrong + 1))
    rm -rf out
  done
  [ $wrong -eq 0 ] && pass || fail "$name: $wrong wrong"
}
if [ $names = none ]; then
  killed "killed on files" 16777216 -e fft --random '[2^21]c64' --memory 4MiB
  killed "killed in memory" 33554432 -e id --random '[2^22]c64'
else
  skip "files have names until they are done"
fi

# Interrupted: no result, and no file.
mkdir out
"$permc" run -e fft --random '[2^21]c64' --memory 1MiB -o out/a.npy 2>err &
sleep 0.3
kill -TERM $!  # a script's background jobs ignore SIGINT
wait $!
[ -z "$(ls -A out)" ] || [ "$(ls -A out)" = a.npy ] && pass || fail "interrupted: $(ls -A out)"
rm -rf out

mkdir out disk
if mount -t tmpfs -o size=64m none disk 2>/dev/null; then
  "$permc" run -e fft --random '[2^22]c64' --memory 4MiB -o disk/a.npy 2>err
  [ $? -eq 1 ] && [ -z "$(ls -A disk)" ] && grep -q \
    '^permc: disk/: a file of this run needs 32 MiB there (.* free): the disk is full; free space, or write elsewhere (-o)$' err &&
    pass || fail "a full disk: $(cat err) $(ls -A disk)"
  "$permc" run -e fft --random '[2^22]c64' --memory 4MiB --resume -o disk/a.npy 2>err
  [ $? -eq 1 ] && grep -q 'the disk is full' err && pass || fail "a full disk, with --resume"
  mount -o remount,size=400m disk
  "$permc" run -e fft --random '[2^22]c64' --memory 4MiB --resume -o disk/a.npy && [ "$(ls -A disk)" = a.npy ] &&
    pass || fail "a disk that has room again"
else
  skip "no right to mount a disk"
fi
tally
