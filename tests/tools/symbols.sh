#!/bin/sh
# symbols.sh CORE_ARCHIVE LIBRARY COMPILER
# What the library (permc_core: all of it but the command line) may not do, seen in its symbols:
#   define a name of the C library, which would take its place in every program that links with us
#   end the process, or print on its own
#   as LIBRARY, or as a shared library: define names other than permc_*, which a program may have
#   change its binary interface without changing tests/data/abi.txt
set -eu
archive=$1
library=$2
compiler=$3
source=$PWD
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$PERMC_TMP"
nm -g --defined-only "$archive" | awk '$2 ~ /^[TDBRW]$/ { print $3 }' | sort -u >ours
# The C library of the tool itself: the files that it is linked with.
ldd "$PERMC" | awk '$3 ~ /^\// && $1 ~ /^lib(c|m)\.so/ { print $3 }' |
  while read -r file; do nm -D --defined-only "$file"; done |
  awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >theirs
if [ ! -s ours ] || [ ! -s theirs ]; then
  echo "nm found no names"
  exit 1
fi
comm -12 ours theirs >both
none "names of the C library that we define" both

# process.c may call _exit: it ends the child process that could not become the compiler.
nm -u "$archive" | awk '/:$/ { file = $1 } NF == 2 && !(file == "process.c.o:" && $2 == "_exit") {
    print $2 }' | grep -xE \
  'exit|_exit|_Exit|quick_exit|abort|printf|__printf_chk|vprintf|puts|putchar|perror|stderr' |
  sort -u >never || true
none "the library calls" never

"$compiler" -shared -o whole.so -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
case $library in
  *.a) nm -g --defined-only "$library" ;;
  *) nm -D --defined-only "$library" ;;
esac | awk 'NF == 3 { print $3 }' | sort -u >static
nm -D --defined-only whole.so | awk '{ print $3 }' | sort -u >shared
for kind in static shared; do
  grep -qx permc_run "$kind" || { echo "nm found no names in the $kind library"; exit 1; }
  grep -v '^permc_' "$kind" >others || true
  none "names of the $kind library that do not begin with permc_" others
done

# The binary interface: names, numbers of the enums, and where the members of structures lie.
"$compiler" -std=c17 -I "$source/runtime" "$source/tests/data/abi.c" -o abi
{ cat static; ./abi; } >interface
diff -N "$source/tests/data/abi.txt" interface >changed || true
none "what the binary interface has no more (<) or anew (>): if on purpose, tests/data/abi.txt" \
  changed

tally
