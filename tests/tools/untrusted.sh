#!/bin/sh
# untrusted.sh PERMC
# What a stranger's program tries, and what comes of it (docs/running.md).
set -u
permc=${1:-$PERMC}
folder=${PERMC_TMP:-$(mktemp -d)}/untrusted
rm -rf "$folder"
mkdir -p "$folder/in/lib" "$folder/out"
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$folder/in" || exit 1

# says STATUS PATTERN WORDS...: permc with these words ends so, its messages match, and neither they
# nor its output tell the secret or have a control character.
says() {
  status=$1 pattern=$2
  shift 2
  "$permc" "$@" >../all 2>&1 </dev/null
  got=$?
  if [ "$got" -eq "$status" ] && { [ -z "$pattern" ] || grep -q -- "$pattern" ../all; } && ! grep -q 'sesame' ../all &&
    ! LC_ALL=C tr -d '\n\t\040-\176\200-\377' <../all | grep -q .; then
    pass
  else
    fail "permc $*: exits with $got, expected $status and '$pattern':"
    cat -v ../all
  fi
}

echo 'sesame sesame : open' >../out/secret
echo 'sesame = ) sesame' >../out/secret.perm
echo 'inc x = x + 1' >lib/good.perm
echo 'inc x = x + 1' >../out/good.perm
ln -s ../out/secret link.perm
ln -s ../out/good.perm other.perm

program() { printf '%s\n' "$@" 'main : [2^n]i32 -> [2^n]i32' 'main = sort' >a.perm; }

# Imports.
program 'import "lib/good.perm"'
says 0 '' check --untrusted a.perm
program 'import "../out/good.perm"'
says 0 '' check a.perm
says 1 'not in the folder of the program, which is not trusted' check --untrusted a.perm
program 'import "other.perm"'
says 0 '' check a.perm
says 1 'not in the folder of the program, which is not trusted' check --untrusted a.perm
program 'import "link.perm"'
says 1 'cannot import' check --untrusted a.perm
program 'import "../out/secret"'
says 1 'its name does not end in .perm' check a.perm
program "import \"$folder/out/secret\""
says 1 'its name does not end in .perm' check a.perm
says 1 'which is not trusted' run --untrusted a.perm --random '[4]i32'
program 'import "/nowhere/x.perm"'
says 1 'which is not trusted' check --untrusted a.perm

# A program without tests is loaded for its mistakes.
program 'import "../out/good.perm"'
says 1 'no tests found' test a.perm
says 1 'which is not trusted' test --untrusted a.perm

# Files of test blocks.
program
printf '%s\n' '-- ==' '-- input @../out/secret' '-- output { [1i32] }' >>a.perm
says 1 'nothing of it is shown' test a.perm
says 1 'read no files' test --untrusted a.perm

# Code.
printf '%s\n' 'extern sin : f64 -> f64' 'main : [2^n]f64 -> [2^n]f64' 'main = map sin' >a.perm
says 1 'extern' run --untrusted --allow-extern a.perm --random '[4]f64'
program
says 1 'not trusted is not compiled' run --untrusted --backend cpu a.perm --random '[4]i32'
says 0 '' run --untrusted a.perm --random '[2^18]i32' -o ../out/sorted.npy

# Time, memory, output.
says 1 'the time limit is reached' run --untrusted --limit seconds=1 -e \
  'iter 100000 (map (\x -> x * 3i32 + 1i32))' --random '[2^20]i32' --backend interp
says 1 'memory' run --untrusted --limit space=2^30 -e 'sort' --random '[2^28]i32'
says 1 'the results have 4 GiB, and the limit is 1 GiB' run --untrusted -e 'iota (2^29)'

# The terminal.
printf 'main = "\033]0;title\007" \033[2J x\n' >a.perm
says 1 'a.perm:1:' check a.perm
name=$(printf 'b\033[31m.perm')
printf 'import "\033[2J.perm"\nmain = x\n' >"$name"
says 1 'b?\[31m.perm' check "$name"
printf '%s\n' 'main : i32' 'main = 1' '-- ==' >a.perm
printf -- '-- error: \033[2J\n' >>a.perm
says 1 'permc\|a.perm' test a.perm

# A hint compares a name with all others: only those that are shown get one.
i=0
while [ $i -lt 20000 ]; do echo "f$i = undefined$i"; i=$((i + 1)); done >a.perm
says 1 'these are the first 20 errors' check --untrusted --limit seconds=6 a.perm

# Names of any length, and words that were a pattern once.
{ printf 'import "'; head -c 2000000 /dev/zero | tr '\0' x; printf '.perm"\nmain = 1\n'; } >a.perm
for verb in check test fmt; do
  "$permc" "$verb" a.perm >out 2>err
  if [ "$(cat out err | wc -c)" -lt 3000 ]; then pass; else fail "a message of $(wc -c <err) bytes"; fi
done
printf '%s\n' 'main = 1 + true' '-- ==' '-- error: ((((((x{1,200}){1,200}){1,200}){1,200}){1,200}){1,200})' >a.perm
says 1 'expected an error with the words' test --untrusted --limit seconds=6 a.perm

# Nothing is compiled.
says 0 '^auto          portable$' explain -e sort --arguments '[2^20]i32' --untrusted

tally
